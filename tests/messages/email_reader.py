"""Checks with the standard library that messages change only in URLs.

    python3 email_reader.py BINARY CORPUS UNREAD    compares; expects UNREAD messages that `email` cannot read
    python3 email_reader.py --self-test             breaks results on purpose, and expects each fault to be found

BINARY rewrites every message of CORPUS. `email` and `html.parser` of the standard library read input and output, which
must have the same tree, header fields and tokens. Only the values of attributes and style sheets may have targets in
place of references: exactly the links that `links --json` lists as rewritten, each once and in this order.

Deliberately absent: the right targets. Other tests derive them from the standards.
"""

import base64
import codecs
import collections
import concurrent.futures
import email
import email.errors
import email.policy
import html
import html.parser
import json
import os
import quopri
import re
import subprocess
import sys

BASE = "https://example.org/"
# Header fields that describe the body, and change with it.
DESCRIBING = {"content-md5", "content-length", "lines"}
KNOWN_ENCODINGS = {"", "7bit", "8bit", "binary", "base64", "quoted-printable"}
READ_AS_HTML = {"text/html"}


class Unread(Exception):
    """A message that `email` cannot read."""


class Wrong(Exception):
    """A fault in a result."""


# Mailboxes


def split_mailbox(mailbox):
    """The messages of a mailbox: (envelope line, message, separator). A `From ` line at the start or after an empty
    line, the separator, begins a message."""
    pieces, envelope, lines = [], b"", []

    def end():
        separator = lines.pop() if lines and lines[-1].strip(b"\r\n") == b"" else b""
        pieces.append((envelope, b"".join(lines), separator))

    empty = True
    for line in re.findall(rb"[^\n]*\n|[^\n]+", mailbox):
        if empty and line.startswith(b"From "):
            if envelope or lines:
                end()
            envelope, lines = line, []
        else:
            lines.append(line)
        empty = line in (b"\n", b"\r\n")
    end()
    return pieces


# Documents


class Tokens(html.parser.HTMLParser):
    """The tokens of a document: (kind, text). Concatenated, the texts are the document."""

    def __init__(self, document):
        super().__init__(convert_charrefs=False)
        self.tokens, self.kind = [], ""
        self.rawdata = document
        self.goahead(True)
        if "".join(text for _, text in self.tokens) != document:
            raise ValueError("tokens that are not the document")

    def updatepos(self, start, end):
        # The parser calls the handler, which sets the kind, before this method.
        if end > start:
            self.tokens.append((self.kind, self.rawdata[start:end]))
        self.kind = ""
        return super().updatepos(start, end)

    def handle_starttag(self, tag, attributes):
        self.kind = "tag"

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        self.kind = "end tag"

    def handle_data(self, data):
        self.kind = "style sheet" if self.cdata_elem == "style" else "text"

    def handle_comment(self, data):
        self.kind = "comment"

    def handle_charref(self, name):
        self.kind = "character reference"

    handle_entityref = handle_charref

    def handle_decl(self, declaration):
        self.kind = "declaration"

    def handle_pi(self, data):
        self.kind = "processing instruction"

    def unknown_decl(self, data):
        self.kind = "marked section"


ATTRIBUTE = re.compile(r"""([^\s/>=][^\s/>=]*)(\s*=\s*)("[^"]*"|'[^']*'|[^\s>]*)""")


def cut(tag):
    """The pieces of a tag between its values, and the values: (attribute, value)."""
    between, values, at = [], [], 0
    for found in ATTRIBUTE.finditer(tag):
        start, end = found.span(3)
        if tag[start : start + 1] in ('"', "'"):
            start, end = start + 1, end - 1
        between.append(tag[at:start])
        values.append((found.group(1).lower(), tag[start:end]))
        at = end
    return between + [tag[at:]], values


