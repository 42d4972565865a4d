"""The links of web archives with Spark: the number of links with each outcome, and the ten hosts with the most links.

    pip install "./python[spark]"                                            # and Java 17
    python python/examples/spark_links.py ARCHIVE...                         # on all cores of this machine
    spark-submit python/examples/spark_links.py -o hdfs:///links ARCHIVE...  # on a cluster

An archive is a path, a folder or a pattern: /crawl/, '/crawl/*.warc.gz', s3a://bucket/crawl.warc.gz.
"""

import argparse
import os
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import baselink.spark


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", nargs="+", metavar="ARCHIVE")
    parser.add_argument("-o", "--output", help="write all rows there, as Parquet")
    parser.add_argument("--resolver", default="rfc1808", help="rfc1808, rfc3986 or whatwg, as browsers do")
    asked = parser.parse_args()

    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # not from spark-submit: the workers are on this machine
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.appName("links of web archives").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    archives = baselink.spark.list_archives(spark, *asked.archives)
    if hasattr(spark, "dataSource"):
        spark.dataSource.register(baselink.spark.ArchiveSource)
        links = spark.read.format("baselink").option("resolver", asked.resolver).load(archives)
    else:  # PySpark 3.5
        links = baselink.spark.read_links(spark, archives, resolver=asked.resolver)

    begun = time.monotonic()
    if asked.output:
        links.write.mode("overwrite").parquet(asked.output)
        links = spark.read.parquet(asked.output)
    else:
        links = links.cache()
    outcomes = links.where("error is null").groupBy("outcome").count().orderBy(F.desc("count"))
    outcomes.show()
    print(f"{len(archives)} archives in {time.monotonic() - begun:.1f} s")

    links.createOrReplaceTempView("links")
    spark.sql(
        r"""SELECT regexp_extract(target, '^https?://([^/?#:]+)', 1) AS host, count(*) AS links FROM links
            WHERE target LIKE 'http%' GROUP BY host ORDER BY links DESC, host LIMIT 10"""
    ).show(truncate=False)
    spark.sql("SELECT path, offset, error FROM links WHERE error IS NOT NULL").show(truncate=False)
    spark.stop()


if __name__ == "__main__":
    main()
