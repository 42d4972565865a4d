"""The dead links of a crawl with Spark: what its archives lack, as `baselink check --resolver whatwg --missing` finds it.

    pip install "./python[spark]"                                     # Spark 4, and Java 17
    python python/examples/spark_check.py -o missing ARCHIVE...       # on a cluster: spark-submit

Prints the number of links by class, cause and host, and writes the missing URLs to the folder `missing` as text. Parts of
pages are `missing`, pages on captured hosts `missing-page` (docs/archives.md); with `--pages`, both are written.

Archives are paths, folders, or URLs for fsspec; `-o` is a path or URL for Hadoop, which all workers must reach.
"""

import argparse
import json
import os
import sys
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import baselink.spark

MAX_REDIRECTS = 20  # as in browsers (Fetch Standard, 4.4), and in the command
IS_REDIRECT = "target_key IS NOT NULL AND status IN (300, 301, 302, 303, 307, 308)"
URLS = f"""
WITH captures AS (SELECT *, struct(path, offset, within) AS place FROM rows),
-- Responses to other methods than GET answer no link.
others AS (SELECT DISTINCT explode(split(exchange, ' ')) AS id FROM captures WHERE method IS NOT NULL),
posted AS (SELECT place FROM (SELECT place, explode(split(exchange, ' ')) AS id FROM captures) LEFT SEMI JOIN others USING (id)),
-- A repeated body is that of another record, or else there is none (304).
bodies AS (SELECT id, min(place) AS document FROM (SELECT place, explode(split(body_ids, ' ')) AS id FROM captures
    WHERE body <> 'repeated') GROUP BY id),
repeated AS (SELECT place, min_by(document, at) AS document FROM (SELECT place, posexplode(split(body_ids, ' ')) AS (at, id)
    FROM captures WHERE body = 'repeated') JOIN bodies USING (id) GROUP BY place),
known AS (SELECT url_key, lower(substring_index(url, ':', 1)) AS scheme, target_key, place, date, body,
        lower(substring_index(location, ':', 1)) AS target_scheme, coalesce(document, place) AS document,
        CASE WHEN body <> 'repeated' THEN status WHEN document IS NOT NULL THEN if(status = 304, 200, status)
            WHEN {IS_REDIRECT} THEN status ELSE 304 END AS status
    FROM captures LEFT ANTI JOIN posted USING (place) LEFT JOIN repeated USING (place)
    WHERE method IS NULL AND status IS NOT NULL AND url_key IS NOT NULL),
ranked AS (SELECT *, CASE WHEN status BETWEEN 200 AND 299 AND status NOT IN (204, 205, 206)
        THEN if(body IN ('empty', 'cut'), 2, 3) WHEN {IS_REDIRECT} THEN 1 ELSE 0 END AS rank FROM known)
-- The best capture of each URL; among equals, the latest.
SELECT url_key, scheme, best.*, best.body = 'cut' AS is_cut FROM (SELECT url_key, scheme,
    max_by(struct(status, rank, target_key, target_scheme, body, document), struct(rank, date, place)) AS best
    FROM ranked GROUP BY url_key, scheme)
"""
COLUMNS = """path string, offset bigint, within bigint, error string, element string, attribute string, reference string,
    outcome string, reason string, role string, target string, target_key string"""
# A prefix of URLs has no capture.
IS_LINK = """error IS NULL AND target RLIKE '(?i)^(https?|ftp):' AND role <> 'metadata'
    AND (outcome IN ('rewritten', 'absolute', 'not-editable') OR reason = 'custom-property')
    AND coalesce(attribute, '') <> 'codebase' AND NOT coalesce(attribute IS NULL AND (element = 'scope'
        OR element = 'script' AND role = 'embedded' AND reference RLIKE '^[^?#]*/([?#]|$)'), false)"""
CAUSE = """CASE WHEN rank >= 2 AND NOT is_cut THEN 'works' WHEN rank >= 2 THEN 'no-body' WHEN status IS NULL THEN 'not-captured'
    WHEN status IN (300, 301, 302, 303, 307, 308) THEN 'redirect' WHEN status BETWEEN 400 AND 499 THEN 'client-error'
    WHEN status >= 500 THEN 'server-error' ELSE 'no-body' END"""


def answers(urls: DataFrame, order: str) -> DataFrame:
    """What answers each URL: the best by `order` of its capture and of that with `https` for `http`, or the reverse."""
    other = F.expr("if(scheme = 'http', 'https', 'http')")
    swapped = urls.where("scheme IN ('http', 'https')").withColumn("scheme", other).withColumn("own", F.lit(False))
    both = urls.withColumn("own", F.lit(True)).unionByName(swapped)
    best = F.expr(f"max_by(struct(status, rank, is_cut, target_key, target_scheme), struct({order}))")
    return both.groupBy("url_key", "scheme").agg(best.alias("best")).select("url_key", "scheme", "best.*")