class Rewritten:
    """The rewritten links in order, and the position of the next one to be found."""

    def __init__(self, links):
        self.links, self.at = links, 0

    def value(self, old, new, unescape, where):
        """Checks that `new` is `old` with the next references replaced by their targets."""
        # CRLF is one line end (HTML, 13.2.3.5), also in the listed references.
        plain = [unescape(text).replace("\r\n", "\n") for text in (old, new)]
        if old.count("\r\n") != new.count("\r\n"):
            raise Wrong(f"{where}: other line ends: {old[:200]!r} became {new[:200]!r}")
        done = [0, 0]
        first = self.at
        while plain[0][done[0] :] != plain[1][done[1] :]:
            place = self.place(plain, done)
            if place is None:
                raise Wrong(f"{where}: {old[:200]!r} became {new[:200]!r}"
                            f" (met {self.at - first} references in it, next is {self.next()})")
            done = place
            self.at += 1
        if self.at == first:
            raise Wrong(f"{where}: without a reference in it, {old[:200]!r} became {new[:200]!r}")

    def next(self):
        return self.links[self.at] if self.at < len(self.links) else None

    def place(self, plain, done):
        """The positions after the next reference in `old` and its target in `new`; None if they are not found."""
        if self.at == len(self.links):
            return None
        (old, new), (start, reached) = plain, done
        common = common_start(old[start:], new[reached:])
        reference, target = self.links[self.at]
        at = start
        while (at := old.find(reference, at)) >= 0 and at - start <= common:
            at_target = reached + at - start
            if new.startswith(target, at_target):
                return [at + len(reference), at_target + len(target)]
            at += 1
        return None

    def finish(self):
        if self.at < len(self.links):
            raise Wrong(f"{len(self.links) - self.at} links are said to be rewritten and are not,"
                        f" first {self.next()}")


def common_start(one, other):
    return len(os.path.commonprefix([one, other]))


def compare_documents(old, new, rewritten, reading, where):
    """Compares the tokens of two documents. `reading` decodes a value. Returns the number of texts compared as a whole."""
    try:
        tokens = Tokens(old).tokens, Tokens(new).tokens
    except (AssertionError, ValueError, IndexError):
        tokens = None
    if tokens is None or [kind for kind, _ in tokens[0]] != [kind for kind, _ in tokens[1]]:
        # The tokens cannot be aligned, so the whole document is compared as one value.
        rewritten.value(old, new, reading, f"{where}: whole")
        return 1
    whole = 0
    for (kind, one), (_, other) in zip(*tokens):
        if one == other:
            continue
        if kind == "style sheet":
            rewritten.value(one, other, lambda text: css(reading(text)), f"{where}: style sheet")
        elif kind == "comment" and one.startswith("<!--["):
            whole += compare_documents(one[4:], other[4:], rewritten, reading, f"{where}: comment")
        elif kind == "tag":
            whole += compare_tags(one, other, rewritten, reading, where)
        else:
            raise Wrong(f"{where}: {kind} {one[:200]!r} became {other[:200]!r}")
    return whole


def compare_tags(one, other, rewritten, reading, where):
    (between, values), (between2, values2) = cut(one), cut(other)
    if between != between2 or [name for name, _ in values] != [name for name, _ in values2]:
        raise Wrong(f"{where}: tag {one[:200]!r} became {other[:200]!r}")
    whole = 0
    for (name, value), (_, value2) in zip(values, values2):
        if value == value2:
            continue
        if name == "srcdoc":
            old, new = html.unescape(reading(value)), html.unescape(reading(value2))
            whole += compare_documents(old, new, rewritten, str, f"{where}: srcdoc")
        else:
            syntax = css if name == "style" else str
            text = lambda value: syntax(html.unescape(reading(value)))
            rewritten.value(value, value2, text, f"{where}: {name}")
    return whole


def css(text):
    """Style sheet text without its escapes (CSS Syntax 3, 4.3.7)."""
    def character(found):
        digits = found.group(1)
        return chr(min(int(digits, 16), 0x10FFFF)) if digits else found.group(2)
    return re.sub(r"\\(?:([0-9a-fA-F]{1,6})[ \t\r\n\f]?|([^\r\n\f]))", character, text)


# Media types of other documents, with the function that decodes their text.
READ_AS_A_WHOLE = {
    "text/css": css,
    "application/xhtml+xml": html.unescape,
    "image/svg+xml": html.unescape,
}


