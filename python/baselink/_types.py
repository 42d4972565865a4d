"""Types of options and results. Results are NamedTuples, which can be pickled, unpacked and compared like tuples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypedDict


class Options(TypedDict, total=False):
    """The keyword arguments of every function that takes a document. None means the default.

    format            the format: "html", "xhtml", "svg", "xml", "css", "message", "mbox", "http"; also "script" with
                      enable="scripts", "manifest" and "jsonfeed" with enable="manifest"; detected from the first bytes by
                      default, and text in no known format is HTML
    charset           the encoding, by a label of the Encoding Standard; a byte order mark takes precedence
    resolver          "rfc1808" (default), "rfc3986", or "whatwg" to resolve as browsers do
    fragments         the treatment of "#x": "rewrite" (default), "keep", or "auto" to rewrite it only if a browser
                      would leave the page; "auto" is the default in a page that says that it was saved
    base_element      the treatment of the href of a base element: "absolute" (default) or "keep"
    enable            groups of further places that count as links, such as "lazy", or "all"
    attributes        further attributes that count as links, such as "*[data-src]=url"; the syntax is url, urls,
                      srcset, css or html
    local_copies      the treatment of links to files that a browser saved with a page: "keep" (default), "rewrite"
    assume_scheme     the scheme of "//host/x" in a document without a base; without it, such links are left
    content_location  the use of the field Content-Location: "base" (default), or "label" if it is never a base
    dkim              the treatment of messages with a DKIM or ARC signature: "rewrite" (default) or "keep"
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
    """A link of a document, with its outcome in `rewrite`. The fields are the keys of `baselink links --json`."""

    entity: str
    """The document or message in the data: "" for the outermost one, "1.2" for a body part."""
    line: int
    """The line, counted from 1."""
    column: int
    """The column, counted from 1, in bytes."""
    start: int
    """The offset in the data at which the bytes of the reference, as encoded there, begin."""
    end: int
    """The offset at which these bytes end."""
    element: str | None
    """The element; None in a style sheet."""
    attribute: str | None
    """The attribute; None in text."""
    reference: str
    """The reference, as written."""
    base: str | None
    """The base URL that the reference is resolved against."""
    rule: str
    """The rule of RFC 1808, section 3, that gave the base: "3.1" to "3.4"."""
    source: str
    """The source of the base: "base-element", "retrieval" and so on."""
    target: str | None
    """The URL that the link leads to; None if it is unknown."""
    role: str
    """The role of the link in the document: "embedded", "navigation" or "metadata"."""
    outcome: str
    """The outcome in `rewrite`: "rewritten", "absolute", "no-base", "left" or "not-editable"."""
    reason: str | None
    """The reason for "left" and "not-editable"."""
    kind: str
    """The kind of target that the place asks for: "document", "frame", "image", "script", "style", "media", "object" or
    "other"."""
    rel: str | None
    """The value of the attribute `rel` of the element."""


class Diagnostic(NamedTuple):
    """An anomaly of a document."""

    code: str
    """The kind of the anomaly."""
    message: str
    """A sentence for people."""
    line: int
    """The line, counted from 1."""
    column: int
    """The column, counted from 1, in bytes."""
    start: int
    """The offset in the data at which the affected bytes begin."""
    end: int
    """The offset at which they end."""


class Rewritten(NamedTuple):
    """A rewritten document."""

    output: bytes
    """The bytes of the document with absolute links."""
    links: list[Link]
    """Every link, in the order of the document."""
    counts: dict[str, int]
    """The number of links with each outcome."""
    diagnostics: list[Diagnostic]
    """Every anomaly."""


class Level(NamedTuple):
    """A place where a base may be declared (RFC 1808, section 3), and the base found there."""

    entity: str
    """The document or message that declares the base."""
    rule: str
    """The rule: "3.1" to "3.4"."""
    source: str
    """The source: "base-element", "retrieval" and so on."""
    value: str | None
    """The value, as written."""
    status: str
    """The result: "taken", "passed-over", "absent" or "invalid"."""
    reason: str
    """The reason for the result, for people."""


class Base(NamedTuple):
    """The base URL of a document. `str()` explains it."""

    base: str | None
    """The base URL; None if there is none."""
    rule: str
    """The rule that gave it: "3.1" to "3.4"."""
    source: str
    """The source that gave it: "base-element", "retrieval" and so on."""
    chain: list[Level]
    """Every level, innermost first."""

    def __str__(self) -> str:
        lines = [f"base: {self.base or 'none'} ({self.rule} {self.source})"]
        for level in self.chain:
            value = "" if level.value is None else f"{level.value}: "
            lines.append(f"  {level.rule} {level.source}: {value}{level.status}, {level.reason}")
        return "\n".join(lines)
