from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from typing import Protocol, TypeAlias, final, overload

from typing_extensions import Buffer, Self, Unpack

from ._types import ArchiveFormat, ArchiveOptions, Base, Format, Link, Options, Resolver, Rewritten, RewrittenText

__all__ = [
    "INTENDED",
    "ArchiveColumns",
    "LinkColumns",
    "LinkIterator",
    "Messages",
    "__version__",
    "archive_rows",
    "base",
    "capture_key",
    "command",
    "detect",
    "iter_links",
    "link_columns",
    "links",
    "messages",
    "relativize",
    "resolve",
    "rewrite",
    "rewrite_links",
    "rewrite_report",
]

__version__: str
INTENDED: frozenset[str]
"""The reasons that `--strict` accepts."""

class _Readable(Protocol):
    def read(self, length: int, /) -> Buffer: ...

_File: TypeAlias = str | PathLike[str] | _Readable
_Data: TypeAlias = str | Buffer

@overload
def rewrite(data: str, /, url: str | None = None, **options: Unpack[Options]) -> str: ...
@overload
def rewrite(data: Buffer, /, url: str | None = None, **options: Unpack[Options]) -> bytes: ...
@overload
def rewrite_links(
    data: str, function: Callable[[Link], str | None], /, url: str | None = None, **options: Unpack[Options]
) -> str: ...
@overload
def rewrite_links(
    data: Buffer, function: Callable[[Link], str | None], /, url: str | None = None, **options: Unpack[Options]
) -> bytes: ...
@overload
def rewrite_report(data: str, /, url: str | None = None, **options: Unpack[Options]) -> RewrittenText: ...
@overload
def rewrite_report(data: Buffer, /, url: str | None = None, **options: Unpack[Options]) -> Rewritten: ...
def links(data: _Data, /, url: str | None = None, **options: Unpack[Options]) -> list[Link]: ...
def iter_links(
    documents: Iterable[_Data | tuple[_Data, str | None]], /, **options: Unpack[Options]
) -> LinkIterator: ...
def base(data: _Data, /, url: str | None = None, **options: Unpack[Options]) -> Base: ...
def resolve(base: str, reference: str, *, resolver: Resolver = "rfc1808") -> str: ...
def relativize(base: str, target: str, *, resolver: Resolver = "rfc1808") -> str: ...
def capture_key(url: str, /) -> str | None: ...
def detect(name: str | None, head: Buffer) -> Format | ArchiveFormat: ...
def command(typed: list[str], /) -> int: ...
def messages(file: _Readable, /) -> Messages: ...

@final
class LinkIterator(Iterator[tuple[int, Link]]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[int, Link]: ...

@final
class Messages(Iterator[bytes]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> bytes: ...

# A batch of columns: its number of rows, and for each column the number of absent values and the buffers.

_Batch: TypeAlias = tuple[int, tuple[tuple[int, tuple[bytes | None, ...]], ...]]

def link_columns(
    documents: Iterable[_Data | tuple[_Data, str | None]], /, **options: Unpack[Options]
) -> LinkColumns: ...
def archive_rows(rows: str, file: _File, path: str, /, **options: Unpack[ArchiveOptions]) -> ArchiveColumns: ...

@final
class LinkColumns(Iterator[_Batch]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> _Batch: ...

@final
class ArchiveColumns(Iterator[_Batch]):
    def __iter__(self) -> Self: ...
    def __next__(self) -> _Batch: ...
