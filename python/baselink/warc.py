"""Web archives: the links of their documents, the documents with absolute links, or the captures, in Arrow record batches.

    for batch in baselink.warc.link_batches(["crawl.warc.gz", "s3://bucket/other.warc.gz"], resolver="whatwg"):
        ...

An archive is a path, a URL for fsspec or a binary file. The command reads the same formats, by the same code: WARC
(ISO 28500, compressed or not), WACZ, HAR and `.webarchive`. The rows are those of `baselink links --json`, in the same
order, and problems:

- A row of the level "warning" reports an anomaly of the archive at its `offset`, or a body that could not be read.
  Reading goes on with the next record.
- A row of the level "error" reports that the archive at `path` could not be opened or read to its end, or that a text is
  too long for a column. Reading goes on with the next archive.

Memory grows with the largest record, or with the whole of a HAR file or `.webarchive`. WACZ and other ZIP files are read
from their ends, so those that are not on this machine are copied to a temporary file first.

Deliberately absent: ARC, for which a row says how to convert it; diagnostics of documents.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast, get_args

try:
    import fsspec
    import pyarrow as pa
except ImportError:
    raise ImportError("baselink.warc needs pyarrow and fsspec: pip install 'baselink[warc]'")

from ._baselink import archive_rows, detect
from ._types import ArchiveFormat
from .arrow import _LINK_FIELDS, _batch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import ArchiveOptions, Kind, Outcome, Reason, Role, Rule

__all__ = [
    "CAPTURES",
    "DOCUMENTS",
    "LINKS",
    "ArchiveCapture",
    "ArchiveLink",
    "capture_batches",
    "capture_rows",
    "link_batches",
    "link_rows",
    "list_archives",
    "rewrite_batches",
]

Archive = str | os.PathLike[str] | IO[bytes]
"""A path, a URL for fsspec, or a file that is open for reading bytes."""

_RECORD_FIELDS = [
    pa.field("record", pa.string()),
    pa.field("offset", pa.int64()),
    pa.field("within", pa.int64()),
    pa.field("url", pa.string()),
    pa.field("media_type", pa.string()),
    pa.field("url_key", pa.string()),
]
_PATH = pa.field("path", pa.string())
_PROBLEM = [pa.field("level", pa.string()), pa.field("error", pa.string())]

_TARGET_KEY = pa.field("target_key", pa.string())

LINKS = pa.schema(
    [_PATH, *(field.with_nullable(True) for field in _LINK_FIELDS), *_RECORD_FIELDS, _TARGET_KEY, *_PROBLEM]
)
"""The columns of `link_batches`: the fields of `ArchiveLink`."""

DOCUMENTS = pa.schema(
    [_PATH, *_RECORD_FIELDS, pa.field("document", pa.binary()), pa.field("rewritten", pa.int64()), *_PROBLEM]
)
"""The columns of `rewrite_batches`: those of the record, the document with absolute links but without its HTTP heading,
and the number of rewritten links."""

CAPTURES = pa.schema(
    [
        _PATH,
        *_RECORD_FIELDS,
        pa.field("length", pa.int64()),
        pa.field("status", pa.int64()),
        *(pa.field(name, pa.string()) for name in ("method", "date", "digest", "location")),
        _TARGET_KEY,
        *(pa.field(name, pa.string()) for name in ("body", "body_ids", "exchange")),
        *_PROBLEM,
    ]
)
"""The columns of `capture_batches`: the fields of `ArchiveCapture`."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class ArchiveLink(NamedTuple):
    """A link of a document in an archive, or an `error`.

    A row with an `error` has no other values but `path`, `offset`, `within` and `level`, with one exception: the error
    `too-long` marks a link with a text that is None because it is too long for a column of Arrow.
    """

    path: str
    """The archive; in WACZ the file inside, such as `x.wacz/archive/data.warc.gz`. Bytes beyond UTF-8 become U+FFFD."""
    entity: str | None
    line: int | None
    column: int | None
    start: int | None
    end: int | None
    element: str | None
    attribute: str | None
    reference: str | None
    base: str | None
    rule: Rule | None
    source: str | None
    target: str | None
    role: Role | None
    outcome: Outcome | None
    reason: Reason | None
    kind: Kind | None
    rel: str | None
    record: str | None
    """The ID of the record."""
    offset: int | None
    """The offset of the record in the file; in a compressed archive, the offset of its member; in HAR and `.webarchive`, the
    number of the entry."""
    within: int | None
    """The offset of the record in the inflated bytes of that member."""
    url: str | None
    """The URL from which the document was retrieved."""
    media_type: str | None
    """The media type of the document, without parameters."""
    url_key: str | None
    """`baselink.capture_key` of `url`."""
    target_key: str | None
    """`baselink.capture_key` of `target`, which equals the `url_key` of the captures that the link leads to."""
    level: Literal["warning", "error"] | None
    """The level of the `error`: "warning" if only this record is concerned."""
    error: str | None
    """The anomaly of the archive, or the reason why it cannot be read: its kind, a colon, and a sentence."""