def charset_of(part, content):
    """The encoding of a document, by its byte order mark, its label, or its own declaration."""
    for mark, name in [(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")]:
        if content.startswith(mark):
            return name
    label = part.get_content_charset()
    if label is None:
        declared = re.search(rb"<meta[^>]*charset\s*=\s*[\"']?\s*([\w-]+)", content[:1024], re.IGNORECASE)
        label = declared.group(1).decode() if declared else "cp1252"
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return "cp1252"
    # The Encoding Standard's labels.
    return {"iso8859-1": "cp1252", "ascii": "cp1252"}.get(name, name)


def compare_contents(one, other, old, new, rewritten, where):
    """Compares the decoded contents of a part that is a document."""
    charset = charset_of(one, old)
    if charset.startswith(("utf-16", "utf-7", "iso2022", "hz")):
        texts = old.decode(charset, "replace"), new.decode(charset, "replace")
        return compare_documents(*texts, rewritten, str, where)
    # In Latin-1 each byte is a character, so all bytes are compared.
    def reading(text):
        return text.encode("latin-1").decode(charset, "replace")
    return compare_documents(old.decode("latin-1"), new.decode("latin-1"), rewritten, reading, where)


# Messages


def compare_messages(before, after, links):
    """Raises `Wrong` unless `after` is `before` with the references of `links` replaced by their targets."""
    rewritten = Rewritten(links)
    whole = 0
    pairs = [("message", read(before), read(after))]
    while pairs:
        where, one, other = pairs.pop()
        compare_headings(one, other, where)
        for name in ["preamble", "epilogue", "get_content_type", "is_multipart", "get_unixfrom"]:
            values = [getattr(part, name) for part in (one, other)]
            values = [value() if callable(value) else value for value in values]
            if values[0] != values[1]:
                raise Wrong(f"{where}: {name} {values[0]!r} became {values[1]!r}")
        if one.is_multipart():
            parts = list(zip(one.get_payload(), other.get_payload()))
            if len(one.get_payload()) != len(other.get_payload()):
                raise Wrong(f"{where}: {len(one.get_payload())} parts became {len(other.get_payload())}")
            numbered = [(f"{where}.{n}", *pair) for n, pair in enumerate(parts, 1)]
            pairs.extend(reversed(numbered))
        else:
            old, new = content_of(one), content_of(other)
            if one.get_content_type() in READ_AS_HTML:
                if old != new and transfer_encoding(one) not in KNOWN_ENCODINGS:
                    raise Unread(f"email does not read {transfer_encoding(one)!r}")
                if old != new:
                    whole += compare_contents(one, other, old, new, rewritten, where)
            elif old != new and one.get_content_type() in READ_AS_A_WHOLE:
                syntax = READ_AS_A_WHOLE[one.get_content_type()]
                charset = one.get_content_charset("utf-8")
                if codecs.lookup(charset).name.startswith("utf-16"):
                    old, new = old.decode(charset, "replace"), new.decode(charset, "replace")
                    rewritten.value(old, new, syntax, where)
                else:
                    text = lambda value: syntax(value.encode("latin-1").decode(charset, "replace"))
                    rewritten.value(old.decode("latin-1"), new.decode("latin-1"), text, where)
                whole += 1
            elif old != new and has_broken_heading(one):
                raise Unread("email ends a heading at a line that is no header field")
            elif old != new or one.get_payload() != other.get_payload():
                raise Wrong(f"{where}: the content of {one.get_content_type()} changed")
        defects = [[str(type(defect)) for defect in part.defects] for part in (one, other)]
        if defects[0] != defects[1]:
            raise Wrong(f"{where}: defects {defects[0]} became {defects[1]}")
    rewritten.finish()
    return rewritten.at, whole


def compare_headings(one, other, where):
    fields = [
        [(name, None if name.lower() in DESCRIBING else value) for name, value in part.raw_items()]
        for part in (one, other)
    ]
    if fields[0] != fields[1]:
        old, new = [[field for field in fields[i] if field not in fields[1 - i]] for i in (0, 1)]
        raise Wrong(f"{where}: header fields {old} became {new}")


def has_broken_heading(part):
    """True if `email` began the body at a malformed line that may belong to the heading."""
    return any(isinstance(defect, email.errors.MissingHeaderBodySeparatorDefect) for defect in part.defects)


def read(message):
    try:
        return email.message_from_bytes(message, policy=email.policy.compat32)
    except Exception as error:
        raise Unread(f"email raises {type(error).__name__}: {error}") from error


def content_of(part):
    """The content of a part, decoded."""
    known = len(part.defects)
    try:
        content = part.get_payload(decode=True)
    except Exception as error:
        raise Unread(f"decoding raises {type(error).__name__}: {error}") from error
    odd = sorted({type(defect).__name__ for defect in part.defects[known:]})
    if odd and part.get_content_type() in READ_AS_HTML:
        raise Unread(f"{part.get_content_type()} is decoded with {', '.join(odd)}")
    return content


def made_relative(message):
    """The message with more relative links, since most links of real mail are absolute. In its documents, absolute
    references become network-path references (RFC 1808, 2.2), other links are added before and after, and the result
    is encoded again."""
    try:
        parts = list(email.message_from_bytes(message).walk())
    except Exception:
        return message
    for part in parts:
        if part.get_content_type() not in READ_AS_HTML or part.is_multipart():
            continue
        old = part._payload.encode("ascii", "surrogateescape")
        content = part.get_payload(decode=True)
        relative = re.sub(rb"""([=(]\s*["']?)https?:(?=//)""", rb"\1", content)
        relative = MORE + relative + MORE
        if message.count(old) == 1:
            message = message.replace(old, encoded_like(old, relative, transfer_encoding(part)))
    return message


MORE = b"""
<p class=a>x &amp; y<a href="../p?q&amp;r">z</a> <img src='i.png' srcset="l 1x, m 2x"> <img src=j>
<b style="background: url(k)">b</b> <!--[if mso]><img src="n.png"><![endif]--> <!-- <img src=o> -->
"""


def encoded_like(old, content, encoding):
    if encoding == "base64":
        lines = old.split(b"\n")
        end = b"\r\n" if lines[0].endswith(b"\r") else b"\n"
        return base64.encodebytes(content).replace(b"\n", end)
    if encoding == "quoted-printable":
        new = quopri.encodestring(content)
        if b"\r\n" in old:
            new = re.sub(rb"\r?\n", b"\r\n", new)
        return new
    return content


def transfer_encoding(part):
    return str(part.get("Content-Transfer-Encoding", "")).strip().lower()


# The program


def run(binary, arguments, message):
    process = subprocess.run([binary, *arguments, "-"], input=message, capture_output=True)
    if process.returncode != 0:
        raise Wrong(f"{' '.join(arguments)}: status {process.returncode}: {process.stderr[:300]!r}")
    return process.stdout


def links_of(binary, base, message):
    """True if a base is declared, and the links that `links` lists as rewritten: (reference, target)."""
    lines = run(binary, ["links", "--quiet", "--json", "--format", "message", *base], message)
    records = [json.loads(line) for line in lines.split(b"\n") if line]
    rewritten = [record for record in records if record["outcome"] == "rewritten"]
    rewritten.sort(key=lambda record: record["start"])
    links = [(record["reference"], record["target"]) for record in rewritten]
    return any(record["base"] is not None for record in records), links


def check(binary, name, message):
    """The findings about a message and its variants."""
    found = Found()
    relative = made_relative(message)
    variants = [("", message, []), ("", message, ["--url", BASE])]
    if relative != message:
        variants += [(" made relative", relative, []), (" made relative", relative, ["--url", BASE])]
    for variant, message, base in variants:
        found.counts["messages" + variant] += not base
        try:
            output = run(binary, ["rewrite", "--quiet", "--format", "message", *base], message)
            found.outputs.append(output)
            declared, links = links_of(binary, base, message)
            if not declared and output != message:
                raise Wrong("changed without a base")
            met, whole = compare_messages(message, output, links)
            if (output != message) != (met > 0):
                raise Wrong(f"{met} links are rewritten, but the bytes say otherwise")
            for what, number in [
                ("changed" + variant + " with --url" * bool(base), output != message),
                ("links rewritten" + variant + " with --url" * bool(base), met),
                ("parts or comments compared as a whole", whole),
            ]:
                found.counts[what] += number
        except Unread as reason:
            found.unread.append((name + variant, str(reason)))
        except Wrong as complaint:
            found.wrong.append(f"{' '.join([name + variant, *base])}: {complaint}")
    return found


class Found:
    """Results, faults, reasons for which variants could not be read, and counts."""

    def __init__(self):
        self.outputs, self.wrong, self.unread = [], [], []
        self.counts = collections.Counter()


def check_mailbox(binary, name, mailbox, outputs):
    """The faults of a rewritten mailbox, which must consist of its rewritten messages and unchanged separators."""
    pieces = split_mailbox(mailbox)
    wrong = []
    for number, base in enumerate([[], ["--url", BASE]]):
        output = run(binary, ["rewrite", "--quiet", "--format", "mbox", *base], mailbox)
        expected = b"".join(
            envelope + result[number] + separator
            for (envelope, _, separator), result in zip(pieces, outputs)
        )
        if output != expected:
            at = common_start(output, expected)
            wrong.append(f"{name}{' '.join(['', *base])}: as a mailbox it differs at {at}:"
                         f" {expected[at:at + 60]!r} became {output[at:at + 60]!r}")
    return wrong


def files(corpus):
    for folder, folders, names in os.walk(corpus):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, corpus), file.read()


def main(binary, corpus, allowed):
    jobs, mailboxes = [], {}
    for name, contents in files(corpus):
        if contents.startswith(b"From "):
            pieces = split_mailbox(contents)
            mailboxes[name] = contents, len(jobs), len(jobs) + len(pieces)
            jobs += [(f"{name}#{n}", piece[1]) for n, piece in enumerate(pieces, 1)]
        else:
            jobs.append((name, contents))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda job: check(binary, *job), jobs))
    wrong = [complaint for message in found for complaint in message.wrong]
    for name, (contents, first, last) in mailboxes.items():
        wrong += check_mailbox(binary, name, contents, [message.outputs for message in found[first:last]])
    unread = sorted({reason for message in found for reason in message.unread})
    counts = sum((message.counts for message in found), collections.Counter(mailboxes=len(mailboxes)))
    for what, number in sorted(counts.items()):
        print(f"{what}: {number}")
    print(f"not to be read here: {len(unread)}")
    for name, reason in unread:
        print(f"  {name}: {reason}")
    if len(unread) != allowed:
        wrong.append(f"{len(unread)} messages are not to be read here, and not {allowed}")
    if not counts["links rewritten with --url"]:
        wrong.append("no link was rewritten")
    for complaint in wrong:
        print(f"WRONG {complaint}")
    return 1 if wrong else 0


