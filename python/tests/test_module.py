"""Arguments and results of the functions: buffers, options, signatures, NamedTuples."""

from __future__ import annotations

import array
import copy
import gzip
import importlib.metadata
import inspect
import io
import mmap
import pickle
import re
import struct
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, Command

import baselink

URL = "http://h.example/a/b"
PAGE = b"<base href=c/><a href=x><img src=''><a href=mailto:a@b>"
DATA_FUNCTIONS = [baselink.rewrite, baselink.rewrite_report, baselink.links, baselink.base]


def test_every_name_exists_and_has_a_docstring() -> None:
    for name in baselink.__all__:
        found = getattr(baselink, name)
        assert inspect.getdoc(found) or typing.get_args(found), name
    assert sorted(baselink.__all__) == baselink.__all__


def test_the_version_is_that_of_the_package() -> None:
    assert baselink.__version__ == importlib.metadata.version("baselink")


def test_types_have_the_names_of_the_library() -> None:
    """bug 377: types were str, so mypy accepted "htlm"."""
    places = [
        (baselink.Group, "scan/src/attributes.rs", "Group"),
        (baselink.Kind, "scan/src/document.rs", "Kind"),
        (baselink.Outcome, "rewrite/src/report.rs", "Outcome"),
        (baselink.Reason, "rewrite/src/report.rs", "Reason"),
        (baselink.Role, "scan/src/document.rs", "Role"),
        (baselink.Status, "rewrite/src/base.rs", "Status"),
    ]
    for type_, file, name in places:
        library = (REPOSITORY / "crates" / file).read_text()
        values = library.split(f"pub enum {name} {{")[1].split("\n    }")[0]
        assert re.findall(r' = "(.+)",', values) == [*typing.get_args(type_)]
    with pytest.raises(ValueError) as raised:
        baselink.rewrite(b"", format="htlm")  # type: ignore[arg-type]
    known = str(raised.value).split("use one of ")[1].split(", ")
    formats = typing.get_args(baselink.Format)
    assert sorted(known) == sorted({*formats, *typing.get_args(baselink.ArchiveFormat)} - {"other"})
    assert baselink.rewrite(b"<a href=x>", URL, format="other") == b"<a href=x>"


EXTRAS = {
    "arrow": ("pyarrow", "pip install 'baselink[arrow]'"),
    "warc": ("fsspec", "pip install 'baselink[warc]'"),
    "spark": ("pyspark", "pip install 'baselink[spark]'"),
}


@pytest.mark.parametrize("module", EXTRAS)
def test_a_module_without_its_extra_names_the_extra(module: str) -> None:
    """bug 378: the error named only the absent package."""
    absent, advice = EXTRAS[module]
    program = f"import sys; sys.modules[{absent!r}] = None; import baselink.{module}"
    done = subprocess.run([sys.executable, "-c", program], cwd="/", capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].startswith("ImportError: ")
    assert done.stderr.splitlines()[-1].endswith(advice)


def test_signatures() -> None:
    shown = {function.__name__: str(inspect.signature(function)) for function in DATA_FUNCTIONS}
    assert set(shown.values()) == {"(data, /, url=None, **options)"}
    assert str(inspect.signature(baselink.iter_links)) == "(documents, /, **options)"
    assert str(inspect.signature(baselink.resolve)) == "(base, reference, *, resolver='rfc1808')"
    assert str(inspect.signature(baselink.relativize)) == "(base, target, *, resolver='rfc1808')"
    assert str(inspect.signature(baselink.detect)) == "(name, head)"
    assert str(inspect.signature(baselink.messages)) == "(file, /)"
    assert [*inspect.signature(baselink.get_base_url).parameters] == ["text", "baseurl", "encoding"]