class ArchiveCapture(NamedTuple):
    """The result of retrieving a URL, or a request with another method than GET, or an `error`."""

    path: str
    """The archive, as in `ArchiveLink`."""
    record: str | None
    """The ID of the record."""
    offset: int | None
    """The offset of the record, as in `ArchiveLink`."""
    within: int | None
    """The offset of the record in the inflated bytes of its member."""
    url: str | None
    """The URL that was retrieved."""
    media_type: str | None
    """The media type of the body, without parameters."""
    url_key: str | None
    """`baselink.capture_key` of `url`; None if no link leads to it."""
    length: int | None
    """The number of bytes of the record in the file, with its gzip member: the bytes from `offset` on are an archive of
    one record. None if the member has more records, and in HAR and `.webarchive`."""
    status: int | None
    """The status of the response: 200 if the archive records none, and for a range that is the whole."""
    method: str | None
    """The method, if it is not GET. The response to it has the same `exchange`."""
    date: str | None
    """The time of the capture to the second: 2026-01-31T10:20:30Z."""
    digest: str | None
    """The digest of the payload, as the archive records it."""
    location: str | None
    """The URL to which the response redirects, absolute."""
    target_key: str | None
    """`baselink.capture_key` of `location`."""
    body: Literal["whole", "empty", "cut", "repeated"] | None
    """The state of the body: "cut" if a part of it is missing, "repeated" if another record has it."""
    body_ids: str | None
    """The identifiers of the body, separated by spaces. A "repeated" body is that of a successful capture with one of its
    identifiers, of which the first is the most reliable."""
    exchange: str | None
    """The identifiers of the records about one request and its response, separated by spaces."""
    level: Literal["warning", "error"] | None
    """The level of the `error`, as in `ArchiveLink`."""
    error: str | None
    """The anomaly of the archive, as in `ArchiveLink`."""


def link_rows(
    archives: Archive | Iterable[Archive],
    *,
    storage_options: dict[str, Any] | None = None,
    **options: Unpack[ArchiveOptions],
) -> Iterator[ArchiveLink]:
    """The links of the documents in `archives`, one by one. Has the arguments of `link_batches`; half as fast."""
    return _rows(ArchiveLink._make, link_batches(archives, storage_options=storage_options, **options))


def link_batches(
    archives: Archive | Iterable[Archive],
    *,
    storage_options: dict[str, Any] | None = None,
    **options: Unpack[ArchiveOptions],
) -> Iterator[pa.RecordBatch]:
    """The links of the documents in `archives`, in batches with the columns `LINKS`.

    `storage_options` are passed to fsspec (`{"anon": True}` for public data in S3). `options` are those of
    `baselink.links`, except `format`. The archives are opened one after the other.
    """
    return _batches("links", LINKS, archives, storage_options, options)


def rewrite_batches(
    archives: Archive | Iterable[Archive],
    *,
    storage_options: dict[str, Any] | None = None,
    **options: Unpack[ArchiveOptions],
) -> Iterator[pa.RecordBatch]:
    """The documents in `archives` with their links made absolute, in batches with the columns `DOCUMENTS`.

    Takes the arguments of `link_batches`. Documents in which nothing changes have a row, too.
    """
    return _batches("documents", DOCUMENTS, archives, storage_options, options)


def capture_rows(
    archives: Archive | Iterable[Archive], *, storage_options: dict[str, Any] | None = None
) -> Iterator[ArchiveCapture]:
    """The captures in `archives`, one by one. Has the arguments of `capture_batches`."""
    return _rows(ArchiveCapture._make, capture_batches(archives, storage_options=storage_options))


