"""Finds the base URL of a document, and makes its links absolute, changing only the bytes of URLs.

>>> import baselink
>>> baselink.rewrite(b'<a href="../x.html">', "http://h.example/a/b.html")
b'<a href="http://h.example/x.html">'

Documents are bytes or str: HTML, XHTML, SVG, CSS, feeds, MIME messages, mailboxes and HTTP responses. The format is detected
from the first bytes. References are resolved by RFC 1808; `resolver="whatwg"` resolves them as browsers do.
"""

from ._baselink import (
    __version__,
    base,
    capture_key,
    detect,
    iter_links,
    link_columns,
    links,
    messages,
    relativize,
    resolve,
    rewrite,
    rewrite_links,
    rewrite_report,
)
from ._text import get_base_url, make_links_absolute
from ._types import (
    ArchiveFormat,
    ArchiveOptions,
    Base,
    Diagnostic,
    Format,
    Group,
    Kind,
    Level,
    Link,
    Options,
    Outcome,
    Reason,
    Resolver,
    Rewritten,
    RewrittenText,
    Role,
    Rule,
    Status,
)

__all__ = [
    "ArchiveFormat",
    "ArchiveOptions",
    "Base",
    "Diagnostic",
    "Format",
    "Group",
    "Kind",
    "Level",
    "Link",
    "Options",
    "Outcome",
    "Reason",
    "Resolver",
    "Rewritten",
    "RewrittenText",
    "Role",
    "Rule",
    "Status",
    "__version__",
    "base",
    "capture_key",
    "detect",
    "get_base_url",
    "iter_links",
    "link_columns",
    "links",
    "make_links_absolute",
    "messages",
    "relativize",
    "resolve",
    "rewrite",
    "rewrite_links",
    "rewrite_report",
]
