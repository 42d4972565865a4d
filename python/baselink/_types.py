"""What the functions take and return. Results are NamedTuples, which pickle, unpack and compare as tuples do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypedDict


class Options(TypedDict, total=False):
    """The keyword arguments of every function that takes a document. None means what is done without the argument.

    format            what it is: "html", "xhtml", "svg", "xml", "css", "message", "mbox", "http"; also "script" with
                      enable="scripts" and "manifest" with enable="manifest". By default its first bytes say it.
    charset           its encoding, by a label of the Encoding Standard; a byte order mark counts more
    resolver          "rfc1808" (default), "rfc3986", or "whatwg" to resolve as browsers do
    fragments         what becomes of "#x": "rewrite" (default), "keep", or "auto" to rewrite it only where a browser would
                      leave the page; "auto" is the default in a page that says that it was saved
    base_element      what becomes of the href of a base element: "absolute" (default), "keep"
    enable            groups of further places that count as links, such as "lazy", or "all"
    attributes        further attributes that count as links, such as "*[data-src]=url"; the syntax is url, urls, srcset,
                      css or html
    local_copies      links to files that a browser saved with a page: "keep" (default) or "rewrite"
    assume_scheme     the scheme of "//host/x" where there is no base
    content_location  whether the field Content-Location may be a base: "base" (default) or "label"
    dkim              what becomes of messages with a DKIM or ARC signature: "rewrite" (default) or "keep"
    """

    format: str | None
    charset: str | None
    resolver: Literal["rfc1808", "rfc3986", "whatwg"] | None
    fragments: Literal["rewrite", "keep", "auto"] | None
    base_element: Literal["absolute", "keep"] | None
    enable: str | Iterable[str] | None
    attributes: str | Iterable[str] | None
    local_copies: Literal["keep", "rewrite"] | None
    assume_scheme: str | None
    content_location: Literal["base", "label"] | None
    dkim: Literal["rewrite", "keep"] | None


class Link(NamedTuple):
    """A link of a document, and what `rewrite` makes of it. The fields are the keys of `baselink links --json`."""

    entity: str
    """The document or message in the file: "" for the outermost one, "1.2" for a body part."""
    line: int
    """Its line, counted from 1."""
    column: int
    """Its column, counted from 1, in bytes."""
    start: int
    """Where its bytes begin in the data; where it is encoded there, those that hold it."""
    end: int
    """Where they end."""
    element: str | None
    """The element; None in a style sheet."""
    attribute: str | None
    """The attribute; None in text."""
    reference: str
    """The reference, as written."""
    base: str | None
    """The base URL that it is resolved against."""
    rule: str
    """The rule of RFC 1808, section 3, that gave the base: "3.1" to "3.4"."""
    source: str
    """What gave it: "base-element", "retrieval" and so on."""
    target: str | None
    """Where it leads; None where that is unknown."""
    role: str
    """What it is to the document: "embedded", "navigation" or "metadata"."""
    outcome: str
    """What `rewrite` makes of it: "rewritten", "absolute", "no-base", "left" or "not-editable"."""
    reason: str | None
    """Why, for "left" and "not-editable"."""


class Diagnostic(NamedTuple):
    """An anomaly of a document."""

    code: str
    """Its kind."""
    message: str
    """A sentence for people."""
    line: int
    """Its line, counted from 1."""
    column: int
    """Its column, counted from 1, in bytes."""
    start: int
    """Where its bytes begin in the data."""
    end: int
    """Where they end."""


class Rewritten(NamedTuple):
    """A rewritten document."""

    output: bytes
    """Its bytes."""
    links: list[Link]
    """Every link, in the order of the document."""
    counts: dict[str, int]
    """How many links had each outcome."""
    diagnostics: list[Diagnostic]
    """Every anomaly."""


class Level(NamedTuple):
    """A place where a base may be declared (RFC 1808, section 3), and what was found there."""

    entity: str
    """The document or message that declares it."""
    rule: str
    """Its rule: "3.1" to "3.4"."""
    source: str
    """What declares it."""
    value: str | None
    """The value as written."""
    status: str
    """What came of it: "taken", "passed-over", "absent" or "invalid"."""
    reason: str
    """Why."""


class Base(NamedTuple):
    """The base URL of a document. `str()` explains it."""

    url: str | None
    """The base URL; None where there is none."""
    rule: str
    """The rule that gave it: "3.1" to "3.4"."""
    source: str
    """What gave it."""
    levels: list[Level]
    """Every level, innermost first."""

    def __str__(self) -> str:
        lines = [f"base: {self.url or 'none'} ({self.rule} {self.source})"]
        for level in self.levels:
            value = "" if level.value is None else f"{level.value}: "
            lines.append(f"  {level.rule} {level.source}: {value}{level.status}, {level.reason}")
        return "\n".join(lines)
