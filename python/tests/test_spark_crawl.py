"""The examples `spark_check.py` and `spark_localize.py` with two tasks at once in 1 GB equal the command on one machine.

The archives are in an object store on this machine, one of them is damaged, and a worker is killed while it reads.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from archives import archive, record, skip_file
from conftest import FIXTURES, REPOSITORY, Command, absent, outside

try:
    import pyarrow as pa
    from pyspark import cloudpickle
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    import baselink.spark
except ImportError as error:
    skip_file(error)

if not hasattr(SparkSession, "dataSource"):
    pytest.skip("data sources in Python are new in PySpark 4", allow_module_level=True)


def example(name: str) -> ModuleType:
    """An example as a module, which Spark sends to its workers."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / f"python/examples/{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    cloudpickle.register_pickle_by_value(module)
    return module


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        absent("Java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Two tasks at once; a task may fail three times.
    builder = SparkSession.builder.master("local[2,4]").config("spark.driver.memory", "1g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", 4)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.sparkContext.setCheckpointDir(str(tmp_path_factory.mktemp("checkpoints")))
    session.dataSource.register(baselink.spark.ArchiveSource)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, Any]]:
    """The options of fsspec for an object store on this machine."""
    try:
        import s3fs
        from moto.server import ThreadedMotoServer
    except ImportError as error:
        absent(str(error.name))
    server = ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    options = {"key": "k", "secret": "s", "endpoint_url": f"http://{host}:{port}"}
    s3fs.S3FileSystem(**options).mkdir("crawl")
    yield options
    server.stop()


def http(status: str, *fields: str, body: bytes = b"") -> bytes:
    return "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", *fields, "")).encode() + body


NUMBERS = itertools.count()


def captured(url: str, status: str, *fields: str, body: bytes = b"", **of_record: str) -> bytes:
    own = {"WARC_Record_ID": f"<urn:uuid:{next(NUMBERS)}>", "WARC_Date": "2026-01-01T00:00:00Z", **of_record}
    return record(http(status, *fields, body=body), WARC_Target_URI=url, **own)


PAGE = (
    b"<img src=//i.example/a.png><img src=b.png><img src=c.png><img src=gone.png><img src=down.png><img src=part.png>"
    b"<img src=round.png><img src=away.png><img src=never.png#x><img src=form.png><img src=same.png>"
    b"<a href=gone.html></a><a href=https://H.example:443/%6eever.html#y></a><a href=http://o.example/></a>"
    b"<a href=ftp://o.example/></a><img src=data:,><applet codebase=nothing/></applet>"
)
H = "http://h.example/"


def crawl() -> list[bytes]:
    """Two archives. Each image of the page is a case."""
    html, to = "Content-Type: text/html", "Location: "
    post = {"WARC_Type": "request", "WARC_Record_ID": "<urn:uuid:post>"}
    one = [
        captured(H, "200 OK", html, body=PAGE),
        captured(H, "503 Down", html, body=b"<img src=of-an-error.png>", WARC_Date="2026-02-01T00:00:00Z"),
        captured("https://i.example/a.png", "200 OK", body=b"x"),  # with the other scheme
        captured(f"{H}b.png", "301 Moved", f"{to}/b2.png"),
        captured(f"{H}b2.png", "302 Found", f"{to}HTTPS://i.example/a.png#z"),
        captured(f"{H}c.png", "301 Moved", f"{to}https://h.example/c.png"),  # to the other scheme, and from there on
        captured("https://h.example/c.png", "301 Moved", f"{to}/c2.png"),
        captured("https://h.example/c2.png", "200 OK", body=b"x"),
        captured(f"{H}gone.png", "404 Not Found"),
    ]
    two = [
        captured(f"{H}down.png", "500 Error"),
        captured(f"{H}part.png", "200 OK", "Content-Length: 9", body=b"x"),
        captured(f"{H}round.png", "302 Found", f"{to}/round.png"),
        captured(f"{H}away.png", "302 Found", f"{to}http://n.example/"),
        record(b"POST /form.png HTTP/1.1\r\n\r\n", WARC_Target_URI=f"{H}form.png", **post),
        captured(f"{H}form.png", "200 OK", body=b"x", WARC_Concurrent_To="<urn:uuid:post>"),
        captured(f"{H}original.png", "200 OK", body=b"x", WARC_Payload_Digest="sha1:X"),
        captured(f"{H}same.png", "304 Not Modified", WARC_Type="revisit", WARC_Payload_Digest="sha1:X"),
        captured(f"{H}gone.html", "410 Gone"),
    ]
    return [archive(*one), archive(*two)]


EXPECTED = {
    ("missing", "client-error", f"{H}gone.png"),
    ("missing", "server-error", f"{H}down.png"),
    ("missing", "no-body", f"{H}part.png"),
    ("missing", "redirect", f"{H}round.png"),
    ("missing", "redirect", f"{H}away.png"),
    ("missing", "not-captured", f"{H}never.png"),
    ("missing", "not-captured", f"{H}form.png"),
    ("missing-page", "client-error", f"{H}gone.html"),
    # The resolver of browsers keeps the escape.
    ("missing-page", "not-captured", "https://h.example/%6eever.html"),
}


