"""The programs in `examples/` run, and print the output that their docstrings describe."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from archives import PAGE, archive, record, response
from conftest import FIXTURES, REPOSITORY, absent


def run(name: str, *arguments: str | Path, needs: tuple[str, ...] = (), data: bytes = b"") -> str:
    """The standard output of a program. If one of the modules `needs` is absent, the test is skipped."""
    for module in needs:
        if importlib.util.find_spec(module) is None:
            absent(module)
    program = REPOSITORY / "python/examples" / name
    done = subprocess.run([sys.executable, program, *arguments], input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(archive(record(response(PAGE))))
    return path


def test_feed() -> None:
    printed = run("feed.py", "https://a.example/feed.xml", FIXTURES / "entry.rss", needs=("feedparser",))
    assert printed == "https://a.example/june/letters.html\tLetters of June\n"


def test_markdown() -> None:
    page = FIXTURES / "relative-base.html"
    printed = run("markdown.py", "https://docs.example/manual/guide/setup.html", page, needs=("html2text",))
    assert "[options](https://docs.example/manual/guide/options.html#quiet)" in printed


def test_mail() -> None:
    message = b"Subject: x\nContent-Type: text/html\n\n<a href=//b.example/><a href=#c>"
    assert run("mail.py", data=message).encode() == message.replace(b"//b", b"https://b")


def test_archive(crawl: Path, tmp_path: Path) -> None:
    output = tmp_path / "links.parquet"
    assert run("archive.py", output, crawl, needs=("pyarrow", "fsspec")) == "2 rows\n"
    import pyarrow.parquet as pq

    assert pq.read_table(output).column("target").to_pylist() == ["http://h.example/b/", "http://h.example/b/x"]


def test_spark(crawl: Path) -> None:
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        absent("Java")
    printed = run("spark_links.py", crawl, needs=("pyspark", "pyarrow"))
    assert "|rewritten|    2|" in printed and "|h.example|2    |" in printed
