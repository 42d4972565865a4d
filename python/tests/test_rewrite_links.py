"""`rewrite_links`: a function chooses the reference of each link, and the library escapes it for its place."""

from __future__ import annotations

import email
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from conftest import COMMAND_ONLY, cases, options_of

import baselink
from baselink import Link, rewrite_links

URL = "http://h.example/a/b"
PROXY = "https://p.example/?a&u=(b%20c)"
# An unquoted URL of CSS has no parentheses (CSS Syntax, 4.3.6), so they are percent-encoded (RFC 3986, 2.1).
IN_CSS = PROXY.replace("(", "%28").replace(")", "%29")


def through_proxy(link: Link) -> str | None:
    return PROXY if link.role == "embedded" else None


def attributes(page: str) -> list[tuple[str, str | None]]:
    """The attributes of all elements, with their character references decoded."""
    found: list[tuple[str, str | None]] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            found.extend(attributes)

    Parser().feed(page)
    return found


def test_the_reference_is_escaped_for_its_place() -> None:
    page = """<img src=x><img src='y'><img src="http://z/"><img srcset="x 1x, y 2x"><p style="background: url(x)">
    <style>@import 'x'; p { background: url(y) }</style><iframe srcdoc="<img src='x'>"></iframe><a href=x>"""
    output = rewrite_links(page, through_proxy, url=URL)
    found = attributes(output)
    assert found[:3] == [("src", PROXY)] * 3
    assert found[3] == ("srcset", f"{PROXY} 1x, {PROXY} 2x")
    assert found[4] == ("style", f"background: url({IN_CSS})")
    assert f"@import '{PROXY}'; p {{ background: url({IN_CSS}) }}" in output
    (name, inner), last = found[5:]
    assert (name, attributes(inner or "")) == ("srcdoc", [("src", PROXY)])
    assert last == ("href", "x")


@pytest.mark.parametrize("encoding", ["quoted-printable", "base64", "8bit"])
def test_an_image_proxy_in_a_mail(encoding: str) -> None:
    page = "<p style='background: url(http://h.example/b.png)'>=<img src='http://h.example/a.png?b=1&amp;c'><a href=x>é"
    message = email.message.EmailMessage()
    message["Subject"] = "x"
    message.set_content(page, subtype="html", charset="utf-8", cte=encoding)
    output = rewrite_links(message.as_bytes(), through_proxy)
    read = email.message_from_bytes(output)
    found = read.get_payload(decode=True).decode()  # type: ignore[union-attr]
    assert attributes(found) == [("style", f"background: url({IN_CSS})"), ("src", PROXY), ("href", "x")]
    assert read["Content-Transfer-Encoding"] == encoding


def test_the_function_gets_links_with_a_target() -> None:
    page = b"<base href=/c/><a href=x><img src=''><a href=mailto:a@b><a href='//[x'><area href='#y'>"
    asked: list[Link] = []
    assert rewrite_links(page, lambda link: asked.append(link), url=URL, resolver="whatwg") == page
    assert all(type(link) is Link for link in asked)
    listed = [link for link in baselink.links(page, URL, resolver="whatwg") if link.target is not None]
    assert [link._replace(line=0, column=0) for link in listed] == asked
    assert [link.reference for link in asked] == ["/c/", "x", "mailto:a@b", "#y"]
    # Without a URL, a relative link has no target.
    asked.clear()
    assert rewrite_links(b"<a href=x>", lambda link: asked.append(link)) == b"<a href=x>"
    assert asked == []


def test_offsets_are_those_of_the_document_of_the_link() -> None:
    part = b"<img src=3D'http://h/'>"
    message = b"Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n" + part
    asked: list[Link] = []
    rewrite_links(message, lambda link: asked.append(link))
    [link] = asked
    decoded = part.replace(b"=3D", b"=")
    assert (link.entity, link.line, link.column) == ("", 0, 0)
    assert decoded[link.start : link.end] == b"http://h/"


