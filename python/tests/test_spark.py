"""`baselink.spark` in a session with two cores: real archives give the rows of `baselink links --json`."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from archives import PAGE, archive, command_rows, record, response, skip_file
from conftest import REPOSITORY, Command, absent, outside

try:
    from pyspark.sql import DataFrame, SparkSession

    import baselink.spark
except ImportError as error:
    skip_file(error)

HAS_SOURCES = hasattr(SparkSession, "dataSource")
needs_sources = pytest.mark.skipif(not HAS_SOURCES, reason="data sources in Python are new in PySpark 4")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        absent("Java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", 4)
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    if HAS_SOURCES:
        session.dataSource.register(baselink.spark.ArchiveSource)
    yield session
    session.stop()


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    good = archive(record(response(PAGE)))
    (tmp_path / "a.warc.gz").write_bytes(good)
    (tmp_path / "b.warc.gz").write_bytes(good[:-20])
    (tmp_path / "c.warc").write_bytes(record(b"*{src: url(x)}", WARC_Type="resource", Content_Type="text/css"))
    (tmp_path / "notes.txt").write_bytes(b"no archive")
    return tmp_path


def by_path(frame: DataFrame) -> dict[str, list[dict[str, Any]]]:
    """The rows without an error, by path, in their order and without the columns that the command does not have."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in frame.where("error is null").drop("url_key", "target_key", "level", "error").collect():
        found.setdefault(row["path"], []).append(row.asDict())
    return found


def real_archives() -> list[str]:
    return [str(path) for path in outside("corpus/warc")]


def expected_rows(command: Command, archives: list[str]) -> dict[str, list[dict[str, Any]]]:
    return {path: rows for path in archives if (rows := command_rows(command, path, "--resolver", "whatwg")[0])}


@needs_sources
def test_real_archives_give_the_rows_of_the_command(spark: SparkSession, command: Command) -> None:
    archives = real_archives()
    frame = spark.read.format("baselink").option("resolver", "whatwg").load(archives)
    assert by_path(frame) == expected_rows(command, archives)
    assert frame.rdd.getNumPartitions() == len(archives)


def test_real_archives_give_the_same_rows_without_a_data_source(spark: SparkSession, command: Command) -> None:
    archives = real_archives()
    assert by_path(baselink.spark.read_links(spark, archives, resolver="whatwg")) == expected_rows(command, archives)


@needs_sources
def test_sql_queries_a_folder(spark: SparkSession, crawl: Path) -> None:
    spark.read.format("baselink").load(str(crawl)).createOrReplaceTempView("links")
    asked = "SELECT element, reference, target, offset, `end` - start AS length FROM links WHERE outcome = 'rewritten'"
    assert sorted(map(tuple, spark.sql(f"{asked} AND path LIKE '%/c.warc'").collect())) == [
        (None, "x", "http://h.example/x", 0, 1)
    ]
    [error] = spark.sql("SELECT path, offset, error FROM links WHERE error IS NOT NULL").collect()
    assert (error["path"], error["offset"]) == (str(crawl / "b.warc.gz"), 0)
    assert error["error"].startswith("record-truncated: ")


@needs_sources
def test_a_bad_archive_is_an_error_row_not_a_failed_job(spark: SparkSession, crawl: Path) -> None:
    missing = str(crawl / "missing.warc.gz")
    found = spark.read.format("baselink").load([missing, str(crawl / "a.warc.gz"), str(crawl / "notes.txt")]).collect()
    assert {(Path(row["path"]).name, row["error"] is None) for row in found} == {
        ("missing.warc.gz", False),
        ("a.warc.gz", True),
        ("notes.txt", False),
    }


@needs_sources
def test_patterns_columns_and_options(spark: SparkSession, crawl: Path) -> None:
    read = spark.read.format("baselink")
    frame = read.schema("target string, offset bigint").load(str(crawl / "*.warc"))
    assert (frame.columns, [tuple(row) for row in frame.collect()]) == (
        ["target", "offset"],
        [("http://h.example/x", 0)],
    )
    documents = spark.read.format("baselink").option("rows", "documents").load(str(crawl / "*.warc"))
    assert [bytes(row["document"]) for row in documents.collect()] == [b"*{src: url(http://h.example/x)}"]


