"""`baselink.warc`: real archives give the rows of `baselink links --json`, and small ones give expected rows."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import random
import resource
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from archives import PAGE, archive, command_rows, record, response, skip_file
from conftest import FIXTURES, SHARED, Command, outside

try:
    import fsspec

    from baselink.warc import (
        CAPTURES,
        DOCUMENTS,
        LINKS,
        ArchiveCapture,
        ArchiveLink,
        capture_batches,
        capture_rows,
        link_batches,
        link_rows,
        list_archives,
        rewrite_batches,
    )
except ImportError as error:
    skip_file(error)

SAMPLES = sorted(str(path) for path in (SHARED / "corpus/warc").rglob("*") if path.is_file())


OF_COMMAND = [name for name in LINKS.names if name not in ("url_key", "target_key", "level", "error")]


def rows(archives: Any, **options: Any) -> list[dict[str, Any]]:
    return [row for batch in link_batches(archives, **options) for row in batch.to_pylist()]


def links(archives: Any, **options: Any) -> list[dict[str, Any]]:
    """The rows without an error, in the form of the command: without the columns that it does not have."""
    found = [row for row in rows(archives, **options) if row["error"] is None]
    return [{name: row[name] for name in OF_COMMAND} for row in found]


def errors(archives: Any) -> list[tuple[str, int | None, str]]:
    return [(row["path"], row["offset"], row["error"]) for row in rows(archives) if row["error"] is not None]


@pytest.mark.parametrize("path", SAMPLES or ["absent"])
def test_a_real_archive_gives_the_rows_of_the_command(command: Command, path: str) -> None:
    outside("corpus/warc")
    for options, resolver in [([], "rfc1808"), (["--resolver", "whatwg", "--enable", "headers"], "whatwg")]:
        enabled = {"enable": "headers"} if options else {}
        expected, expected_errors = command_rows(command, path, *options)
        found = rows(path, resolver=resolver, **enabled)
        assert [list(row) for row in expected[:1]] == [OF_COMMAND] * bool(expected)
        assert links(path, resolver=resolver, **enabled) == expected
        of_archive = ("record-", "member-", "OSError")
        unexpected = [(row["offset"], row["within"], row["error"]) for row in found if row["error"] is not None]
        unexpected = [error for error in unexpected if error[2].startswith(of_archive)]
        assert unexpected == [error for error in expected_errors if error[2].startswith(of_archive)]


def test_the_samples_have_links_and_errors() -> None:
    found = rows(outside("corpus/warc"))
    assert sum(row["error"] is None for row in found) > 5_000
    assert sum(row["error"] is not None for row in found) > 5


def test_a_link_has_its_record() -> None:
    first = gzip.compress(record(b"software: x\r\n", WARC_Type="warcinfo", Content_Type="application/warc-fields"))
    data = first + archive(record(response(PAGE)))
    file = io.BytesIO(data)
    [base, link] = link_rows(file)
    # The heading of the response has two lines and an empty one: 17 + 25 + 2 bytes.
    assert link == ArchiveLink(
        path="-",
        entity="",
        line=4,
        column=26,
        start=44 + 25,
        end=44 + 26,
        element="a",
        attribute="href",
        reference="x",
        base="http://h.example/b/",
        rule="3.1",
        source="base-element",
        target="http://h.example/b/x",
        role="navigation",
        outcome="rewritten",
        reason=None,
        kind="document",
        rel=None,
        record="urn:uuid:1",
        offset=len(first),
        within=0,
        url="http://h.example/",
        media_type="text/html",
        url_key="//h.example/",
        target_key="//h.example/b/x",
        level=None,
        error=None,
    )
    assert (base.element, base.target) == ("base", "http://h.example/b/")


def http(status: str, *fields: str, body: bytes = b"") -> bytes:
    return "".join(f"{line}\r\n" for line in (f"HTTP/1.1 {status}", *fields, "")).encode() + body


def test_a_capture_has_its_circumstances() -> None:
    page = record(response(PAGE), WARC_Date="2026-01-31T10:20:30Z", WARC_Payload_Digest="sha1:X")
    moved = {"WARC_Record_ID": "<urn:uuid:2>", "WARC_Target_URI": "https://H.example:443/%7ea#b"}
    redirect = record(http("301 Moved Permanently", "Location: ../c?d#e"), **moved)
    form = {"WARC_Record_ID": "<urn:uuid:4>", "WARC_Concurrent_To": "<urn:uuid:3>", "WARC_Type": "request"}
    request = record(b"POST / HTTP/1.1\r\n\r\n", **form)
    answer = record(response(b""), WARC_Record_ID="<urn:uuid:3>")
    again = record(http("304 Not Modified"), WARC_Type="revisit", WARC_Payload_Digest="sha1:X")
    cut = record(response(b"<p>", "Content-Length: 99"), WARC_Target_URI="urn:x", WARC_Record_ID="<urn:uuid:6>")
    part = record(response(b"<p>", "Content-Length: 99"), WARC_Record_ID="<urn:uuid:6>")
    records = [page, redirect, request, answer, again, cut, part]
    for members in (archive(*records), b"".join(records)):
        is_compressed = members.startswith(b"\x1f\x8b")
        lengths = [len(archive(one) if is_compressed else one) for one in records]
        starts = [sum(lengths[:at]) for at in range(len(records))]
        found = list(capture_rows(io.BytesIO(members)))
        # The record of `urn:x` is none, because nothing can be retrieved from there (RFC 8141).
        order = [0, 1, 2, 3, 4, 6]
        assert [(row.offset, row.within, row.length) for row in found] == [(starts[at], 0, lengths[at]) for at in order]
        assert found[0] == ArchiveCapture(
            path="-",
            record="urn:uuid:1",
            offset=0,
            within=0,
            url="http://h.example/",
            media_type="text/html",
            url_key="//h.example/",
            length=lengths[0],
            status=200,
            method=None,
            date="2026-01-31T10:20:30Z",
            digest="sha1:X",
            location=None,
            target_key=None,
            body="whole",
            body_ids=found[0].body_ids,
            exchange=found[0].exchange,
            level=None,
            error=None,
        )
        _, to, posted, answered, repeated, short = found
        # The base has the path /%7ea, so ../c is /c (RFC 3986, 5.2.4).
        assert (to.status, to.location, to.url_key, to.target_key) == (
            301,
            "https://h.example/c?d#e",
            "//h.example/~a",
            "//h.example/c?d",
        )
        assert (posted.status, posted.method, answered.method, answered.body) == (None, "POST", None, "empty")
        assert set((posted.exchange or "").split()) & set((answered.exchange or "").split())
        assert not set((posted.exchange or "").split()) & set((to.exchange or "").split())
        assert (repeated.body, repeated.status, short.body) == ("repeated", 304, "cut")
        assert set((repeated.body_ids or "").split()) & set((found[0].body_ids or "").split())
    [batch] = capture_batches(io.BytesIO(members))
    assert batch.schema == CAPTURES and CAPTURES.names == list(ArchiveCapture._fields)


def test_the_bytes_of_a_capture_are_an_archive() -> None:
    for path in outside("corpus/warc"):
        data = Path(path).read_bytes()
        for row in capture_rows(str(path)):
            if row.error is None and row.length is not None and row.offset is not None:
                assert row.length > 0
                own = [
                    one
                    for one in capture_rows(io.BytesIO(data[row.offset : row.offset + row.length]))
                    if one.error is None
                ]
                assert own == [row._replace(path="-", offset=0, within=0)]


def test_a_capture_without_a_place_of_its_own_has_no_length() -> None:
    one, other = record(response(PAGE)), record(response(PAGE), WARC_Target_URI="http://h.example/2")
    members = gzip.compress(one + other), archive(one)
    found = [(row.offset, row.within, row.length) for row in capture_rows(io.BytesIO(b"".join(members)))]
    assert found == [(0, 0, None), (0, len(one), None), (len(members[0]), 0, len(members[1]))]
    for name in ("site.warc.zst", "playwright.har", "safari.webarchive"):
        lengths = [row.length for row in capture_rows(FIXTURES / "archive" / name)]
        assert lengths and set(lengths) == {None}


def test_a_document_is_rewritten_without_its_response() -> None:
    chunked = response(b"5\r\n<a hr\r\n5\r\nef=x>\r\n0\r\n\r\n", "Transfer-Encoding: chunked")
    css = record(b"@import 'x'", WARC_Type="resource", Content_Type="text/css")
    broken = record(response(b"\x28\xb5\x2f\xfd no frame", "Content-Encoding: zstd"))
    image = record(b"x.png", WARC_Type="resource", Content_Type="image/png")
    data = archive(record(response(PAGE)), record(chunked), css, broken, image)
    [batch] = rewrite_batches(io.BytesIO(data))
    assert batch.schema == DOCUMENTS
    found = [(row["media_type"], row["document"], row["rewritten"]) for row in batch.to_pylist()]
    assert found == [
        ("text/html", b'<base href="http://h.example/b/"><a href=http://h.example/b/x>', 2),
        ("text/html", b"<a href=http://h.example/x>", 1),
        ("text/css", b"@import 'http://h.example/x'", 1),
        ("text/html", None, 0),
    ]
    assert [one.as_py() for one in batch["error"]][:3] == [None] * 3
    assert batch["error"][3].as_py().startswith("not-editable: ")


def test_header_fields_alone_are_not_a_document() -> None:
    data = archive(record(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nLocation: /x\r\n\r\nbytes"))
    assert [link.target for link in link_rows(io.BytesIO(data), enable="headers")] == ["http://h.example/x"]
    assert list(rewrite_batches(io.BytesIO(data), enable="headers")) == []


def test_a_bad_archive_does_not_stop_the_others(tmp_path: Path) -> None:
    good = archive(record(response(b"<a href=x>")))
    arc = b"filedesc://a.arc 0.0.0.0 20000101000000 text/plain 4\n1 0 x\n\n"
    files = {"a.warc.gz": good, "b.warc.gz": good[:-20], "c.warc": b"<p>no archive", "d.arc": arc, "e.warc.gz": good}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    names = [str(tmp_path / name) for name in [*files, "missing.warc.gz", "."]]
    found = rows(names)
    assert [Path(row["path"]).name for row in found if row["reference"] == "x"] == ["a.warc.gz", "e.warc.gz"]
    error_of = {Path(path).name: (offset, error) for path, offset, error in errors(names)}
    assert error_of["b.warc.gz"][0] == 0 and error_of["b.warc.gz"][1].startswith("record-truncated: ")
    assert ("c.warc", 0, "record-broken: no record begins here") in [
        (Path(path).name, *rest) for path, *rest in errors(names)
    ]
    assert error_of["c.warc"] == (None, "OSError: no WARC record could be read")
    assert error_of["d.arc"][0] is None and "warcio recompress" in error_of["d.arc"][1]
    assert error_of["missing.warc.gz"] == (None, "FileNotFoundError: No such file or directory (os error 2)")
    assert error_of[tmp_path.name] == (None, "OSError: a directory")
    absent = [row for row in found if row["error"] is not None and row["offset"] is None]
    assert all(value is None for row in absent for name, value in row.items() if name not in ("path", "level", "error"))
    # An error concerns the rest of its archive; a warning has a place.
    assert {(row["level"], row["offset"] is None) for row in found} == {
        (None, False),
        ("warning", False),
        ("error", True),
    }
    assert [batch.to_pylist()[0]["error"] for batch in rewrite_batches(names[-2])] == [error_of["missing.warc.gz"][1]]


def test_a_cut_archive_gives_the_links_before_the_cut() -> None:
    data = archive(*(record(response(b"<a href=%d>" % number)) for number in range(3)))
    whole = links(io.BytesIO(data))
    assert len(whole) == 3
    for length in range(len(data)):
        found = [row for row in rows(io.BytesIO(data[:length])) if row["level"] != "error"]
        assert [row["offset"] for row in found] == sorted(row["offset"] for row in found)
        complete = [row for row in found if row["error"] is None]
        assert [row["reference"] for row in complete] == [row["reference"] for row in whole][: len(complete)]


def test_hostile_bytes_give_rows() -> None:
    draw = random.Random(1808)
    data = archive(*(record(response(b"<a href=%d>" % number)) for number in range(20)))
    for _ in range(300):
        bad = bytearray(data)
        for _ in range(draw.randrange(1, 20)):
            bad[draw.randrange(len(bad))] = draw.randrange(256)
        for row in rows(io.BytesIO(bytes(bad))):
            assert row["error"] is not None or row["reference"] is not None
        assert sum(batch.num_rows for batch in rewrite_batches(io.BytesIO(bytes(bad)))) <= 60
    zeros = io.BytesIO(gzip.compress(bytes(50 << 20)))
    assert [row["level"] for row in rows(zeros)] == ["warning", "error"]


# RFC 8878, 3.1.1: a frame of a raw block of 10 bytes and of a block that repeats a byte 3,000 times.
ZSTD = b"\x28\xb5\x2f\xfd\x00\x68" + b"\x50\x00\x00<a href=x>" + b"\xc3\x5d\x00\x00"


def test_a_body_that_inflates_beyond_the_limit_is_an_error() -> None:
    """Bug 71, as a row of Python."""
    # RFC 8878, 3.1.1.2: blocks of 128 KiB that repeat a byte.
    zstd = b"\x28\xb5\x2f\xfd\x00\x68" + b"\x02\x00\x10x" * 2_000 + b"\x03\x00\x10x"
    bomb = record(response(zstd, "Content-Encoding: zstd"))
    data = archive(bomb, record(response(b"<a href=x>")))
    error = "transfer-undecodable: this part was kept unchanged: it inflates to more than 1,100 times its length"
    found = [(row["offset"], row["reference"], row["error"]) for row in rows(io.BytesIO(data))]
    assert found == [(0, None, error), (len(archive(bomb)), "x", None)]
    documents = [row for batch in rewrite_batches(io.BytesIO(data)) for row in batch.to_pylist()]
    assert [row["document"] for row in documents] == [None, b"<a href=http://h.example/x>"]
    assert documents[0]["error"].startswith("not-editable: ")


def test_a_body_that_cannot_be_decoded_is_an_error() -> None:
    """bug 381: some of these bodies had neither links nor a row."""
    page = b"<a href=x>" + bytes(3_000)
    coded = {"gzip": gzip.compress(page), "deflate": zlib.compress(page), "zstd": ZSTD}
    for coding, body in coded.items():
        for length in range(1, len(body)):
            data = archive(record(response(body[:length], f"Content-Encoding: {coding}")))
            [*_, last] = rows(io.BytesIO(data))
            assert last["offset"] == 0 and last["error"].split(":")[0] in ("transfer-undecodable", "coding-absent")
    stored = record(gzip.compress(page), WARC_Type="resource", Content_Type="text/html")
    unknown = record(response(b"junk", "Content-Encoding: compress"))
    found = [row["error"] for data in (stored, unknown) for row in rows(io.BytesIO(data))]
    assert [error.split(":")[0] for error in found] == ["transfer-undecodable", "coding-absent"]
    # A crawler may decode the body, and keep the field.
    decoded = record(response(b"<a href=x>", "Content-Encoding: gzip"))
    assert [(row["reference"], row["error"]) for row in rows(io.BytesIO(decoded))] == [("x", None)]


def test_archives_in_wacz(command: Command, tmp_path: Path) -> None:
    good = archive(record(response(b"<a href=x>")))
    path = tmp_path / "crawl.WACZ"
    with zipfile.ZipFile(path, "w") as wacz:
        wacz.writestr("archive/one.warc.gz", good)
        wacz.writestr("archive/deeper/no.warc.gz", good)
        wacz.writestr("archive/two.warc", b"no archive", zipfile.ZIP_DEFLATED)
        wacz.writestr("pages/pages.jsonl", b"{}")
        wacz.writestr("archive/three.warc", record(response(b"<a href=y>")), zipfile.ZIP_DEFLATED)
    found = [(row["path"], row["reference"], row["error"]) for row in rows(path)]
    assert found == [
        (f"{path}/archive/one.warc.gz", "x", None),
        (f"{path}/archive/two.warc", None, "record-broken: no record begins here"),
        (f"{path}/archive/two.warc", None, "OSError: no WARC record could be read"),
        (f"{path}/archive/three.warc", "y", None),
    ]
    assert links(str(path)) == command_rows(command, str(path))[0]
    bad = tmp_path / "bad.wacz"
    bad.write_bytes(path.read_bytes()[:-30])
    broken = "OSError: not a WACZ file: it is not a readable zip file, or its end is missing"
    assert errors([bad]) == [(str(bad), None, broken)]
    with zipfile.ZipFile(bad, "w") as wacz:
        wacz.writestr("x", b"")
    [(path_of_error, offset, error)] = errors(bad)
    assert (path_of_error, offset) == (str(bad), None) and error.startswith("OSError: not a WACZ file: ")


def wacz_of(files: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as wacz:
        for name, data in files.items():
            wacz.writestr(name, data)
    return written.getvalue()


def test_the_archives_of_the_command_are_read(command: Command, tmp_path: Path) -> None:
    """bug 732: only WARC was read, and WACZ with one spelling of the names in it."""
    warc = archive(record(response(b"<a href=x>")))
    har = (
        b'{"log": {"entries": [{"request": {"method": "GET", "url": "http://h.example/"}, "response": {"status": 200, '
    )
    har += b'"content": {"mimeType": "text/html", "text": "<a href=x>"}}}]}}'
    files = {
        "nested.wacz": wacz_of({"inner.wacz": wacz_of({"archive/one.warc.gz": warc})}),
        "old.wacz": wacz_of({"warcs/one.warc.gz": warc}),
        "CAPITALS.WACZ": wacz_of({"archive/ONE.WARC.GZ": warc}),
        "folder.wacz": wacz_of({"crawl/archive/one.warc.gz": warc}),
        "named.zip": wacz_of({"archive/one.warc.gz": warc}),
        "har.zip": wacz_of({"x.har": har}),
        "x.har": har,
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    fixtures = FIXTURES / "archive"
    names = ["site.warc.zst", "playwright.har", "safari.webarchive", "safari-xml.webarchive"]
    paths = [*(tmp_path / name for name in files), *(fixtures / name for name in names)]
    for path in paths:
        expected, no_errors = command_rows(command, str(path))
        assert expected and not no_errors
        assert links(str(path)) == expected
        # A file that is not on this machine.
        fsspec.filesystem("memory").pipe(f"/{path.name}", path.read_bytes())
        found = links(f"memory://{path.name}")
        assert all(row["path"].startswith(f"memory://{path.name}") for row in found)
        assert [{**row, "path": ""} for row in found] == [{**row, "path": ""} for row in expected]
        assert sum(batch.num_rows for batch in rewrite_batches(path)) > 0
    listed = [Path(path).name for path in list_archives(str(tmp_path))]
    assert listed == sorted(name for name in files if not name.endswith(".zip"))


def test_archives_by_url(tmp_path: Path) -> None:
    good = archive(record(response(b"<a href=x>")))
    fsspec.filesystem("memory").pipe("/crawl/a.warc.gz", good)
    (tmp_path / "a b.warc.gz").write_bytes(good)
    urls = ["memory://crawl/a.warc.gz", f"file://{tmp_path}/a b.warc.gz", f"file:{tmp_path}/a b.warc.gz"]
    assert [(row["path"], row["reference"]) for row in rows(urls)] == [(url, "x") for url in urls]
    [(path, offset, error)] = errors("memory://crawl/b.warc.gz")
    assert (path, offset, error.split(":")[0]) == ("memory://crawl/b.warc.gz", None, "FileNotFoundError")
    [(_, _, error)] = errors("gopher://h.example/a.warc.gz")
    assert "gopher" in error
    assert list_archives(["memory://crawl/*.gz", str(tmp_path)]) == [
        "memory:///crawl/a.warc.gz",
        str(tmp_path / "a b.warc.gz"),
    ]
    with pytest.raises(FileNotFoundError, match=r"\*\.arc: there are no archives"):
        list_archives(str(tmp_path / "*.arc"))


@pytest.mark.skipif(sys.platform != "linux", reason="names are text there")
def test_a_file_name_need_not_be_utf_8(command: Command, tmp_path: Path) -> None:
    """Bug 73: the first such name ended the run, and a name with brackets was taken for a pattern."""
    good = archive(record(response(b"<a href=x>")))
    names = [os.fsdecode(os.fsencode(tmp_path) + name) for name in (b"/caf\xe9.warc.gz", b"/\xff.WACZ")]
    Path(names[0]).write_bytes(good)
    with zipfile.ZipFile(names[1], "w") as wacz:
        wacz.writestr("archive/one.warc.gz", good)
    shown = [f"{tmp_path}/caf\ufffd.warc.gz", f"{tmp_path}/\ufffd.WACZ/archive/one.warc.gz"]
    assert [(row["path"], row["reference"]) for row in rows([*names, Path(names[0])])] == [
        *((name, "x") for name in shown),
        (shown[0], "x"),
    ]
    assert links(names[0]) == command_rows(command, names[0])[0]
    with open(os.fsencode(names[0]), "rb") as file:
        assert [row["path"] for row in rows(file)] == shown[:1]
    assert sorted(list_archives(str(tmp_path))) == sorted(names)
    # A missing file is reported, and the next file is read.
    absent = [names[0] + ".warc", "file://" + names[0] + ".warc", names[0]]
    found = [(row["path"], (row["error"] or "").split(":")[0]) for row in rows(absent)]
    missing = "FileNotFoundError"
    assert found == [(shown[0] + ".warc", missing), (f"file://{shown[0]}.warc", missing), (shown[0], "")]


def test_a_file_with_the_name_of_a_pattern_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "b[2]").mkdir()
    names = [str(tmp_path / name) for name in ("a1.warc", "a[1].warc", "b[2]/c.warc")]
    for name in names:
        Path(name).write_bytes(b"")
    assert list_archives(names[1]) == [names[1]]
    assert list_archives(str(tmp_path / "b[2]")) == [names[2]]
    assert list_archives([str(tmp_path / "a[12].warc"), str(tmp_path / "b?2?/*")]) == [names[0], names[2]]
    fsspec.filesystem("memory").pipe({"/d/a[1].warc": b"", "/d/a1.warc": b""})
    assert list_archives(["memory://d/a[1].warc", "memory://d/a[0-1].warc"]) == [
        "memory:///d/a[1].warc",
        "memory:///d/a1.warc",
    ]


def test_a_file_that_fails_is_an_error_and_an_interrupt_is_raised() -> None:
    class Failing(io.BytesIO):
        name = "disk.warc"
        raised: BaseException = OSError("the disk is gone")

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            if not data:
                raise self.raised
            return data

    # The record is so long that the first one is complete before the file fails.
    whole = record(response(b"<a href=x>" + b" " * (1 << 20)))
    file = Failing(whole + whole[:-99])
    found = rows([file, io.BytesIO(whole)])
    assert [(row["reference"], row["error"]) for row in found] == [
        ("x", None),
        (None, "OSError: the disk is gone"),
        ("x", None),
    ]
    file = Failing(whole)
    file.raised = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        list(link_batches(file))


def test_wrong_arguments_are_raised_at_once() -> None:
    for read in (link_batches, rewrite_batches, link_rows):
        with pytest.raises(TypeError, match="colour"):
            read([], colour="red")
        with pytest.raises(TypeError, match="format"):
            read([], format="html")
        with pytest.raises(ValueError, match="rfc9999"):
            read([], resolver="rfc9999")


def test_memory_does_not_grow_with_the_archive() -> None:
    member = archive(record(response(b"<p>%b</p>" % (b"<a href=../some/page.html>x</a>" * 300))))

    class Repeated(io.RawIOBase):
        """A file that repeats the same record."""

        def __init__(self, times: int) -> None:
            self.members = itertools.repeat(member, times)

        def read(self, size: int = -1) -> bytes:
            assert size > len(member)
            return next(self.members, b"")

    def peak(times: int) -> int:
        assert sum(batch.num_rows for batch in link_batches(Repeated(times))) == 300 * times
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

    before = peak(500)
    assert peak(10_000) - before < 32 << 20
