"""`baselink.arrow`: the links of many documents as record batches."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from archives import skip_file

import baselink

try:
    import pyarrow as pa

    from baselink.arrow import LINKS, link_batches
except ImportError as error:
    skip_file(error)

PAGES = [
    (b"<a href=x><img src=''>", "http://h.example/a/"),
    b"<a href=y>",
    (b"<img srcset='i.png 2x'>", None),
    (b"no link", "http://h.example/"),
    (bytearray(b"<p>\n<a href='&eacute;?q'>"), "http://h.example/a/"),
]


def test_a_row_is_a_link() -> None:
    [batch] = link_batches(PAGES)
    expected = []
    for number, page in enumerate(PAGES):
        data, url = page if isinstance(page, tuple) else (page, None)
        expected += [{"document": number, **link._asdict()} for link in baselink.links(data, url)]
    assert batch.to_pylist() == expected
    assert [row["target"] for row in expected] == ["http://h.example/a/x", None, None, None, "http://h.example/a/é?q"]
    batch.validate(full=True)


def test_the_columns_are_the_fields_of_a_link() -> None:
    assert LINKS.names == ["document", *baselink.Link._fields]
    [batch] = link_batches([b"<a href=x>"])
    assert batch.schema == LINKS
    assert {field.type for field in LINKS} == {pa.string(), pa.int64()}
    nullable = ["element", "attribute", "base", "target", "reason", "rel"]
    assert [field.name for field in LINKS if field.nullable] == nullable


def test_batches_are_bounded_and_documents_are_taken_one_by_one() -> None:
    taken = 0

    def pages() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield b"<a href=x>" * 1_000

    batches = link_batches(pages())
    first = next(batches)
    assert (first.num_rows, taken) == (4_096, 5)
    rest = list(batches)
    assert first.num_rows + sum(batch.num_rows for batch in rest) == 100_000
    assert max(batch.num_rows for batch in rest) == 4_096
    assert rest[-1]["document"][-1].as_py() == 99


def test_long_texts_complete_a_batch() -> None:
    page = b"<a href='" + b"x" * (1 << 20) + b"'>"
    batches = list(link_batches([page] * 20))
    assert [batch.num_rows for batch in batches] == [16, 4]


def test_without_links_there_is_no_batch() -> None:
    assert list(link_batches([])) == []
    assert list(link_batches([b"", b"<p>"])) == []


def test_wrong_arguments_are_raised_at_once() -> None:
    with pytest.raises(TypeError, match="colour"):
        link_batches([], colour="red")
    with pytest.raises(ValueError, match="rfc9999"):
        link_batches([], resolver="rfc9999")
    with pytest.raises(TypeError, match="int"):
        list(link_batches([3]))  # type: ignore[list-item]


def test_an_exception_of_the_documents_is_raised() -> None:
    def pages() -> Iterator[bytes]:
        yield b"<a href=x>"
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        list(link_batches(pages()))