def test_links_are_rows() -> None:
    [first, second, third, fourth] = baselink.links(PAGE, URL)
    assert first == baselink.Link(
        entity="",
        line=1,
        column=12,
        start=11,
        end=13,
        element="base",
        attribute="href",
        reference="c/",
        base="http://h.example/a/b",
        rule="3.3",
        source="retrieval",
        target="http://h.example/a/c/",
        role="metadata",
        outcome="rewritten",
        reason=None,
        kind="other",
        rel=None,
    )
    assert (second.base, second.rule, second.target) == ("http://h.example/a/c/", "3.1", "http://h.example/a/c/x")
    assert (third.outcome, third.reason, third.target) == ("left", "empty", None)
    assert (fourth.outcome, fourth.target) == ("absolute", "mailto:a@b")


def test_a_report_has_output_links_counts_and_diagnostics() -> None:
    output, links, counts, reasons, diagnostics = baselink.rewrite_report(PAGE, URL)
    assert output == b"<base href=http://h.example/a/c/><a href=http://h.example/a/c/x><img src=''><a href=mailto:a@b>"
    assert links == baselink.links(PAGE, URL)
    assert counts == {"rewritten": 2, "absolute": 1, "no-base": 0, "left": 1, "not-editable": 0}
    assert reasons == {"empty": 1}
    [relative] = diagnostics
    assert (relative.code, relative.line, relative.column, relative.start) == ("base-relative", 1, 1, 0)
    assert relative.message.startswith("the href of this base element is relative")


def test_results_can_be_compared_pickled_and_copied() -> None:
    for function in DATA_FUNCTIONS:
        found: Any = function(PAGE, URL)
        assert found == function(PAGE, URL)
        assert pickle.loads(pickle.dumps(found)) == found
        assert copy.deepcopy(found) == found
    link = baselink.links(PAGE, URL)[0]
    assert type(pickle.loads(pickle.dumps(link))) is baselink.Link
    assert hash(link) == hash(baselink.links(PAGE, URL)[0])
    assert link._replace(line=2) != link


def test_html_may_begin_with_text() -> None:
    """bug 362: such a document was returned unchanged, without a diagnostic."""
    for start in ["hello ", "&nbsp;", "\U0001f600", "# Markdown\n\n", "{} "]:
        page = f"{start}<a href=x>".encode()
        assert baselink.rewrite(page, URL) == page.replace(b"x>", b"http://h.example/a/x>")
        assert len(baselink.links(page, URL)) == 1


def test_a_target_of_whatwg_is_a_serialized_url() -> None:
    """bug 363: the target of an absolute link was its reference. The bytes of such a link never change."""
    page = b"<a href='ht\ntp://z/a\tb'><a href='HTTP://EXAMPLE.com:80/a b'><a href='http://[bad'><a href='mailto:a@b'>"
    for url in [URL, None]:
        assert baselink.rewrite(page, url, resolver="whatwg") == page
        assert [(link.target, link.outcome, link.reason) for link in baselink.links(page, url, resolver="whatwg")] == [
            ("http://z/ab", "absolute", None),
            ("http://example.com/a%20b", "absolute", None),
            (None, "left", "unresolvable"),
            ("mailto:a@b", "absolute", None),
        ]
    assert baselink.links(page, URL)[1].target == "HTTP://EXAMPLE.com:80/a b"


def test_a_link_has_a_kind_and_the_text_of_rel() -> None:
    page = b"<link rel='Preload StyleSheet' href=s><img src=i><iframe src=f></iframe><a rel='next' href=n>"
    assert [(link.kind, link.rel) for link in baselink.links(page, URL)] == [
        ("style", "Preload StyleSheet"),
        ("image", None),
        ("frame", None),
        ("document", "next"),
    ]


