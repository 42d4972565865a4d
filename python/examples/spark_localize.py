"""A folder that opens offline for each site of a crawl, with Spark: `baselink localize` runs on the captures of each host.

    pip install "./python[spark]"                                       # Spark 4, and Java 17
    python python/examples/spark_localize.py -o sites ARCHIVE...        # on a cluster: spark-submit

A task makes some of the sites: it fetches the records of a host by their offsets, and runs the command on its worker. The result is
the folder `sites/HOST`, or with `--zip` the file `sites/HOST.zip`; `-o` also takes a URL for fsspec. A site that fails is a
row with a sentence, and a second run only makes the sites that are not there yet.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import fsspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import baselink.spark

LAST = "baselink-map.csv"  # The file of a folder that is stored last, so that a folder with it is complete.
AT_ONCE = 64  # records
TASKS = 16  # for each core, so that a large site delays no other
SITES = """SELECT site, count(*) AS captures, count_if(length IS NULL) AS without_length,
        array_sort(collect_list(if(length IS NULL, NULL, struct(path, offset, length)))) AS records
    FROM captures GROUP BY site"""


def fetched(records: list[Any], folder: Path, options: dict[str, Any]) -> list[Path]:
    """The archives in `folder` with these records: one for compressed records, and one for others."""
    archives = {True: folder / "site.warc.gz", False: folder / "site.warc"}
    for path, of_path in groupby(records, lambda record: record.path):
        files, name = fsspec.core.url_to_fs(path, **options)
        places = [(record.offset, record.offset + record.length) for record in of_path]
        for at in range(0, len(places), AT_ONCE):
            starts, ends = zip(*places[at : at + AT_ONCE], strict=True)
            for record in files.cat_ranges([name] * len(starts), list(starts), list(ends), on_error="raise"):
                with open(archives[record.startswith(b"\x1f\x8b")], "ab") as archive:
                    archive.write(record)
    found = [archive for archive in archives.values() if archive.exists()]
    if not found:
        raise ValueError("no capture has a place of its own")
    return found


def made(site: Any, output: str, zips: bool, options: dict[str, Any]) -> tuple[str, int, str, str | None]:
    """The site, the number of its captures, what became of it, and a sentence."""
    name = f"{output.rstrip('/')}/{quote(site.site, safe='')}"
    lacks = f"{site.without_length} captures have no place of their own" if site.without_length else None
    try:
        files, place = fsspec.core.url_to_fs(name, **options)
        if files.exists(f"{place}.zip" if zips else f"{place}/{LAST}"):
            return site.site, site.captures, "there", None
        with TemporaryDirectory() as temporary:
            archives, folder = fetched(site.records, Path(temporary), options), Path(temporary, "site")
            command = [sys.executable, "-m", "baselink", "localize", "--quiet", *map(str, archives), "-o", str(folder)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                return site.site, site.captures, "failed", (done.stderr.strip().splitlines() or ["no message"])[-1]
            if zips:
                files.makedirs(os.path.dirname(place), exist_ok=True)
                files.put_file(shutil.make_archive(str(folder), "zip", folder), f"{place}.zip")
            else:
                last = (folder / LAST).rename(Path(temporary, LAST))
                files.put(f"{folder}/", f"{place}/", recursive=True)
                files.put_file(str(last), f"{place}/{LAST}")
    except Exception as error:  # noqa: BLE001 (file systems of fsspec may raise any exception)
        return site.site, site.captures, "failed", f"{type(error).__name__}: {error}"
    return site.site, site.captures, "made", lacks


def localize(
    spark: SparkSession, archives: list[str], output: str, zips: bool = False, options: dict[str, Any] | None = None
) -> DataFrame:
    """Makes the sites. A row for each: site, captures, result, sentence."""
    read = spark.read.format("baselink").option("rows", "captures").option("storage_options", json.dumps(options or {}))
    captures = read.load(archives).where("error IS NULL").withColumn("site", F.expr("split_part(url_key, '/', 3)"))
    # Spark would make few tasks of so few bytes.
    captures = captures.where("site <> ''").repartition(TASKS * spark.sparkContext.defaultParallelism, "site")
    captures.createOrReplaceTempView("captures")
    make = partial(made, output=output, zips=zips, options=options or {})
    sites = spark.sql(SITES).rdd.map(make)
    return spark.createDataFrame(sites, "site string, captures bigint, result string, sentence string").cache()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", nargs="+", metavar="ARCHIVE")
    parser.add_argument("-o", "--output", required=True, help="the folder of the sites, or its URL")
    parser.add_argument("--zip", action="store_true", help="make a ZIP file for each site")
    parser.add_argument("--storage-options", type=json.loads, default={}, help="a JSON object for fsspec")
    asked = parser.parse_args()
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # not from spark-submit: the workers are on this machine
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.appName("sites for offline use").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(baselink.spark.ArchiveSource)
    found = localize(spark, asked.archives, asked.output, asked.zip, asked.storage_options)
    found.groupBy("result").count().show()
    found.where("sentence IS NOT NULL").show(100, truncate=False)
    spark.stop()


if __name__ == "__main__":
    main()
