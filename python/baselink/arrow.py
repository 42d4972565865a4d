"""The links of many documents as Arrow record batches, without a Python object for each link.

>>> import baselink.arrow
>>> pages = [(b"<a href=x>", "http://h.example/"), (b"<a href=y>", None)]
>>> for batch in baselink.arrow.link_batches(pages):
...     print(batch.select(["document", "reference", "target"]).to_pylist())
[{'document': 0, 'reference': 'x', 'target': 'http://h.example/x'}, {'document': 1, 'reference': 'y', 'target': None}]

The columns are those of `LINKS`. A text of 2,032 MiB or more is null, because it may not fit into a column of
strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

try:
    import pyarrow as pa
except ImportError:
    raise ImportError("baselink.arrow needs pyarrow: pip install 'baselink[arrow]'")

from ._baselink import link_columns
from ._types import Link

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

    from ._types import Options

__all__ = ["LINKS", "link_batches"]

_NUMBERS = ("line", "column", "start", "end")
_NULLABLE = ("element", "attribute", "base", "target", "reason", "rel")

_LINK_FIELDS = [
    pa.field(name, pa.int64() if name in _NUMBERS else pa.string(), nullable=name in _NULLABLE) for name in Link._fields
]

LINKS = pa.schema([pa.field("document", pa.int64(), nullable=False), *_LINK_FIELDS])
"""The columns of `link_batches`: the number of the document, counted from 0, and the fields of `baselink.Link`."""


def link_batches(
    documents: Iterable[Buffer | tuple[Buffer, str | None]], **options: Unpack[Options]
) -> Iterator[pa.RecordBatch]:
    """The links of `documents`, pairs of data and URL or data alone, in batches of at most 4,096 links.

    `options` are those of `baselink.links`. Documents are read one at a time, and memory holds only the links that have
    not been returned yet. The buffers of a batch come from the Rust library and are not copied.
    """
    return (_batch(LINKS, columns) for columns in link_columns(documents, **options))


def _batch(schema: pa.Schema, batch: tuple[int, tuple[tuple[int, tuple[bytes | None, ...]], ...]]) -> pa.RecordBatch:
    """The record batch with these buffers."""
    rows, columns = batch
    arrays = [
        pa.Array.from_buffers(of, rows, [None if one is None else pa.py_buffer(one) for one in buffers], absent)
        for of, (absent, buffers) in zip(schema.types, columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
