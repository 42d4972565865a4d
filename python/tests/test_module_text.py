"""The replacements for functions of w3lib and lxml. docs/peers.md lists the differences."""

from __future__ import annotations

import importlib
import random
from typing import Any

import pytest
from conftest import absent

import baselink
from baselink import get_base_url, make_links_absolute

URL = "http://h.example/a/b"

# HTML, 4.2.3: the first base element with an href counts. Its href is resolved against the fallback base URL. If the
# result has the scheme data or javascript, the fallback base URL stays in force.
BASES = [
    ("<base href=/c/>", "http://h.example/c/"),
    ("<base href=c/><base href=d/>", "http://h.example/a/c/"),
    ("<base target=x><base href=d/>", "http://h.example/a/d/"),
    ("<base href='http://e/?a&amp;b'>", "http://e/?a&b"),
    ("<textarea><base href=/no/></textarea>", URL),
    ("<title><base href=/no/></title><base href=/c/>", "http://h.example/c/"),
    ("<template><base href=/no/></template>", URL),
    ("<svg><base href=/no/></svg>", URL),
    ("<p title='<base href=/no/>'>", URL),
    ("<!-- <base href=/no/> -->", URL),
    ("<base href='data:,x'>", URL),
    ("<base href='javascript:x'>", URL),
    ("<base href=' /\n\tc/ '>", "http://h.example/c/"),
    ("<base href='../../../c/'>", "http://h.example/c/"),
    ("<base href='http://e/\u2368'>", "http://e/%E2%8D%A8"),
    ("", URL),
]


@pytest.mark.parametrize(("text", "expected"), BASES)
def test_the_base_of_text(text: str, expected: str) -> None:
    assert get_base_url(text, URL) == expected
    assert get_base_url(text.encode(), URL, "utf-8") == expected
    assert get_base_url(text.encode(), URL.encode(), "utf-8") == expected


def test_a_base_without_an_absolute_url() -> None:
    for baseurl in ["", "a/b", "/a/b", b""]:
        text = baseurl if isinstance(baseurl, str) else ""
        assert get_base_url("<p>", baseurl) == text
        assert get_base_url("<base href='http://e/x'>", baseurl) == "http://e/x"
        assert get_base_url("<base href='data:,x'>", baseurl) == text
    assert get_base_url("<base href=/x>") == "/x"
    assert get_base_url("<base href=x><base href=y>", "a/b") == "a/x"
    assert get_base_url("<base href=//e/x>", "a/b") == "//e/x"
    assert get_base_url("<base href=//[>", "a/b") == "a/b"


def test_a_base_url_is_returned_unchanged() -> None:
    for baseurl in ["https://h.example", "HTTP://h/../x#y", "about:blank", "http://h/é"]:
        assert get_base_url("<p>", baseurl) == baseurl


def test_the_encoding_of_bytes() -> None:
    page = "<base href='http://e/é'>"
    for name in ["utf-8", "latin-1", "utf-16", "cp1252", "utf_8_sig", "mac_roman"]:
        assert get_base_url(page.encode(name), URL, name) == "http://e/%C3%A9"
    assert get_base_url(b"<meta charset=latin1><base href='http://e/\xe9'>") == "http://e/%C3%A9"
    assert get_base_url(b"<base href='http://e/\xff'>", URL, "utf-8") == "http://e/%EF%BF%BD"
    with pytest.raises(LookupError):
        get_base_url(b"<p>", URL, "no")


def test_links_of_text_are_made_absolute() -> None:
    page = "<base href='/c/'><a href=x>é</a><img srcset='y 2x'>"
    links = "<base href='http://h.example/c/'><a href=http://h.example/c/x>é</a><img srcset='http://h.example/c/y 2x'>"
    assert make_links_absolute(page, URL) == links
    assert make_links_absolute(page.encode(), base_url=URL) == links.encode()
    broken = "<a href='//[x'><a href=../y>"
    assert make_links_absolute(broken, "http://h/") == "<a href='//[x'><a href=http://h/y>"
    of_rfc = "<a href='http://[x'><a href=http://h/../y>"
    assert make_links_absolute(broken, "http://h/", resolver="rfc1808") == of_rfc
    assert make_links_absolute("x <a href=y>", "http://h/", handle_failures="ignore") == "x <a href=http://h/y>"


def test_arguments_of_make_links_absolute() -> None:
    with pytest.raises(ValueError, match="no attribute is taken out"):
        make_links_absolute("", URL, handle_failures="discard")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cannot be a base URL"):
        make_links_absolute("", "x")
    wrong: Any
    for wrong in [None, 3, ["x"]]:
        with pytest.raises(TypeError):
            make_links_absolute(wrong, URL)
        with pytest.raises(TypeError):
            get_base_url(wrong, URL)


@pytest.mark.parametrize(
    "start",
    [
        "",
        "\ufeff",
        "<meta charset=utf-16>",
        "<meta charset=koi8-r>",
        "<meta http-equiv=content-type content='text/html; charset=shift_jis'>",
        "<?xml version='1.0' encoding='iso-8859-1'?>",
        "\ud800",
        "\x00",
        "é",
    ],
)
def test_the_encoding_that_a_text_declares_is_ignored(start: str) -> None:
    page = start + "<a href='é\u2368\U0001f600\udfff'>\ud800</a>"
    assert make_links_absolute(page, "http://h/", resolver="rfc1808") == page.replace("'é", "'http://h/é")
    # A lone surrogate is passed on as three bytes, of which none is UTF-8.
    encoded = f"'http://h/%C3%A9%E2%8D%A8%F0%9F%98%80{'%EF%BF%BD' * 3}'"
    assert make_links_absolute(page, "http://h/") == page.replace("'é\u2368\U0001f600\udfff'", encoded)
    assert get_base_url(start + "<base href='http://e/é'>", URL) == "http://e/%C3%A9"


def test_any_text_is_accepted() -> None:
    draw = random.Random(1808)
    pieces = [
        "<a href=",
        "'",
        ">",
        "x",
        "\ud800",
        "\udc00",
        "\U0001f600",
        "\ufeff",
        "é",
        "<base href=y>",
        "<svg>",
        "\0",
        "\r\n",
    ]
    for _ in range(2_000):
        page = "".join(draw.choices(pieces, k=draw.randrange(12)))
        output = make_links_absolute(page, URL)
        # Only texts with a base element change if no URL is given.
        assert output.replace("http://h.example/a/", "").replace("http://h.example/", "") or not page or "<base" in page
        assert make_links_absolute(page) == page or "<base" in page
        assert isinstance(get_base_url(page, URL), str)


def other(name: str) -> Any:
    """The module of another library, unless it is absent."""
    try:
        return importlib.import_module(name)
    except ImportError:
        absent(name)


def test_results_equal_those_of_w3lib_and_lxml() -> None:
    """If w3lib and lxml are installed, the same calls give the same results."""
    html = other("w3lib.html")
    assert get_base_url("<base href=/x>", URL) == html.get_base_url("<base href=/x>", URL)
    page = "<html><body><a href='x'>y</a></body></html>"
    theirs = other("lxml.html").make_links_absolute(page, URL)
    assert make_links_absolute(page, URL) == theirs.replace('"', "'")
    assert baselink.get_base_url("<textarea><base href=/x></textarea>", URL) == URL