def test_a_link_is_intended_if_strict_accepts_it(command: Command) -> None:
    """bug 379: a filter could not do what `--strict` does. docs/outcomes.md lists the reasons that are accepted."""
    intended = [
        (b"<a href=x><a href=http://h/>", URL, ["rewritten", "absolute"]),
        (b"<img src=''><a href='{{x}}'><svg><use href='#x'/>", URL, ["empty", "placeholder", "id-reference"]),
        (b"<a href=x>", None, ["no-base"]),
        (b"<a href=http://[>", URL, ["unresolvable"]),
        (b"Content-Type: text/html; charset=us-ascii\n\n<a href=x>", "http://h/\u00e9/", ["rewritten"]),
    ]
    accepted = {"rewritten", "absolute", "empty", "placeholder", "id-reference"}
    for data, url, names in intended:
        found = baselink.rewrite_report(data, url, resolver="whatwg")
        assert [link.reason or link.outcome for link in found.links] == names
        assert [link.is_intended for link in found.links] == [name in accepted for name in names]
        options = ["--url", url] if url else []
        arguments = [command.path, "rewrite", "--strict", "--quiet", "--resolver", "whatwg", *options]
        done = subprocess.run(arguments, input=data, capture_output=True, check=False)
        assert (done.returncode == 0) == all(link.is_intended for link in found.links)


def test_what_is_not_read_is_reported() -> None:
    [found] = baselink.rewrite_report(b"\x89PNG\r\n\x1a\n<a href=x>", URL).diagnostics
    assert (found.code, found.message) == ("format-unread", "the format is unknown, so no link was read")
    for archive in [b"WARC/1.1\r\n", gzip.compress(b"WARC/1.1\r\n")]:
        calls: list[Any] = [*DATA_FUNCTIONS]
        calls += [lambda data: list(baselink.iter_links([data])), lambda data: list(baselink.link_columns([data]))]
        for call in calls:
            with pytest.raises(ValueError, match=r"format 'warc' is an archive .*baselink\.warc"):
                call(archive)
        assert baselink.links(archive, format="html") == []


def test_an_unchanged_document_is_the_same_object() -> None:
    for data in [b"<a href=http://h/>", b"", b"no links"]:
        assert baselink.rewrite(data, URL) is data
    assert baselink.rewrite(b"<a href=x>") == b"<a href=x>"

    class Own(bytes):
        pass

    assert type(baselink.rewrite(Own(b"<p>"), URL)) is bytes


def test_every_buffer_is_a_document(tmp_path: Path) -> None:
    expected = baselink.rewrite(PAGE, URL)
    path = tmp_path / "page.html"
    path.write_bytes(PAGE)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        for data in [bytearray(PAGE), memoryview(PAGE), array.array("B", PAGE), mapped, memoryview(bytearray(PAGE))]:
            assert baselink.rewrite(data, URL) == expected
            assert type(baselink.rewrite(data, URL)) is bytes
            assert baselink.links(data, URL) == baselink.links(PAGE, URL)
            assert baselink.rewrite_report(data, URL).output == expected
            assert baselink.base(data, URL) == baselink.base(PAGE, URL)
            assert baselink.detect(None, data) == "html"
        # A memory map cannot be closed while an object exports its buffer.
        view = memoryview(mapped)
        assert baselink.rewrite(view, URL) == expected
        view.release()
    assert baselink.rewrite(memoryview(b"--" + PAGE)[2:], URL) == expected
    assert baselink.rewrite(memoryview(PAGE).cast("b"), URL) == expected
    assert baselink.rewrite(array.array("I", [1, 2])) == array.array("I", [1, 2]).tobytes()
    assert baselink.rewrite(memoryview(b"")) == b""


def test_a_bytearray_is_released() -> None:
    data = bytearray(PAGE)
    baselink.rewrite(data, URL)
    data.extend(b"more")
    rows = baselink.iter_links([data])
    next(rows)
    data.clear()


def test_a_view_with_gaps_is_read_without_them() -> None:
    assert baselink.rewrite(memoryview(bytes(byte for one in PAGE for byte in (one, 0)))[::2], URL) == baselink.rewrite(
        PAGE, URL
    )
    released = memoryview(PAGE)
    released.release()
    with pytest.raises(ValueError, match="released"):
        baselink.rewrite(released)


