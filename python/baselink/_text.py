"""Replacements for functions of w3lib and lxml."""

from __future__ import annotations

from typing import TYPE_CHECKING, AnyStr, Literal
from urllib.parse import urljoin

from ._baselink import base, rewrite

if TYPE_CHECKING:
    from ._types import Resolver


def get_base_url(text: str | bytes, baseurl: str | bytes = "", encoding: str | None = None) -> str:
    """The base URL of an HTML document that was retrieved from `baseurl`; a replacement for w3lib's function.

    The base is resolved as in browsers (resolver="whatwg"). If the document declares no base, `baseurl` is returned
    unchanged. If `baseurl` is relative, a relative base is joined to it by `urllib.parse.urljoin`. If `text` is bytes,
    `encoding` is the Python codec that decodes it; without `encoding`, the encoding is detected as in a browser.

    Raises TypeError if `text` is neither str nor bytes, and LookupError for an unknown `encoding`.

    >>> import baselink
    >>> baselink.get_base_url('<title><base href="/no/"></title><base href="/yes/">', "http://h.example/")
    'http://h.example/yes/'
    """
    if isinstance(text, bytes) and encoding is not None:
        text = text.decode(encoding, "replace")
    retrieval = baseurl.decode("utf-8", "replace") if isinstance(baseurl, bytes) else baseurl
    try:
        found = base(text, retrieval, format="html", resolver="whatwg")
    except ValueError:  # `baseurl` is not absolute.
        found = base(text, format="html", resolver="whatwg")
    if found.base is not None and found.source != "retrieval":
        return found.base
    first = found.chain[0]
    if found.base is None and first.status == "passed-over" and first.value is not None:
        try:
            return urljoin(retrieval, first.value)
        except ValueError:
            pass
    return retrieval


def make_links_absolute(
    html: AnyStr,
    base_url: str | None = None,
    handle_failures: Literal["ignore"] | None = None,
    *,
    resolver: Resolver = "whatwg",
) -> AnyStr:
    """The HTML document with every relative link made absolute; a replacement for lxml.html's function.

    References are resolved as in browsers, unless `resolver` says otherwise. The base element counts, and stays, with an
    absolute href; lxml removes it. If a reference has no target, nothing is raised and the link stays, as with
    handle_failures="ignore".

    Raises ValueError if `base_url` is not absolute, or for another value of `handle_failures` or `resolver`, and TypeError
    for a wrong type.

    >>> import baselink
    >>> baselink.make_links_absolute('<img srcset="x 2x">', "http://h.example/")
    '<img srcset="http://h.example/x 2x">'
    """
    if handle_failures not in ("ignore", None):
        raise ValueError(f"handle_failures is 'ignore' or None, and not {handle_failures!r}: no attribute is taken out")
    return rewrite(html, base_url, format="html", resolver=resolver)
