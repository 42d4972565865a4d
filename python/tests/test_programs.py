"""The programs in `examples/` run, and print the output that their docstrings describe."""

from __future__ import annotations

import importlib.util
import os
import quopri
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
    # A mail server adds fields at the start, which other documents might begin with.
    message = b"Status: O\nSubject: x\nContent-Type: text/html\n\n<a href=//b.example/><a href=#c>"
    assert run("mail.py", data=message).encode() == message.replace(b"//b", b"https://b")


def test_mail_with_a_relative_link() -> None:
    message = b"Subject: x\nContent-Type: text/html\n\n<a href=x><img src=''>"
    program = REPOSITORY / "python/examples/mail.py"
    done = subprocess.run([sys.executable, program], input=message, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, message)
    assert done.stderr.split() == b"line 4: x: no-base".split()


def test_image_proxy() -> None:
    heading = b"Subject: x\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n"
    page = (
        b"<a href=3D'http://b.example/'><img src=3D'http://b.example/?a=3D1&amp;b'><img src=3D'cid:c'><img src=3D//d>"
    )
    printed = run("image_proxy.py", "https://proxy.example/", data=heading + page).encode()
    # An attribute value without quotes has no `=` (HTML, 13.1.2.3).
    expected = quopri.decodestring(page).replace(b"//d", b"https://proxy.example/?url&#61;https%3A%2F%2Fd%2F")
    proxied = b"https://proxy.example/?url=http%3A%2F%2Fb.example%2F%3Fa%3D1%26b"
    assert quopri.decodestring(printed[len(heading) :]) == expected.replace(b"http://b.example/?a=1&amp;b", proxied)


@pytest.mark.parametrize("name", ["mail.py", "feed.py", "image_proxy.py"])
def test_the_readme_has_the_program(name: str) -> None:
    _, program = (REPOSITORY / "python/examples" / name).read_text().split('"""\n\n')
    assert f"```python\n{program}```" in (REPOSITORY / "python/README.md").read_text()


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