def test_str_is_a_document() -> None:
    """bug 726: only three functions took str."""
    text = "<meta charset=koi8-r>\u2368\n\U0001f600<a href='é?é'>\ud800<img src='ü'>"
    # URL Standard, 4.4: a query has the encoding of its document, or UTF-8 if that is UTF-16. A str is not decoded.
    for charset, query in [(None, "%C3%A9"), ("utf-8", "%C3%A9"), ("latin1", "%E9"), ("utf-16le", "%C3%A9")]:
        options: Any = {"url": "http://h/", "resolver": "whatwg", "charset": charset}
        targets = {"é?é": f"http://h/%C3%A9?{query}", "ü": "http://h/%C3%BC"}
        expected = text.replace("é?é", targets["é?é"]).replace("ü", targets["ü"])
        assert baselink.rewrite(text, **options) == expected
        assert baselink.rewrite_links(text, lambda link: link.target, **options) == expected
        report = baselink.rewrite_report(text, **options)
        assert (type(report), report.output) == (baselink.RewrittenText, expected)
        # Places are counted in characters, as by slices.
        found = baselink.links(text, **options)
        places = [(link.line, link.column, text[link.start : link.end], link.target) for link in found]
        assert places == [(2, 11, "é?é", targets["é?é"]), (2, 27, "ü", targets["ü"])]
        assert report.links == found
        del options["url"]
        assert [link for _, link in baselink.iter_links([(text, "http://h/")], **options)] == found
        [(_, columns)] = baselink.link_columns([(text, "http://h/")], **options)
        assert columns[4] == (0, (None, struct.pack("<2q", *[link.start for link in found])))
    assert baselink.base("<base href='ü/'>", "http://h/", resolver="whatwg").base == "http://h/%C3%BC/"
    [found_there] = baselink.rewrite_report("é\n<base href=/x>", "http://h/b/c").diagnostics
    assert found_there._replace(message="") == ("base-relative", "", 2, 1, 2, 16)
    for same in [text, "", "é"]:
        assert baselink.rewrite(same) is same
    # The declared encoding of a part of a message counts. It would give bytes that are not UTF-8.
    message = "Content-Type: text/html; charset=iso-8859-1\n\n<a href=x>"
    assert baselink.rewrite_links(message, lambda link: "é", "http://h/") == message


def test_data_without_bytes_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="head must be bytes, a bytearray or a memoryview, and not str"):
        baselink.detect(None, "<a href=x>")  # type: ignore[arg-type]
    for other in [None, 3, [PAGE], {}]:
        with pytest.raises(TypeError, match="data must be str, bytes or another buffer, and not "):
            baselink.rewrite(other)  # type: ignore[call-overload]


def test_the_url_is_positional_or_named_in_every_function() -> None:
    """bug 727: rewrite_links took it only by its name."""
    for function in DATA_FUNCTIONS:
        assert function(PAGE, URL) == function(PAGE, url=URL)
    expected = baselink.rewrite_links(PAGE, lambda link: "y", URL)
    assert expected == baselink.rewrite_links(PAGE, lambda link: "y", url=URL) != PAGE