def capture_batches(
    archives: Archive | Iterable[Archive], *, storage_options: dict[str, Any] | None = None
) -> Iterator[pa.RecordBatch]:
    """The captures in `archives`, in batches with the columns `CAPTURES`: what was retrieved, and where its record is.

    Takes the arguments of `link_batches`, but no options. Records are inflated, and no document is read.
    """
    return _batches("captures", CAPTURES, archives, storage_options, {})


def list_archives(patterns: str | Iterable[str], *, storage_options: dict[str, Any] | None = None) -> list[str]:
    """The archives that match `patterns`, which are paths or URLs for fsspec.

    A folder gives the archives in it, by their names: `.warc`, `.warc.gz`, `.warc.zst`, `.wacz`, `.har`, `.webarchive`. A pattern with `*`, `?` or `[` gives the files that
    match, unless a file has exactly this name. Anything else is returned without a search; a relative path becomes
    absolute.

    Raises FileNotFoundError if a folder or a pattern gives no archive.
    """
    found: list[str] = []
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        found += _listed(pattern, storage_options or {})
    return found


def is_archive(name: str) -> bool:
    """True if a file of this name is an archive."""
    return detect(_text(name), b"") in get_args(ArchiveFormat)


def _listed(pattern: str, storage_options: dict[str, Any]) -> list[str]:
    if pattern.startswith(("http://", "https://")):
        return [pattern]
    files, path = fsspec.core.url_to_fs(pattern, **storage_options)
    if any(one in path for one in "*?[") and not files.exists(path):
        found = sorted(files.glob(path))
    elif files.isdir(path):
        found = sorted(filter(is_archive, files.find(path)))
    else:
        found = [path]
    if not found:
        raise FileNotFoundError(f"{pattern}: there are no archives")
    return found if "file" in files.protocol else [files.unstrip_protocol(name) for name in found]


_Row = TypeVar("_Row")


def _rows(make: Callable[[Iterable[Any]], _Row], batches: Iterator[pa.RecordBatch]) -> Iterator[_Row]:
    for batch in batches:
        yield from map(make, zip(*(column.to_pylist() for column in batch.columns), strict=True))


_Read = Callable[..., Iterable[Any]]
"""`archive_rows` of some kind: reads a WARC file, a path or a binary file, in batches."""


def _batches(
    rows: Literal["links", "documents", "captures"],
    schema: pa.Schema,
    archives: Archive | Iterable[Archive],
    storage_options: dict[str, Any] | None,
    options: Mapping[str, object],
) -> Iterator[pa.RecordBatch]:
    read: _Read = partial(archive_rows, rows)
    read(io.BytesIO(), "", **options)  # Raises for a wrong argument, before anything is read.
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
    """`name` with U+FFFD for each surrogate, with which Python stands in for a byte that is not UTF-8."""
    return _SURROGATE.sub("\ufffd", name)


def _open(archive: Archive, storage_options: dict[str, Any]) -> AbstractContextManager[Any]:
    """The archive as an open file, or its path if it is on this machine."""
    if isinstance(archive, str) and ("://" in archive or archive.startswith("file:")):
        opened: AbstractContextManager[Any] = fsspec.open(archive, "rb", **storage_options)
        return opened
    return nullcontext(archive)


def _in_archive(
    read: _Read,
    schema: pa.Schema,
    path: str,
    open: Callable[[], AbstractContextManager[Any]],
    options: Mapping[str, object],
) -> Iterator[pa.RecordBatch]:
    try:
        with open() as file:
            with _on_disk(file, path) as opened:
                for columns in read(opened, path, **options):
                    yield _batch(schema, columns)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 (file systems of fsspec may raise any exception)
        row = {"path": path, "level": "error", "error": _text(f"{type(error).__name__}: {error}")}
        yield pa.RecordBatch.from_pylist([row], schema=schema)


@contextmanager
def _on_disk(file: Any, path: str) -> Iterator[Any]:
    """The archive `path` as a file that can be read from its end, if its name is that of a ZIP file."""
    if not (hasattr(file, "read") and path.lower().endswith((".wacz", ".zip"))):
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "archive")
        with open(copy, "wb") as written:
            shutil.copyfileobj(file, written)
        yield copy
