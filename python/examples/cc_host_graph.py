"""The host graph of a crawl, with Spark: the number of links from each host to each other host.

    python python/examples/cc_host_graph.py warc.paths graph                     # on this machine
    spark-submit python/examples/cc_host_graph.py warc.paths s3a://bucket/graph  # on a cluster

`warc.paths` has the path or URL of an archive on each line, as Common Crawl lists them. `--base-url`, such as
s3://commoncrawl/, is put before each line that is not a URL. The result is Parquet with the columns source, target and
links.

The class has the methods of a job of cc-pyspark (github.com/commoncrawl/cc-pyspark). If you use cc-pyspark, derive
`HostGraph` from its `CCSparkJob`, and keep only `name`, `edge`, `output_schema` and `process_warc`.
"""

import argparse
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO, Any

import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

import baselink.warc

HOST = r"^https?://(?:[^/?#@]*@)?(?P<host>[^/?#:]+)"

Edge = tuple[tuple[str, str], int]


class HostGraph:
    name = "HostGraph"
    edge = StructType([StructField("source", StringType()), StructField("target", StringType())])
    output_schema = StructType([StructField("key", edge), StructField("val", LongType())])

    def process_warc(self, uri: str, stream: IO[bytes] | None = None) -> Iterator[Edge]:
        """The edges of an archive, each with its number of links."""
        edges: Counter[tuple[str, str]] = Counter()
        for batch in baselink.warc.link_batches(stream or uri, resolver="whatwg"):
            for found in batch.filter(batch["error"].is_valid()).to_pylist():
                logging.getLogger(self.name).warning("%s@%s: %s", uri, found["offset"], found["error"])
            source, target = (
                pc.extract_regex(batch[name], HOST).field("host").to_pylist() for name in ("url", "target")
            )
            edges.update(
                (one, other) for one, other in zip(source, target, strict=True) if one and other and one != other
            )
        yield from edges.items()

    def process_warcs(self, _id: int, iterator: Iterable[str]) -> Iterator[Edge]:
        for uri in iterator:
            if "://" not in uri:
                uri = self.args.base_url + uri
            yield from self.process_warc(uri)

    def run_job(self, session: SparkSession) -> None:
        paths = session.sparkContext.textFile(self.args.input, self.args.partitions)
        edges = paths.mapPartitionsWithIndex(self.process_warcs).reduceByKey(lambda one, other: one + other)
        graph = session.createDataFrame(edges, self.output_schema).selectExpr("key.*", "val AS links")
        graph.write.mode("overwrite").parquet(self.args.output)
        session.read.parquet(self.args.output).orderBy("links", ascending=False).show(10, truncate=False)

    def run(self) -> None:
        parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("input", help="a file with the path of an archive on each line")
        parser.add_argument("output", help="where the graph is written")
        parser.add_argument("--base-url", default="", help="put before paths that are no URLs")
        parser.add_argument("--partitions", type=int, default=400, help="how many tasks read archives")
        self.args: Any = parser.parse_args()
        if "PYSPARK_GATEWAY_PORT" not in os.environ:  # not from spark-submit: the workers are on this machine
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        session = SparkSession.builder.appName(self.name).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        self.run_job(session)
        session.stop()


if __name__ == "__main__":
    HostGraph().run()
