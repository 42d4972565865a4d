"""Functions in the shape of w3lib's and lxml's, which take text.

Text is given on as UTF-8, whatever it says of its encoding; a lone surrogate keeps its three bytes.
"""

from __future__ import annotations

from typing import AnyStr, Literal
from urllib.parse import urljoin

from ._baselink import base, rewrite


def get_base_url(text: str | bytes, baseurl: str | bytes = "", encoding: str | None = None) -> str:
    """The base URL of an HTML document that was retrieved from `baseurl`, in the shape of w3lib's function.

    It is resolved as browsers do (resolver="whatwg"). Without a base in the document it is `baseurl`, as it was given;
    a relative `baseurl` is joined as `urllib.parse.urljoin` does. `encoding` is that of `text` in bytes, by a name of
    Python's; without it the bytes say it, as in a browser.

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
    except ValueError:  # It is not absolute.
        found = base(data, format="html", charset=charset, resolver="whatwg")
    if found.url is not None and found.source != "retrieval":
        return found.url
    first = found.levels[0]
    if found.url is None and first.status == "passed-over" and first.value is not None:
        try:
            return urljoin(retrieval, first.value)
        except ValueError:
            pass
    return retrieval


def make_links_absolute(
    html: AnyStr,
    base_url: str | None = None,
    handle_failures: Literal["ignore"] | None = None,
) -> AnyStr:
    """The HTML document with every relative link made absolute, in the shape of lxml.html's function.

    Its base element counts, and stays, with an absolute href, where lxml takes it out. What has no target, such as
    "//[x", stays as it is: nothing is raised, as with handle_failures="ignore".

    >>> import baselink
    >>> baselink.make_links_absolute('<img srcset="x 2x">', "http://h.example/")
    '<img srcset="http://h.example/x 2x">'
    """
    if handle_failures not in ("ignore", None):
        raise ValueError(f"handle_failures is 'ignore' or None, and not {handle_failures!r}: no attribute is taken out")
    if isinstance(html, bytes):
        return rewrite(html, base_url, format="html")
    output = rewrite(_encoded(html), base_url, format="html", charset="utf-8")
    return output.decode("utf-8", "surrogatepass")


def _encoded(text: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"the document is str or bytes, and not {type(text).__name__}")
    return text.encode("utf-8", "surrogatepass")