def test_an_argument_of_a_wrong_type_is_named_with_advice() -> None:
    """bug 380: the errors named neither the argument nor the way out."""
    wrong: Any
    for wrong, words in [(Path("x"), r"not \w*Path: pass path.read_bytes\(\)"), (io.BytesIO(), "pass file.read")]:
        for function in DATA_FUNCTIONS:
            with pytest.raises(TypeError, match=f"data must be str, bytes or another buffer, and .*{words}"):
                function(wrong)
    for wrong, words in [(b"http://h/", r"bytes: pass url.decode\(\)"), (Path("x"), r"Path: pass str\(url\)")]:
        for function in DATA_FUNCTIONS:
            with pytest.raises(TypeError, match=f"url must be str, and not .*{words}"):
                function(PAGE, wrong)
        for read in [baselink.iter_links, baselink.link_columns]:
            with pytest.raises(TypeError, match="url must be str"):
                list(read([(PAGE, wrong)]))
    for wrong in [PAGE, bytearray(PAGE), "x"]:
        for read in [baselink.iter_links, baselink.link_columns]:
            with pytest.raises(TypeError, match=r"documents must be an iterable of data, .*: pass \[data\]"):
                read(wrong)
    for wrong in ["a.mbox", Path("a.mbox"), b"From a\n"]:
        with pytest.raises(TypeError, match=r"file must be a binary file .*: pass open\(path, 'rb'\)"):
            baselink.messages(wrong)


@pytest.mark.parametrize("url", ["", " ", "x", "/x", "//h/x", "http//h", "?:x"])
def test_a_url_that_is_not_absolute_is_a_value_error(url: str) -> None:
    for function in DATA_FUNCTIONS:
        with pytest.raises(ValueError, match="cannot be a base URL"):
            function(PAGE, url)
    with pytest.raises(ValueError, match="cannot be a base URL"):
        list(baselink.iter_links([(PAGE, url)]))
    with pytest.raises(ValueError, match="cannot be a base URL"):
        baselink.resolve(url, "x")
    with pytest.raises(ValueError, match="cannot be a base URL"):
        baselink.relativize(url, "http://h/")


def test_unusual_urls() -> None:
    # RFC 1808 requires only a scheme. A base that is not hierarchical gives no target.
    for url in ["http:", "http://[", "data:,x", "about:blank", "mailto:a@b", "C:\\x"]:
        assert baselink.base(b"<a href=x>", url).base == url
    assert baselink.rewrite(b"<a href=x>", "mailto:a@b") == b"<a href=x>"
    with pytest.raises(ValueError, match="the URL Standard's parser fails on it"):
        baselink.rewrite(b"<a href=x>", "http://[", resolver="whatwg")
    assert baselink.rewrite("<a href=ü>".encode(), "http://é/") == "<a href=http://xn--9ca/ü>".encode()
    with pytest.raises(ValueError):
        baselink.rewrite(PAGE, "http://\ud800/")
    with pytest.raises(TypeError):
        baselink.rewrite(PAGE, b"http://h/")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"format": "htm"}, "format: unknown format 'htm'"),
        ({"format": "warc"}, r"format 'warc' is an archive .*baselink\.warc"),
        ({"format": "wacz"}, "format 'wacz' is an archive"),
        ({"format": "har"}, "format 'har' is an archive"),
        ({"format": "script"}, "requires enable 'scripts'"),
        ({"format": "manifest"}, "requires enable 'manifest'"),
        ({"charset": "utf-9"}, "charset: unknown encoding 'utf-9'"),
        ({"resolver": "RFC1808"}, "resolver: unknown resolver 'RFC1808'; use one of rfc1808, rfc3986, whatwg"),
        ({"fragments": "no"}, "fragments: "),
        ({"base_element": "no"}, "base_element: "),
        ({"local_copies": "no"}, "local_copies: "),
        ({"enable": "lazyy"}, "enable: unknown group 'lazyy'"),
        ({"enable": ["lazy", "no"]}, "enable: unknown group 'no'"),
        ({"attributes": "a[b]"}, "attributes: .* is not a place"),
        ({"assume_scheme": "a b"}, "assume_scheme: not a scheme"),
        ({"content_location": "no"}, "content_location: unknown value 'no'; use base or label"),
        ({"dkim": "no"}, "dkim: unknown value 'no'; use rewrite or keep"),
    ],
)
def test_a_wrong_value_is_a_value_error(options: dict[str, Any], words: str) -> None:
    """Bug 404: the error names the option."""
    for function in DATA_FUNCTIONS:
        with pytest.raises(ValueError, match=words):
            function(PAGE, URL, **options)
    # The error is raised before the first document is read.
    with pytest.raises(ValueError, match=words):
        baselink.iter_links([], **options)


