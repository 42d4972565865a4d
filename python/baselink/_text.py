"""Functions that take text, with names of w3lib and lxml.

Text is passed on as UTF-8, whatever encoding it declares; a lone surrogate is passed on as three bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, AnyStr, Literal, overload
from urllib.parse import urljoin

from ._baselink import base, choose_links, rewrite

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

    from ._types import Link, Options, Resolver


def get_base_url(text: str | bytes, baseurl: str | bytes = "", encoding: str | None = None) -> str:
    """The base URL of an HTML document that was retrieved from `baseurl`; a replacement for w3lib's function.

    The base is resolved as in browsers (resolver="whatwg"). If the document declares no base, `baseurl` is returned
    unchanged. If `baseurl` is relative, a relative base is joined to it by `urllib.parse.urljoin`. If `text` is bytes,
    `encoding` is the Python codec that decodes it; without `encoding`, the encoding is detected as in a browser.

    >>> import baselink
    >>> baselink.get_base_url('<title><base href="/no/"></title><base href="/yes/">', "http://h.example/")
    'http://h.example/yes/'
    """
    if isinstance(text, bytes) and encoding is not None:
        text = text.decode(encoding, "replace")
    data, charset = (text, None) if isinstance(text, bytes) else (_encoded(text), "utf-8")
    retrieval = baseurl.decode("utf-8", "replace") if isinstance(baseurl, bytes) else baseurl
    try:
        found = base(data, retrieval, format="html", charset=charset, resolver="whatwg")
    except ValueError:  # `baseurl` is not absolute.
        found = base(data, format="html", charset=charset, resolver="whatwg")
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

    >>> import baselink
    >>> baselink.make_links_absolute('<img srcset="x 2x">', "http://h.example/")
    '<img srcset="http://h.example/x 2x">'
    """
    if handle_failures not in ("ignore", None):
        raise ValueError(f"handle_failures is 'ignore' or None, and not {handle_failures!r}: no attribute is taken out")
    if isinstance(html, bytes):
        return rewrite(html, base_url, format="html", resolver=resolver)
    output = rewrite(_encoded(html), base_url, format="html", charset="utf-8", resolver=resolver)
    return output.decode("utf-8", "surrogatepass")


@overload
def rewrite_links(
    data: str, function: Callable[[Link], str | None], *, url: str | None = None, **options: Unpack[Options]
) -> str: ...
@overload
def rewrite_links(
    data: Buffer, function: Callable[[Link], str | None], *, url: str | None = None, **options: Unpack[Options]
) -> bytes: ...
def rewrite_links(
    data: str | Buffer, function: Callable[[Link], str | None], *, url: str | None = None, **options: Unpack[Options]
) -> str | bytes:
    """The document with the references that `function` returns for its links; no other byte changes.

    `function` gets each link, relative or absolute, that has a target and may be changed, also a base element's. It
    returns a reference, which is escaped for its place, or None to keep the link as it is; `link.target` makes it
    absolute, as in `rewrite`. Its exceptions end the call, and are raised unchanged. `data`, `url` and `options` are
    those of `rewrite`; for str, the encoding is UTF-8, and the result is str. If a part of a message in str would get
    bytes of another encoding, `data` is returned.

    The outcome of the link is that of `rewrite`. Its line and column are 0, because they are not known yet; its start
    and end are offsets in the decoded bytes of its own document, such as a part of a message.

    >>> import baselink
    >>> from urllib.parse import quote
    >>> def through_proxy(link):
    ...     if link.role == "embedded" and link.target.startswith("http"):
    ...         return "https://proxy.example/?a&url=" + quote(link.target, safe="")
    >>> page = '<a href="http://h.example/"><img src="http://h.example/i.png">'
    >>> baselink.rewrite_links(page, through_proxy)
    '<a href="http://h.example/"><img src="https://proxy.example/?a&amp;url=http%3A%2F%2Fh.example%2Fi.png">'
    """
    if not isinstance(data, str):
        return choose_links(data, function, url, **options)
    options["charset"] = "utf-8"
    output = choose_links(_encoded(data), function, url, **options)
    try:
        return output.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data


def _encoded(text: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"the document is str or bytes, and not {type(text).__name__}")
    return text.encode("utf-8", "surrogatepass")
