"""Types of options and results. Results are NamedTuples, which can be pickled, unpacked and compared like tuples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias, TypedDict

from ._baselink import INTENDED

Format: TypeAlias = Literal[
    "html", "xhtml", "svg", "xml", "css", "script", "manifest", "jsonfeed", "message", "mbox", "http", "other"
]
"""The format of a document; "other" has no links."""
ArchiveFormat: TypeAlias = Literal["warc", "wacz", "har", "webarchive"]
"""The format of an archive, which `detect` also finds."""
Resolver: TypeAlias = Literal["rfc1808", "rfc3986", "whatwg"]
"""The rules by which references are resolved; "whatwg" is what browsers do."""
Group: TypeAlias = Literal["social", "lazy", "json", "headers", "text", "manifest", "scripts", "rare"]
"""A group of further places that count as links."""
Rule: TypeAlias = Literal["3.1", "3.2", "3.3", "3.4"]
"""A rule of RFC 1808, section 3."""
Status: TypeAlias = Literal["taken", "passed-over", "absent", "invalid"]
"""The result of a level of the base."""
Role: TypeAlias = Literal["embedded", "navigation", "metadata"]
"""The role of a link in its document."""
Kind: TypeAlias = Literal["document", "frame", "image", "script", "style", "media", "object", "other"]
"""The kind of target that the place of a link asks for."""
Outcome: TypeAlias = Literal["rewritten", "absolute", "no-base", "left", "not-editable"]
"""The outcome of a link in `rewrite`."""
Reason: TypeAlias = Literal[
    "id-reference",
    "empty",
    "placeholder",
    "fragment",
    "entity",
    "base-unusable",
    "unresolvable",
    "base-element",
    "local-copy",
    "no-value",
    "escape",
    "undecodable",
    "encoding",
    "signed",
    "dkim",
    "sibling-part",
    "label",
    "becomes-base",
    "transfer",
    "doubt",
    "custom-property",
    "growth",
    "kept",
    "chosen",
    "nowhere",
]
"""The reason why a link was kept unchanged or could not be edited."""


class ArchiveOptions(TypedDict, total=False):
    """The keyword arguments of every function that reads archives: `Options` without `format`."""

    charset: str | None
    resolver: Resolver | None
    fragments: Literal["rewrite", "keep", "auto"] | None
    base_element: Literal["absolute", "keep"] | None
    enable: Group | Literal["all"] | Iterable[Group | Literal["all"]] | None
    attributes: str | Iterable[str] | None
    local_copies: Literal["keep", "rewrite"] | None
    assume_scheme: str | None
    content_location: Literal["base", "label"] | None
    dkim: Literal["rewrite", "keep"] | None


class Options(ArchiveOptions, total=False):
    """The keyword arguments of every function that takes a document. None means the default.

    format            the format: "html", "xhtml", "svg", "xml", "css", "message", "mbox", "http"; also "script" with
                      enable="scripts", "manifest" and "jsonfeed" with enable="manifest"; detected from the first bytes by
                      default, and text in no known format is HTML; a document of the format "other" has no links
    charset           the encoding, by a label of the Encoding Standard; a byte order mark takes precedence; in str, which is
                      not decoded, the encoding of queries
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

    format: Format | None


class Link(NamedTuple):
    """A link of a document, with its outcome in `rewrite`. The fields are the keys of `baselink links --json`."""

    entity: str
    """The document or message in the data: "" for the outermost one, "1.2" for a body part."""
    line: int
    """The line, counted from 1."""
    column: int
    """The column, counted from 1, in the units of the offsets."""
    start: int
    """The offset in the data at which the reference, as encoded there, begins: in str in characters, and otherwise in bytes."""
    end: int
    """The offset at which it ends."""
    element: str | None
    """The element; None in a style sheet."""
    attribute: str | None
    """The attribute; None in text."""
    reference: str
    """The reference, as written."""
    base: str | None
    """The base URL that the reference is resolved against."""
    rule: Rule
    """The rule of RFC 1808, section 3, that gave the base: "3.1" to "3.4"."""
    source: str
    """The source of the base: "base-element", "retrieval" and so on."""
    target: str | None
    """The URL that the link leads to; None if it is unknown."""
    role: Role
    """The role of the link in the document: "embedded", "navigation" or "metadata"."""
    outcome: Outcome
    """The outcome in `rewrite`: "rewritten", "absolute", "no-base", "left" or "not-editable"."""
    reason: Reason | None
    """The reason for "left" and "not-editable"."""
    kind: Kind
    """The kind of target that the place asks for: "document", "frame", "image", "script", "style", "media", "object" or
    "other"."""
    rel: str | None
    """The value of the attribute `rel` of the element."""

    @property
    def is_intended(self) -> bool:
        """True if `--strict` accepts the outcome: the link leads to its target, keeps its meaning, or was kept on request."""
        return self.outcome not in ("no-base", "not-editable") and (self.reason is None or self.reason in INTENDED)


class Diagnostic(NamedTuple):
    """An anomaly of a document."""

    code: str
    """The kind of the anomaly."""
    message: str
    """A sentence for people."""
    line: int
    """The line, counted from 1."""
    column: int
    """The column, counted from 1, in the units of the offsets."""
    start: int
    """The offset in the data at which the affected part begins, in the units of `Link.start`."""
    end: int
    """The offset at which they end."""


class Rewritten(NamedTuple):
    """A rewritten document."""

    output: bytes
    """The bytes of the document with absolute links."""
    links: list[Link]
    """Every link, in the order of the document."""
    counts: dict[Outcome, int]
    """The number of links with each outcome."""
    reasons: dict[Reason, int]
    """The number of links with each reason that occurs."""
    diagnostics: list[Diagnostic]
    """Every anomaly."""


class RewrittenText(NamedTuple):
    """A rewritten document that is str; `Rewritten` describes the other fields."""

    output: str
    links: list[Link]
    counts: dict[Outcome, int]
    reasons: dict[Reason, int]
    diagnostics: list[Diagnostic]


class Level(NamedTuple):
    """A place where a base may be declared (RFC 1808, section 3), and the base found there."""

    entity: str
    """The document or message that declares the base."""
    rule: Rule
    """The rule: "3.1" to "3.4"."""
    source: str
    """The source: "base-element", "retrieval" and so on."""
    value: str | None
    """The value, as written."""
    status: Status
    """The result: "taken", "passed-over", "absent" or "invalid"."""
    reason: str
    """The reason for the result, for people."""


class Base(NamedTuple):
    """The base URL of a document. `str()` explains it."""

    base: str | None
    """The base URL; None if there is none."""
    rule: Rule
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