def checked(command: Command, archives: list[str], folder: Path) -> Counter[tuple[str, str, str]]:
    """The links to missing targets that the command finds: class, cause and URL. Their URLs are those of its list."""
    listed = folder / "missing.txt"
    asked = [command.path, "check", "--json", "--resolver", "whatwg", "--deny", "missing,missing-page"]
    done = subprocess.run([*asked, "--missing", listed, *archives], capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    missing = [row for row in rows if row["class"] in ("missing", "missing-page")]
    found = Counter((row["class"], row["cause"], row["target"].split("#")[0]) for row in missing)
    assert sorted({url for _, _, url in found}) == sorted(listed.read_text().splitlines())
    return found


def joined(
    spark: SparkSession, archives: list[str], partitions: int = 4, options: dict[str, Any] | None = None
) -> Counter[tuple[str, str, str]]:
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    found = example("spark_check").dead_links(spark, archives, options).collect()
    return Counter((row["class"], row["cause"], row["url"]) for row in found)


@pytest.fixture
def archives(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "one.warc.gz", tmp_path / "two.warc.gz"]
    for path, data in zip(paths, crawl(), strict=True):
        path.write_bytes(data)
    return list(map(str, paths))


def test_a_join_says_what_check_says(
    spark: SparkSession, command: Command, archives: list[str], tmp_path: Path
) -> None:
    found = joined(spark, archives[::-1], 1)
    assert found == Counter(EXPECTED) == checked(command, archives, tmp_path)


@pytest.mark.parametrize("partitions", [1, 4])
def test_real_archives_lack_what_check_says(
    spark: SparkSession, command: Command, tmp_path: Path, partitions: int
) -> None:
    names = ["site.warc", "members.warc.gz", "plain.warc", "playwright.har", "safari.webarchive"]
    paths = sorted([*map(str, outside("corpus/warc")), *(str(FIXTURES / "archive" / name) for name in names)])
    shuffled = random.Random(partitions).sample(paths, len(paths))
    found = joined(spark, shuffled, partitions)
    assert found == checked(command, paths, tmp_path) and found.total() > 5_000


def test_daft_says_the_same(command: Command, archives: list[str], tmp_path: Path) -> None:
    if importlib.util.find_spec("daft") is None:
        absent("daft")
    real = sorted(map(str, outside("corpus/warc")))
    for paths in (archives, real):
        found = example("daft_check").dead_links(paths[::-1]).to_pydict()
        rows = Counter(zip(found["class"], found["cause"], found["url"], strict=True))
        assert rows == checked(command, paths, tmp_path)


def test_a_killed_worker_changes_nothing(
    spark: SparkSession, store: dict[str, Any], command: Command, archives: list[str], tmp_path: Path
) -> None:
    import s3fs

    damaged = Path(archives[1])
    damaged.write_bytes(damaged.read_bytes()[:-100])
    s3fs.S3FileSystem(**store).put(archives, "crawl/killed/")
    marks = str(tmp_path)

    class Killed(baselink.spark.ArchiveSource):
        """The data source, whose first worker for each archive is killed after the first rows."""

        def reader(self, schema: StructType) -> Any:
            class Reader(baselink.spark.ArchiveReader):
                def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
                    for batch in super().read(partition):
                        yield batch
                        mark = os.path.join(marks, os.path.basename(partition.value) + ".killed")
                        if not os.path.exists(mark):
                            with open(mark, "x"):
                                os.kill(os.getpid(), signal.SIGKILL)

            return Reader(dict(self.options), schema)

    spark.dataSource.register(Killed)
    try:
        found = joined(spark, ["s3://crawl/killed"], 4, store)
    finally:
        spark.dataSource.register(baselink.spark.ArchiveSource)
    assert len(list(tmp_path.glob("*.killed"))) == 2
    assert found == checked(command, archives, tmp_path)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_sites_equal_those_of_one_machine(
    spark: SparkSession, store: dict[str, Any], command: Command, tmp_path: Path
) -> None:
    import s3fs

    files = s3fs.S3FileSystem(**store)
    style = captured("http://s.example/s.css", "200 OK", "Content-Type: text/css", body=b"p{}")
    page = captured("http://s.example/", "200 OK", "Content-Type: text/html", body=b"<link rel=stylesheet href=s.css>")
    other = captured("http://t.example:81/", "200 OK", "Content-Type: text/html", body=b"<img src=x>")
    files.pipe("crawl/one.warc.gz", archive(page, other))
    files.pipe("crawl/two.warc.gz", archive(style) + archive(style)[:-20])
    # A host without a document or a resource.
    files.pipe("crawl/three.warc", captured("http://u.example/", "404 Not Found"))
    localize = example("spark_localize").localize
    paths = ["s3://crawl/one.warc.gz", "s3://crawl/t*.warc*"]
    for zips in (False, True):
        for result in ("made", "there"):
            rows = localize(spark, paths, "s3://crawl/sites", zips, store).orderBy("site").collect()
            found = [(row["site"], row["captures"], row["result"]) for row in rows]
            assert found == [("s.example", 3, result), ("t.example:81", 1, result), ("u.example", 1, "failed")]
            assert rows[2]["sentence"]
    for site, name, records in [("s.example", "s.example", [page, style]), ("t.example:81", "t.example%3A81", [other])]:
        one = tmp_path / site / "site.warc.gz"
        one.parent.mkdir()
        one.write_bytes(archive(*records))
        asked = [command.path, "localize", "--quiet", str(one), "-o", str(one.parent / "site")]
        subprocess.run(asked, check=True)
        stored = tmp_path / "stored" / name
        files.get(f"crawl/sites/{name}/", f"{stored}/", recursive=True)
        assert files_of(stored) == files_of(one.parent / "site")
        files.get(f"crawl/sites/{name}.zip", str(tmp_path / "site.zip"))
        with zipfile.ZipFile(tmp_path / "site.zip") as zipped:
            assert {name: zipped.read(name) for name in zipped.namelist() if name[-1] != "/"} == files_of(stored)