def test_resolve_and_relativize_name_the_wrong_argument() -> None:
    """Bug 404."""
    for function, second in [(baselink.resolve, "reference"), (baselink.relativize, "target")]:
        with pytest.raises(ValueError, match="resolver: unknown resolver 'no'"):
            function(URL, "x", resolver="no")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="base: 'b/c' cannot be a base URL"):
            function("b/c", "x")
        with pytest.raises(TypeError, match="base must be str, and not bytes"):
            function(b"http://a/", "x")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=f"{second} must be str, and not int"):
            function(URL, 3)  # type: ignore[arg-type]


def test_an_unknown_option_names_the_one_that_was_meant() -> None:
    """Bug 401."""
    options = {name: "url" for name in ("base_url", "baseUrl", "base", "href", "URL", "urll")}
    options |= {"baseElement": "base_element", "encoding": "charset", "resolvr": "resolver"}
    for name, meant in options.items():
        words = rf"rewrite\(\) got an unexpected keyword argument '{name}'; did you mean '{meant}'\?$"
        with pytest.raises(TypeError, match=words):
            baselink.rewrite(PAGE, **{name: 1})  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match="rewrite.. got an unexpected keyword argument 'indent'; there are url, format, charset"
    ):
        baselink.rewrite(PAGE, indent=2)  # type: ignore[call-arg]
    for name in ("url", "base_url"):
        with pytest.raises(TypeError, match=f"'{name}'; each document has a URL of its own"):
            baselink.iter_links([], **{name: URL})  # type: ignore[arg-type]


def test_a_url_that_is_absolute_but_cannot_be_a_base_leaves_the_links() -> None:
    """Bug 407: only the command refuses it."""
    found = baselink.rewrite_report(b"<a href=x>", "urn:x:y")
    assert (found.output, found.reasons) == (b"<a href=x>", {"base-unusable": 1})


def test_an_option_of_a_wrong_type_is_a_type_error() -> None:
    for wrong in [3, b"html", ["html"]]:
        with pytest.raises(TypeError, match="format must be str"):
            baselink.rewrite(PAGE, format=wrong)  # type: ignore[arg-type]
    for name in ("enable", "attributes"):
        for wrong, words in [
            (3, "str, or an iterable of str, and not int"),
            (["lazy", 3], "str, and not int"),
            (b"lazy", "str"),
        ]:
            with pytest.raises(TypeError, match=f"{name} must be {words}"):
                baselink.rewrite(PAGE, **{name: wrong})  # type: ignore[misc]


def test_options_have_types_and_documentation() -> None:
    names = sorted(baselink.Options.__annotations__)
    with pytest.raises(TypeError) as raised:
        baselink.rewrite(b"", no=1)  # type: ignore[call-arg]
    known = str(raised.value).split("; there are ")[1].split(", ")
    assert sorted(known) == sorted([*names, "url"])
    lines = (inspect.getdoc(baselink.Options) or "").splitlines()
    documented = [line.split()[0] for line in lines[1:] if line[:1].islower()]
    assert sorted(documented) == names


