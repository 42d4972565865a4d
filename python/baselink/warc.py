"""Web archives: the links of their documents, or the documents with absolute links, in record batches of Arrow.

    for batch in baselink.warc.link_batches(["crawl.warc.gz", "s3://bucket/other.warc.gz"], resolver="whatwg"):
        ...

An archive is a path, a URL for fsspec or a binary file, and has WARC (ISO 28500, compressed or not) or, where its name
ends with `.wacz`, WACZ. The rows are those of `baselink links --json`, in their order, and those with an `error`:

- with `offset`, what is unexpected in the archive there, or why a body could not be read. Reading went on with the next
  record.
- without `offset`, why the archive of that `path` could not be opened or read on. Others go on.

Memory grows with the largest record and not with the archive. The reader is that of the Rust library, in every wheel.

Deliberately absent: ARC, for which a row says what to do; HAR and `.webarchive`, which the command reads; diagnostics of documents.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import IO, Any, NamedTuple, cast

import fsspec
import pyarrow as pa

from ._baselink import archive_documents, archive_links
from .arrow import _LINK_FIELDS, _batch

__all__ = ["DOCUMENTS", "LINKS", "ArchiveLink", "link_batches", "link_rows", "list_archives", "rewrite_batches"]

Archive = str | os.PathLike[str] | IO[bytes]
"""A path, a URL for fsspec, or a file that is open for reading bytes."""

_RECORD_FIELDS = [
    pa.field("record", pa.string()),
    pa.field("offset", pa.int64()),
    pa.field("within", pa.int64()),
    pa.field("url", pa.string()),
    pa.field("media_type", pa.string()),
]
_PATH, _ERROR = pa.field("path", pa.string()), pa.field("error", pa.string())

LINKS = pa.schema([_PATH, *(field.with_nullable(True) for field in _LINK_FIELDS), *_RECORD_FIELDS, _ERROR])
"""The columns of `link_batches`: the fields of `ArchiveLink`."""

DOCUMENTS = pa.schema(
    [_PATH, *_RECORD_FIELDS, pa.field("document", pa.binary()), pa.field("rewritten", pa.int64()), _ERROR]
)
"""The columns of `rewrite_batches`: those of the record, the document with absolute links and without the response that
brought it, and how many links were rewritten."""

ARCHIVE_NAMES = (".warc", ".warc.gz", ".wacz")
"""How the names of archives in a folder end."""
_WACZ_MEMBER = re.compile(r"archive/[^/\\]*\.warc(\.gz)?")
_SURROGATE = re.compile("[\ud800-\udfff]")


class ArchiveLink(NamedTuple):
    """A link of a document in an archive. Where there is an `error`, all but `path`, `offset` and `within` is None."""

    path: str
    """The archive. In WACZ, the archive in it: `x.wacz/archive/data.warc.gz`. What of its name is not UTF-8 is U+FFFD."""
    entity: str | None
    line: int | None
    column: int | None
    start: int | None
    end: int | None
    element: str | None
    attribute: str | None
    reference: str | None
    base: str | None
    rule: str | None
    source: str | None
    target: str | None
    role: str | None
    outcome: str | None
    reason: str | None
    record: str | None
    """The id of the record."""
    offset: int | None
    """Where the record begins in the file: its gzip member, where the archive is compressed."""
    within: int | None
    """How many inflated bytes of that member come before the record."""
    url: str | None
    """From where the document was retrieved."""
    media_type: str | None
    """What it is, without parameters."""
    error: str | None
    """What is unexpected in the archive, or why it cannot be read: its kind, a colon, and a sentence."""


def link_rows(
    archives: Archive | Iterable[Archive], *, storage_options: dict[str, Any] | None = None, **options: Any
) -> Iterator[ArchiveLink]:
    """The links of the documents in `archives`, one by one. It takes what `link_batches` takes, and twice as long."""
    return _rows(link_batches(archives, storage_options=storage_options, **options))


def link_batches(
    archives: Archive | Iterable[Archive], *, storage_options: dict[str, Any] | None = None, **options: Any
) -> Iterator[pa.RecordBatch]:
    """The links of the documents in `archives`, in batches with the columns `LINKS`.

    `storage_options` are for fsspec (`{"anon": True}` for public data in S3), `options` those of `baselink.links` but
    `format`. The archives are opened one after the other.
    """
    return _batches(archive_links, LINKS, archives, storage_options, options)


def rewrite_batches(
    archives: Archive | Iterable[Archive], *, storage_options: dict[str, Any] | None = None, **options: Any
) -> Iterator[pa.RecordBatch]:
    """The documents in `archives` with their links made absolute, in batches with the columns `DOCUMENTS`.

    It takes what `link_batches` takes. Documents in which nothing changes are there, too.
    """
    return _batches(archive_documents, DOCUMENTS, archives, storage_options, options)


def list_archives(patterns: str | Iterable[str], *, storage_options: dict[str, Any] | None = None) -> list[str]:
    """The archives that are meant by `patterns`, paths or URLs for fsspec: of a folder the `.warc`, `.warc.gz` and
    `.wacz` in it, of a pattern with `*`, `?` or `[` that no file has for a name the files that match. What is neither is
    taken as it is.

    Raises FileNotFoundError where a folder or a pattern gives nothing.
    """
    found: list[str] = []
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        found += _listed(pattern, storage_options or {})
    return found


def _listed(pattern: str, storage_options: dict[str, Any]) -> list[str]:
    if pattern.startswith(("http://", "https://")):
        return [pattern]
    files, path = fsspec.core.url_to_fs(pattern, **storage_options)
    if any(one in path for one in "*?[") and not files.exists(path):
        found = sorted(files.glob(path))
    elif files.isdir(path):
        found = sorted(name for name in files.find(path) if name.lower().endswith(ARCHIVE_NAMES))
    else:
        found = [path]
    if not found:
        raise FileNotFoundError(f"{pattern}: there are no archives")
    return found if "file" in files.protocol else [files.unstrip_protocol(name) for name in found]


def _rows(batches: Iterator[pa.RecordBatch]) -> Iterator[ArchiveLink]:
    for batch in batches:
        yield from map(ArchiveLink._make, zip(*(column.to_pylist() for column in batch.columns), strict=True))


_Read = Callable[..., Iterable[Any]]
"""Reads a WARC file, a path or a binary file, in batches: `archive_links` or `archive_documents`."""


def _batches(
    read: _Read,
    schema: pa.Schema,
    archives: Archive | Iterable[Archive],
    storage_options: dict[str, Any] | None,
    options: dict[str, Any],
) -> Iterator[pa.RecordBatch]:
    read(io.BytesIO(), "", **options)  # Raises for arguments, before anything is read.
    is_one = isinstance(archives, (str, os.PathLike)) or hasattr(archives, "read")
    several = cast("Iterable[Archive]", [archives] if is_one else archives)
    return (
        batch
        for archive in several
        for batch in _in_archive(read, schema, _name(archive), partial(_open, archive, storage_options or {}), options)
    )


def _name(archive: Archive) -> str:
    name = os.fspath(archive) if isinstance(archive, (str, os.PathLike)) else getattr(archive, "name", "-")
    return _text(os.fsdecode(name) if isinstance(name, bytes) else str(name))


def _text(name: str) -> str:
    """A name in which Python may keep bytes that are not UTF-8, as Arrow and the records of the command have it."""
    return _SURROGATE.sub("\ufffd", name)


def _open(archive: Archive, storage_options: dict[str, Any]) -> AbstractContextManager[Any]:
    """The archive as a file, or its path where it is on this machine."""
    if isinstance(archive, str) and ("://" in archive or archive.startswith("file:")):
        opened: AbstractContextManager[Any] = fsspec.open(archive, "rb", **storage_options)
        return opened
    return nullcontext(archive)


def _in_archive(
    read: _Read, schema: pa.Schema, path: str, open: Callable[[], AbstractContextManager[Any]], options: dict[str, Any]
) -> Iterator[pa.RecordBatch]:
    try:
        with open() as file:
            if path.lower().endswith(".wacz"):
                yield from _in_wacz(read, schema, path, file, options)
            else:
                for columns in read(file, path, **options):
                    yield _batch(schema, columns)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 (file systems raise what they like)
        row = {"path": path, "error": _text(f"{type(error).__name__}: {error}")}
        yield pa.RecordBatch.from_pylist([row], schema=schema)


def _in_wacz(read: _Read, schema: pa.Schema, path: str, file: Any, options: dict[str, Any]) -> Iterator[pa.RecordBatch]:
    """The archives in a ZIP archive (Web Archive Collection Zipped 1.1.1, 4)."""
    with zipfile.ZipFile(file) as wacz:
        names = [name for name in wacz.namelist() if _WACZ_MEMBER.fullmatch(name)]
        if not names:
            raise zipfile.BadZipFile("not a WACZ file: it has no WARC file in its folder archive/")
        for name in names:
            yield from _in_archive(read, schema, f"{path}/{name}", partial(wacz.open, name), options)