def followed(urls: DataFrame) -> DataFrame:
    """`urls` with the rank of the resource at the end of redirects; `is_end` is true without one."""
    # For each URL what answers it, or a redirect after some hops. Each round doubles the hops.
    reached = answers(urls.where("rank > 0"), "own").withColumn("hops", F.lit(0)).drop("status")
    for _ in range(MAX_REDIRECTS.bit_length()):
        ends, redirects = (
            reached.where("rank > 1"),
            reached.where("rank = 1").select("url_key", "scheme", "target_key", "target_scheme", "hops"),
        )
        further = reached.select(
            F.col("url_key").alias("target_key"),
            F.col("scheme").alias("target_scheme"),
            F.struct("rank", "is_cut", "target_key", "target_scheme", F.col("hops").alias("more")).alias("further"),
        )
        redirects = redirects.join(further, ["target_key", "target_scheme"]).drop("target_key", "target_scheme")
        redirects = redirects.select("url_key", "scheme", "hops", "further.*")
        redirects = redirects.withColumn("hops", F.expr("hops + 1 + more")).drop("more")
        # A checkpoint, because plans would become long.
        reached = ends.unionByName(redirects).checkpoint()
        if reached.where("rank = 1").isEmpty():
            break
    end = reached.where(f"rank > 1 AND hops < {MAX_REDIRECTS}").select(
        F.col("url_key").alias("target_key"), F.col("scheme").alias("target_scheme"), F.lit(1).alias("redirect"),
        F.struct("rank", "is_cut").alias("end"),
    )  # fmt: skip
    found = urls.withColumn("redirect", F.expr("if(rank = 1, 1, NULL)"))
    found = found.join(end, ["target_key", "target_scheme", "redirect"], "left").withColumn("is_end", F.isnull("end"))
    found = found.withColumn("rank", F.coalesce("end.rank", "rank")).withColumn(
        "is_cut", F.coalesce("end.is_cut", "is_cut")
    )
    return found.drop("end", "redirect")


def host(key: str) -> Column:
    return F.split_part(key, F.lit("/"), F.lit(3))


def dead_links(spark: SparkSession, archives: list[str], options: dict[str, Any] | None = None) -> DataFrame:
    """The links to what `archives` lack: class, cause, host and URL of each."""
    read = spark.read.format("baselink").option("storage_options", json.dumps(options or {}))
    captures = read.option("rows", "captures").load(archives).where("error IS NULL")
    captures.cache().createOrReplaceTempView("rows")
    urls = spark.sql(URLS).cache()
    ends = followed(urls)
    hosts = ends.where("is_end").select(host("url_key").alias("host")).distinct().withColumn("is_known", F.lit(True))
    read = read.option("rows", "links").option("resolver", "whatwg").option("enable", "lazy").schema(COLUMNS)
    links = read.load(archives).where(IS_LINK)
    links = links.withColumn("document", F.struct("path", "offset", "within")).withColumn("host", host("target_key"))
    links = links.withColumn("scheme", F.lower(F.substring_index("target", ":", 1)))
    # Attributes for scripts are links if an archive has their target.
    links = links.withColumn("is_lazy", F.expr("coalesce(attribute LIKE 'data-%', false)"))
    links = links.select(
        "document", "role", "target", F.col("target_key").alias("url_key"), "scheme", "host", "is_lazy"
    )
    documents = urls.where("rank > 1").select("document")
    answered = links.join(documents, "document").join(answers(ends, "rank > 1, own"), ["url_key", "scheme"], "left")
    found = (
        answered.join(hosts, "host", "left")
        .withColumn("cause", F.expr(CAUSE))
        .where("cause <> 'works' AND (rank > 1 OR NOT is_lazy)")
    )
    is_page = F.col("role") == "navigation"
    return found.where(~is_page | F.col("is_known") | F.col("status").isNotNull()).select(
        F.when(is_page, "missing-page").otherwise("missing").alias("class"), "cause", "host",
        F.substring_index("target", "#", 1).alias("url"),
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", nargs="+", metavar="ARCHIVE")
    parser.add_argument("-o", "--output", required=True, help="the folder for the list of missing URLs")
    parser.add_argument("--pages", action="store_true", help="list missing pages, too")
    parser.add_argument("--partitions", type=int, help="partitions of each shuffle; by default 4 for each core")
    parser.add_argument("--storage-options", type=json.loads, default={}, help="a JSON object for fsspec")
    asked = parser.parse_args()
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # not from spark-submit: the workers are on this machine
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.appName("dead links").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    partitions = asked.partitions or 4 * spark.sparkContext.defaultParallelism
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    checkpoints = f"{asked.output}.checkpoints"
    spark.sparkContext.setCheckpointDir(checkpoints)
    spark.dataSource.register(baselink.spark.ArchiveSource)
    found = dead_links(spark, asked.archives, asked.storage_options).cache()
    counts = found.groupBy("class", "cause", "host").agg(
        F.count("*").alias("links"), F.countDistinct("url").alias("urls")
    )
    counts.orderBy(F.desc("links"), "class", "cause", "host").show(100, truncate=False)
    listed = found if asked.pages else found.where("class = 'missing'")
    listed.select("url").distinct().write.mode("overwrite").text(asked.output)
    jvm: Any = spark.sparkContext._jvm
    path = jvm.org.apache.hadoop.fs.Path(checkpoints)
    path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).delete(path, True)
    spark.stop()


if __name__ == "__main__":
    main()