@needs_sources
@pytest.mark.parametrize(
    ("options", "schema", "message"),
    [
        ({"resolver": "rfc9999"}, None, "rfc9999"),
        ({"colour": "red"}, None, "colour"),
        ({"rows": "pages"}, None, "there are links, documents"),
        ({}, "colour string", "colour string: there is no such column"),
        ({}, "offset string", "offset string: there is no such column"),
    ],
)
def test_a_wrong_option_is_an_error(
    spark: SparkSession, crawl: Path, options: dict[str, str], schema: str | None, message: str
) -> None:
    read = spark.read.format("baselink").options(**options)
    with pytest.raises(Exception, match=message):
        (read.schema(schema) if schema else read).load(str(crawl)).collect()


@needs_sources
def test_a_pattern_without_archives_is_an_error(spark: SparkSession, crawl: Path) -> None:
    with pytest.raises(Exception, match="there are no archives"):
        spark.read.format("baselink").load(str(crawl / "*.arc")).collect()


def test_frames_and_partitions_of_paths(spark: SparkSession, crawl: Path) -> None:
    paths = [str(crawl / "a.warc.gz"), str(crawl / "c.warc")]
    frame = spark.createDataFrame([(path,) for path in paths], "path string")
    found = frame.mapInArrow(baselink.spark.links_in_arrow(enable=["headers"]), baselink.spark.LINKS).collect()
    assert sorted(row["target"] for row in found) == [
        "http://h.example/b/",
        "http://h.example/b/x",
        "http://h.example/x",
    ]
    rows = spark.sparkContext.parallelize(paths, 2).mapPartitions(baselink.spark.links_in_partition()).collect()
    assert sorted(row.target for row in rows) == sorted(row["target"] for row in found)
    documents = baselink.spark.read_documents(spark, paths).orderBy("path").collect()
    assert [bytes(row["document"]) for row in documents] == [
        b'<base href="http://h.example/b/"><a href=http://h.example/b/x>',
        b"*{src: url(http://h.example/x)}",
    ]
    assert baselink.spark.read_links(spark, []).collect() == []


@needs_sources
def test_the_examples_of_the_page_on_clusters_run(
    spark: SparkSession, crawl: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (REPOSITORY / "docs/clusters.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    scope: dict[str, Any] = {"spark": spark}
    for block in blocks:
        exec(block.replace('"crawl', f'"{crawl}'), scope)  # noqa: S102
    assert len(blocks) == 4
    assert scope["links"].where("error is null").count() == 2  # b.warc.gz is cut before its links.
    assert scope["edges"].count() == 4
    printed = capsys.readouterr().out
    assert "|http://h.example/|        x|http://h.example/b/x|" in printed
    assert "text/css" in printed and "record-truncated" in printed


def test_hadoop_lists_archives(spark: SparkSession, crawl: Path) -> None:
    (crawl / "below").mkdir()
    shutil.move(crawl / "c.warc", crawl / "below/d.warc")
    names = ["a.warc.gz", "b.warc.gz", "below/d.warc"]
    listed = [f"file:{crawl}/{name}" for name in names]
    assert baselink.spark.list_archives(spark, str(crawl)) == listed
    assert baselink.spark.list_archives(spark, f"file://{crawl}/*.warc.gz", f"{crawl}/below/d.warc") == listed
    found = baselink.spark.read_links(spark, listed).where("error is null").collect()
    assert {row["path"] for row in found} == {listed[0], listed[2]}
    # Bug 73: the name of an existing file is not a pattern, even if it contains brackets.
    (crawl / "below/a[1].warc").write_bytes(b"")
    assert baselink.spark.list_archives(spark, f"{crawl}/below/a[1].warc") == [f"file:{crawl}/below/a[1].warc"]
    with pytest.raises(FileNotFoundError, match="there are no archives"):
        baselink.spark.list_archives(spark, str(crawl / "*.arc"))
