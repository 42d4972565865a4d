"""No document but an archive raises an exception, whatever its bytes are, and real documents give the results of the command."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from conftest import FIXTURES, Command, cases, outside

import baselink

FORMATS = ["html", "xhtml", "svg", "xml", "css", "message", "mbox", "http", "other", None]
URL = "http://h.example/a/b"
PIECES = [
    b"<a href=x>",
    b"<base href='../y'>",
    b"<!--",
    b"<svg><style>@import 'x';",
    b"<?xml version='1.0' encoding='utf-16'?>",
    b"<p style='a:url(x",
    b"From x\nContent-Type: multipart/mixed; boundary=a\n\n--a\n",
    b"Content-Transfer-Encoding: base64\n\n",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08",
    b"WARC/1.0\r\n",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\0",
    b"\xed\xa0\x80",
    b"<img srcset='x 2x, //[y 3x'>",
    b"]]>\r\n\r\n",
]


def every_function(data: bytes, format: str | None) -> None:
    if format is None and baselink.detect(None, data) == "warc":
        format = "html"  # An archive is a wrong argument.
    output = baselink.rewrite(data, URL, format=format)
    found = baselink.rewrite_report(data, URL, format=format)
    assert found.output == output
    assert found.links == baselink.links(data, URL, format=format)
    assert found.links == [link for _, link in baselink.iter_links([(data, URL)], format=format)]
    assert sum(found.counts.values()) == len(found.links)
    assert baselink.rewrite(data, format=format) is not None
    assert str(baselink.base(data, URL, format=format)).startswith("base: ")
    assert isinstance(baselink.detect(None, data), str)
    assert isinstance(baselink.get_base_url(data, URL), str)
    assert isinstance(baselink.make_links_absolute(data, URL), bytes)


@pytest.mark.parametrize("format", FORMATS)
def test_any_bytes_are_accepted(format: str | None) -> None:
    draw = random.Random(1808)
    for data in [b"", b"\0", bytes(range(256)), b"<" * 10_000, *PIECES]:
        every_function(data, format)
    for _ in range(150):
        pieces = [*PIECES, draw.randbytes(draw.randrange(40))]
        every_function(b"".join(draw.choices(pieces, k=draw.randrange(8))), format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_cut_or_damaged_document_is_accepted(format: str | None) -> None:
    draw = random.Random(1808)
    for case in list(cases())[::7]:
        data = bytearray(case.read("input.*"))
        for _ in range(min(3, len(data))):
            data[draw.randrange(len(data))] = draw.randrange(256)
        every_function(bytes(data[: draw.randrange(len(data) + 1)]), format)


def test_an_archive_is_a_wrong_argument() -> None:
    for name in ["plain.warc", "site.warc"]:
        data = (FIXTURES / "archive" / name).read_bytes()
        assert baselink.detect(name, data) == baselink.detect(None, data) == "warc"
        for function in [baselink.rewrite, baselink.links]:
            with pytest.raises(ValueError, match="format 'warc' is an archive"):
                function(data, URL)
    assert baselink.detect("a.warc.gz", b"\x1f\x8b") == "warc"
    assert baselink.detect("a.wacz", b"PK") == "wacz"
    assert baselink.detect("a.har", b"{") == "har"


def rows_of(command: Command, files: list[Path]) -> dict[str, list[dict[str, object]]]:
    rows: dict[str, list[dict[str, object]]] = {str(path): [] for path in files}
    for line in command("links", "--json", "--url", URL, *files).splitlines():
        row = json.loads(line)
        rows[row.pop("path")].append(row)
    return rows


def compare(command: Command, files: list[Path]) -> None:
    for path, rows in rows_of(command, files).items():
        data = Path(path).read_bytes()
        format = baselink.detect(path, data)
        links = baselink.links(data, URL, format=format)
        assert [link._asdict() for link in links] == rows, path
        output = baselink.rewrite(data, URL, format=format)
        assert output == baselink.rewrite_report(data, URL, format=format).output
    # A process for each file would take long.
    for path in files[::10]:
        data = path.read_bytes()
        output = baselink.rewrite(data, URL, format=baselink.detect(str(path), data))
        assert output == command("rewrite", "--quiet", "--url", URL, path), path


def test_real_pages_give_the_results_of_the_command(command: Command) -> None:
    files = [path for path in outside("corpus/pages") if path.suffix == ".html"]
    assert len(files) >= 130
    compare(command, files)


def test_real_messages_give_the_results_of_the_command(command: Command) -> None:
    files = [path for path in outside("corpus/mail") if baselink.detect(path.name, path.read_bytes()) == "message"]
    assert len(files) >= 300
    compare(command, files)
