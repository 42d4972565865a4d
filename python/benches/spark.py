"""The links per second that Spark reads from an archive with baselink, and with warcio and lxml in a Python function; and the
captures per second, beside FastWARC.

    pip install "./python[spark]" fastwarc warcio lxml
    python python/benches/spark.py --baselink PROGRAM ARCHIVE

With one core the archive is read once, with two cores twice at the same time. The rows are discarded (Spark's `noop`).
The round with the least processor time counts; Spark gets one more round first, which does not count. MB are those of
inflated data. A core of Spark is a Java thread and a Python process, and both take processor time.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urljoin

import lxml.html
from fastwarc.warc import ArchiveIterator as FastWarcIterator
from fastwarc.warc import WarcRecordType
from pyspark.sql import SparkSession
from warcio.archiveiterator import ArchiveIterator

import baselink.spark
import baselink.warc

COLUMNS = "path string, url string, element string, attribute string, reference string, target string"
CHOSEN = "url string, target string"


def by_lxml(paths: Iterable[str]) -> Iterator[tuple[str | None, ...]]:
    """A job in Python without baselink: finds the links of HTML, and joins them to the URL of the page."""
    for path in paths:
        with open(path, "rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_type != "response" or record.http_headers is None:
                    continue
                if "html" not in (record.http_headers.get_header("Content-Type") or ""):
                    continue
                url = record.rec_headers.get_header("WARC-Target-URI")
                try:
                    page = lxml.html.document_fromstring(record.content_stream().read())
                    for element, attribute, reference, _ in page.iterlinks():
                        yield path, url, str(element.tag), attribute, reference, urljoin(url, reference)
                except (ValueError, lxml.etree.LxmlError):
                    continue


def by_fastwarc(path: str) -> Iterator[tuple[str | None, ...]]:
    """The captures of an archive with the columns that FastWARC gives without more work."""
    with open(path, "rb") as file:
        for record in FastWarcIterator(file, record_types=WarcRecordType.response, parse_http=True):
            record.reader.read()
            yield (
                record.headers.get("WARC-Target-URI"),
                record.headers.get("WARC-Date"),
                record.headers.get("WARC-Payload-Digest"),
                str(record.http_headers.status_code),
                record.http_headers.get("Content-Type"),
                record.http_headers.get("Location"),
            )


def measured(name: str, size: int, rounds: int, work: Callable[[], object], rows: int) -> None:
    times = []
    for _ in range(rounds):
        clock, before = time.monotonic(), processor_times()
        work()
        # A process that ended without its parent has left no time.
        spent = sum(seconds - before.get(process, 0.0) for process, seconds in processor_times().items())
        times.append((spent, time.monotonic() - clock))
    processors, clock = min(times)
    per_second = f"{rows / processors:,.0f} | {size / processors / 1e6:.0f}"
    print(f"| {name} | {rows:,} | {clock:.1f} | {processors:.1f} | {per_second} |", flush=True)


def processor_times() -> dict[int, float]:
    """The processor time of this process and of each of its descendants, in seconds (Linux: proc(5))."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # It has ended.
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        ticks[int(stat.parent.name)] = sum(map(int, fields[11:15]))
    found = {}
    for process, its_ticks in ticks.items():
        ancestor = process
        while ancestor not in (0, os.getpid()):
            ancestor = parents.get(ancestor, 0)
        if ancestor:
            found[process] = its_ticks / os.sysconf("SC_CLK_TCK")
    return found


def in_spark(cores: int, path: str, size: int, rounds: int, rows: int, rows_of_lxml: int) -> None:
    spark = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(baselink.spark.ArchiveSource)
    paths = [path] * cores
    rdd = spark.sparkContext.parallelize(paths, cores)
    in_python = rdd.mapPartitions(baselink.spark.links_in_partition())
    frames = [
        ("data source", spark.read.format("baselink").load(paths), rows),
        ("data source, `url` and `target`", spark.read.format("baselink").schema(CHOSEN).load(paths), rows),
        ("`read_links`", baselink.spark.read_links(spark, paths), rows),
        ("`links_in_partition`", spark.createDataFrame(in_python, baselink.spark.LINKS), rows),
        ("warcio and lxml", spark.createDataFrame(rdd.mapPartitions(by_lxml), COLUMNS), rows_of_lxml),
    ]
    for name, frame, of_one in frames:
        work = frame.write.format("noop").mode("overwrite").save
        work()
        measured(f"Spark, {cores} core{'s' * (cores > 1)}: {name}", size * cores, rounds, work, of_one * cores)
    spark.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive")
    parser.add_argument("--baselink", help="the command, built with --release")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    path, rounds = os.path.abspath(asked.archive), asked.rounds
    with gzip.open(path) as file:
        size = sum(len(piece) for piece in iter(lambda: file.read(1 << 20), b""))
    print(f"{os.path.getsize(path) / 1e6:.0f} MB, {size / 1e6:.0f} MB inflated; the best of {rounds}\n")
    print("| | rows | s | s of processors | rows/s of a processor | MB/s of a processor |\n|---|---|---|---|---|---|")

    rows = sum(batch.num_rows for batch in baselink.warc.link_batches(path))
    rows_of_lxml = sum(1 for _ in by_lxml([path]))
    captures = sum(batch.num_rows for batch in baselink.warc.capture_batches(path))
    responses = sum(1 for _ in by_fastwarc(path))
    if asked.baselink:
        command = [asked.baselink, "links", "--json", "-q", "--jobs", "1", path]
        run = partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL)
        measured("`baselink links --json --jobs 1`", size, rounds, run, rows)
    for name, work, count in [
        ("`link_batches`", lambda: deque(baselink.warc.link_batches(path), 0), rows),
        ("`link_rows`", lambda: deque(baselink.warc.link_rows(path), 0), rows),
        ("warcio and lxml", lambda: deque(by_lxml([path]), 0), rows_of_lxml),
        ("`capture_batches`", lambda: deque(baselink.warc.capture_batches(path), 0), captures),
        ("FastWARC", lambda: deque(by_fastwarc(path), 0), responses),
    ]:
        measured(name, size, rounds, work, count)
    for cores in (1, 2):
        in_spark(cores, path, size, rounds, rows, rows_of_lxml)


if __name__ == "__main__":
    main()