# The self-test

MESSAGE = b"""From: a@b
Subject: one
  two
Content-Type: multipart/mixed; boundary=b

preamble
--b
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<p class=3Da title=3D"v&amp;w">x &amp; y<a href=3D"/p?q&amp;r">z</a><img src=3D'i'>
<style>p { background: url(j) }</style><!--[if mso]><img src=3Dk><![endif]-->
<img srcset=3D"l 1x, m 2x"><!-- src=3Dn -->
--b
Content-Type: text/plain

src=o
--b--
epilogue
"""
LINKS = [("/p?q&r", "http://a/p?q&r"), ("i", "http://a/i"), ("j", "http://a/j"), ("k", "http://a/k"),
         ("l", "http://a/l"), ("m", "http://a/m")]
CHANGES = [(b'"/p', b'"http://a/p'), (b"'i'", b"'http://a/i'"), (b"(j)", b"(http://a/j)"),
           (b"3Dk", b"3Dhttp://a/k"), (b'"l 1x, m', b'"http://a/l 1x, http://a/m')]
BREAKS = [
    (b"x &amp; y", b"x &amp; Y", "text"),
    (b"&amp; y", b"& y", "spelling of text"),
    (b"From: a@b\n", b"", "a header field gone"),
    (b"one\n  two", b"one two", "a header field unfolded"),
    (b"preamble", b"Preamble", "the preamble"),
    (b"epilogue\n", b"", "the epilogue gone"),
    (b"--b--\n", b"", "the close delimiter gone"),
    (b"src=o", b"src=http://a/o", "plain text"),
    (b"src=3Dn", b"src=3Dhttp://a/n", "a comment"),
    (b"class=3Da", b"class=3Db", "another value"),
    (b"v&amp;w", b"v&w", "the spelling of another value"),
    (b"'http://a/i'", b'"http://a/i"', "quotes"),
    (b"http://a/i", b"http://a/I", "a target"),
    (b"http://a/i", b"i", "a target not there"),
    (b"url(http", b"url( http", "the style sheet"),
    (b"http://a/l 1x", b"http://a/l 3x", "what stands between references"),
    (b"q&amp;r", b"q&amp;s", "the tail of a target"),
    (b"<p ", b"<P ", "the case of a tag"),
    (b"</a>", b"", "an end tag gone"),
    (b"<![endif]-->", b"<![endif] -->", "a conditional comment"),
    (b"charset=utf-8", b"charset=UTF-8", "a parameter"),
]


def self_test():
    good = MESSAGE
    for old, new in CHANGES:
        assert good.count(old) == 1, old
        good = good.replace(old, new)
    assert compare_messages(MESSAGE, good, LINKS)[0] == len(LINKS)
    for old, new, what in BREAKS:
        assert good.count(old) == 1, old
        try:
            compare_messages(MESSAGE, good.replace(old, new), LINKS)
        except Wrong:
            continue
        raise SystemExit(f"not seen: {what}")
    for broken in (LINKS[:-1], LINKS + [("i", "http://a/i")], LINKS[::-1]):
        try:
            compare_messages(MESSAGE, good, broken)
        except Wrong:
            continue
        raise SystemExit(f"not seen: other links {broken}")
    mailbox = b"From a\nA: b\n\nFrom c\n\nFrom d\n\nx\nFrom e\n"
    pieces = [(b"From a\n", b"A: b\n", b"\n"), (b"From c\n", b"", b"\n"),
              (b"From d\n", b"\nx\nFrom e\n", b"")]
    assert split_mailbox(mailbox) == pieces, split_mailbox(mailbox)
    print(f"{len(BREAKS) + 3} broken results, all seen")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 4:
        sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
    else:
        sys.exit(__doc__)