def test_the_target_of_each_link_gives_the_document_of_rewrite() -> None:
    def absolute(link: Link) -> str | None:
        return link.target if link.outcome == "rewritten" else None

    count = 0
    for case in cases():
        if case.has_any(COMMAND_ONLY):
            continue
        data, options = case.read("input.*"), options_of(case)
        expected = baselink.rewrite_report(data, **options)
        # `rewrite` keeps more of a saved page, and a reference that ends within an escape.
        if case.name.startswith("html/saved-") or "escape" in expected.reasons:
            continue
        output = rewrite_links(data, absolute, **options)
        # More bytes of a reference with escapes may be replaced.
        written, by_rewrite = (
            [link.reference for link in baselink.links(document, **options)] for document in (output, expected.output)
        )
        assert written == by_rewrite, case.name
        count += output == expected.output
    assert count >= 400


def test_text_gives_text() -> None:
    page = "\ufeff<meta charset=koi8-r><a href='é\ud800'>\udfff"
    assert rewrite_links(page, lambda link: "ü", url=URL) == page.replace("é\ud800", "ü")
    assert rewrite_links(page, lambda link: "ü", url=URL, charset="koi8-r") == page.replace("é\ud800", "ü")
    # The declared encoding of a part of a message counts, and would give bytes that are not UTF-8.
    message = "Content-Type: text/html; charset=iso-8859-1\n\n<a href=http://h/>"
    assert rewrite_links(message, lambda link: "http://h/x") == message.replace("http://h/", "http://h/x")
    assert rewrite_links(message, lambda link: "http://h/é") == message


def test_every_buffer_is_a_document() -> None:
    page = b"<a href=x>"
    for data in [page, bytearray(page), memoryview(page)]:
        output = rewrite_links(data, lambda link: "y", url=URL)
        assert output == b"<a href=y>" and type(output) is bytes
    assert rewrite_links(page, lambda link: None, url=URL) is page

    # A function that changes its data does not change the result.
    changing = bytearray(page)

    def change(link: Link) -> str:
        changing[:] = b"<p>"
        return "y"

    assert rewrite_links(changing, change, url=URL) == b"<a href=y>"
    assert changing == b"<p>"


def test_an_exception_of_the_function_is_raised() -> None:
    raised = KeyError("x")
    asked = []

    def fail(link: Link) -> str:
        asked.append(link.reference)
        raise raised

    for error in [raised, KeyboardInterrupt(), SystemExit(3)]:
        raised = error  # type: ignore[assignment]
        asked.clear()
        with pytest.raises(type(error)) as caught:
            rewrite_links(b"<a href=x><a href=y>", fail, url=URL)
        assert caught.value is error
        assert caught.traceback[-1].name == "fail"
        assert asked == ["x"]


def test_wrong_arguments() -> None:
    page = b"<a href=x>"
    wrong: Any
    for wrong in [3, b"y", ["y"]]:
        with pytest.raises(TypeError, match=r"the result of the function must be str, and not \w+"):
            rewrite_links(page, lambda link: wrong, url=URL)
    with pytest.raises(UnicodeEncodeError):
        rewrite_links(page, lambda link: "\ud800", url=URL)
    for wrong in [None, "x"]:
        with pytest.raises(TypeError, match="function must be callable, and not "):
            rewrite_links(page, wrong, url=URL)
        with pytest.raises(TypeError, match="function must be callable, and not "):
            rewrite_links("", wrong)
    with pytest.raises(TypeError, match="data must be str, bytes"):
        rewrite_links(None, through_proxy)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="cannot be a base URL"):
        rewrite_links(page, through_proxy, url="x")
    with pytest.raises(TypeError, match="url must be str"):
        rewrite_links(page, through_proxy, url=b"http://h/")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=re.escape("rewrite_links() got an unexpected keyword argument 'base_href'")):
        rewrite_links(page, through_proxy, base_href=URL)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="format 'warc' is an archive"):
        rewrite_links(b"WARC/1.1\r\n", through_proxy)


def test_any_reference_is_written_so_that_it_is_read_again() -> None:
    """The text of an attribute, after decoding, is the reference, or the reference in percent-encoding."""
    for reference in [
        "",
        "x",
        "a b",
        "'\"",
        "<&amp;>",
        "#",
        "é\u2368\U0001f600",
        ")(\\",
        "a,b",
        "\t\n",
        "javascript:x",
        "=3D",
    ]:
        for quote in ["'", '"']:
            output = rewrite_links(f"<a href={quote}x{quote}>é", lambda link: reference, url=URL)
            [(_, found)] = attributes(output)
            assert found is not None
            assert found == reference, output