def test_options() -> None:
    def rewritten(data: bytes, **options: Any) -> bytes:
        return baselink.rewrite(data, "http://h/a/b", **options)

    assert rewritten(b"<a href=#x>") == b"<a href=http://h/a/b#x>"
    assert rewritten(b"<a href=#x>", fragments="keep") == b"<a href=#x>"
    assert rewritten(b"<a href=../../x>") == b"<a href=http://h/../x>"
    assert rewritten(b"<a href=../../x>", resolver="whatwg") == b"<a href=http://h/x>"
    assert rewritten(b"<base href=/c/><a href=x>", base_element="keep") == b"<base href=/c/><a href=http://h/c/x>"
    assert rewritten(b"<img data-src=x.gif>") == b"<img data-src=x.gif>"
    assert rewritten(b"<img data-src=x.gif>", enable="lazy") == b"<img data-src=http://h/a/x.gif>"
    assert rewritten(b"<img data-src=x.gif>", enable=("lazy",)) == b"<img data-src=http://h/a/x.gif>"
    assert rewritten(b"<p data-x=x>", attributes="p[data-x]=url") == b"<p data-x=http://h/a/x>"
    assert rewritten(b"<a href=x>", format="css") == b"<a href=x>"
    assert rewritten(b"<a href='?\xe9'>", resolver="whatwg", charset="latin1") == b"<a href='http://h/a/b?%E9'>"
    assert baselink.rewrite(b"<a href=//h/>", assume_scheme="https") == b"<a href=https://h/>"
    # None means the default.
    nothing = dict.fromkeys(baselink.Options.__annotations__)
    assert rewritten(PAGE, **nothing) == rewritten(PAGE)


def test_every_format_that_is_detected_may_be_given() -> None:
    heads = [
        b"<p>",
        b"<?xml?><html>",
        b"<?xml?><svg>",
        b"<rss>",
        b'@charset "x"',
        b"From: a\n\n",
        b"From x\nA: b\n",
        b"HTTP/1.1 200 OK\n",
        b"?",
    ]
    found = [baselink.detect(None, head) for head in heads]
    assert found == ["html", "xhtml", "svg", "xml", "css", "message", "mbox", "http", "other"]
    for format in found:
        assert baselink.rewrite(b"", URL, format=format) == b""


def test_a_base_has_an_explanation() -> None:
    found = baselink.base(PAGE, URL)
    assert str(found).splitlines()[0] == "base: http://h.example/a/c/ (3.1 base-element)"
    assert [level.status for level in found.chain] == ["taken", "absent", "passed-over", "passed-over"]
    nothing = baselink.base(b"<p>")
    assert (nothing.base, nothing.rule, nothing.source) == (None, "3.4", "default")
    assert str(nothing).splitlines()[0] == "base: none (3.4 default)"


def test_many_documents() -> None:
    documents = [
        (b"<a href=x><a href=y>", "http://a/"),
        (b"", None),
        b"<a href=z>",
        (bytearray(b"<a href=x>"), "http://b/"),
    ]
    rows = [(number, link.target) for number, link in baselink.iter_links(documents)]
    assert rows == [(0, "http://a/x"), (0, "http://a/y"), (2, None), (3, "http://b/x")]
    # After an error in one document, the iterator and the numbering continue.
    documents.insert(1, (b"<p>", "no url"))
    iterator = baselink.iter_links(documents, resolver="whatwg")
    assert [next(iterator)[0], next(iterator)[0]] == [0, 0]
    with pytest.raises(ValueError):
        next(iterator)
    assert [number for number, _ in iterator] == [3, 4]
    assert list(iterator) == []

    def raising() -> Any:
        yield PAGE
        raise KeyError("x")

    with pytest.raises(KeyError):
        list(baselink.iter_links(raising()))
    with pytest.raises(TypeError):
        baselink.iter_links(3)  # type: ignore[arg-type]


def test_relativize_and_resolve_are_inverse() -> None:
    for base in ["http://a/b/c/d;p?q", "http://a/", "http://a"]:
        for target in ["http://a/b/g", "http://a/b/c/d;p?q#f", "http://z/", "mailto:a@b", "http://a/b/c/"]:
            for resolver in ("rfc1808", "rfc3986", "whatwg"):
                reference = baselink.relativize(base, target, resolver=resolver)  # type: ignore[arg-type]
                assert baselink.resolve(base, reference, resolver=resolver) == target  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        baselink.resolve("mailto:a@b", "x")
    with pytest.raises(ValueError):
        baselink.resolve("http://a/", "x", resolver="no")  # type: ignore[arg-type]
