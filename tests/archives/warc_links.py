"""Compares the links that our program finds in the HTML of archives with those that other libraries find.

    warc_links.py BINARY FILE...    prints a line for each kind of difference: file, kind, number, first example

warcio reads the archives and decodes the bodies; html5lib builds the trees. crates/scan/src/attributes.tsv, without
the rows that are off by default, says which attributes hold URLs. The base is the first `base` with a `href` in the tree,
outside `template` (HTML, 2.4.3), resolved against the target URI of the record. References are resolved by RFC 3986,
5.2. The last line is the number of links that both found.

Deliberately absent: CSS, `srcdoc`, XHTML, and links in header fields.
"""

import collections
import json
import os
import re
import subprocess
import sys

import html5lib
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

SPACE = "\t\n\f\r "
NAMESPACES = {
    "http://www.w3.org/1999/xhtml": "HTML",
    "http://www.w3.org/2000/svg": "SVG",
    "http://www.w3.org/1998/Math/MathML": "MathML",
}


# RFC 3986


def split(reference):
    """Appendix B."""
    found = re.match(r"^(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$", reference, re.DOTALL)
    return found.groups()


def remove_dot_segments(path):
    """5.2.4."""
    output = []
    while path:
        if path.startswith("../"):
            path = path[3:]
        elif path.startswith("./"):
            path = path[2:]
        elif path.startswith("/./"):
            path = path[2:]
        elif path == "/.":
            path = "/"
        elif path.startswith("/../") or path == "/..":
            path = "/" + path[4:]
            del output[-1:]
        elif path in (".", ".."):
            path = ""
        else:
            segment = re.match("/?[^/]*", path).group()
            output.append(segment)
            path = path[len(segment) :]
    return "".join(output)


def resolve(base, reference):
    """5.2.2 and 5.3."""
    b_scheme, b_authority, b_path, b_query, _ = split(base)
    scheme, authority, path, query, fragment = split(reference)
    if scheme is None:
        scheme = b_scheme
        if authority is None:
            authority = b_authority
            if path == "":
                path, query = b_path, b_query if query is None else query
            elif path.startswith("/"):
                path = remove_dot_segments(path)
            elif b_authority is not None and b_path == "":
                path = remove_dot_segments("/" + path)
            else:
                path = remove_dot_segments(b_path[: b_path.rfind("/") + 1] + path)
        else:
            path = remove_dot_segments(path)
    else:
        return reference
    parts = [scheme, ":"]
    parts += ["//", authority] if authority is not None else []
    parts.append(path)
    parts += ["?", query] if query is not None else []
    parts += ["#", fragment] if fragment is not None else []
    return "".join(parts)


# The table


def table():
    """The rows of attributes: namespace, pattern of elements, attribute, condition, syntax, base, True if "" stays."""
    path = os.path.join(os.path.dirname(__file__), "../../crates/scan/src/attributes.tsv")
    rows = []
    with open(path, encoding="utf-8") as text:
        lines = text.read().splitlines()[1:]
    for line in lines:
        namespace, elements, attribute, condition, syntax, base, _role, default, _loads, empty, *_ = line.split("\t")
        if default != "on":
            continue
        pattern = "|".join(re.escape(element).replace(r"\*", ".*") for element in elements.split(" "))
        rows.append((namespace, re.compile(f"(?:{pattern})$"), attribute, condition, syntax, base, empty == "left"))
    return rows


TABLE = table()


def is_met(condition, attributes):
    if not condition:
        return True
    name, values = re.match(r"(\S+) (?:is|has) (.*)", condition).groups()
    return attributes.get(name, "").strip(SPACE).lower() in values.split(" ")


def row_of(namespace, element, attribute, attributes):
    for row in TABLE:
        if row[0] == namespace and row[1].match(element) and row[2] == attribute and is_met(row[3], attributes):
            return row
    return None


def references(syntax, value):
    if syntax == "URL":
        return [value]
    if syntax == "URLs, spaces between":
        return value.split()
    if syntax == "URLs, commas between":
        return [url for url in value.split(",") if url.strip(SPACE)]
    if syntax == "image candidates":
        return candidates(value)
    if syntax == "time and URL":
        found = re.match(r"\s*[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(.*)", value, re.IGNORECASE | re.DOTALL)
        if not found:
            return []
        url = found.group(1)
        return [url[1:].split(url[0])[0] if url[:1] in ("'", '"') else url]
    return []


def candidates(value):
    """HTML, 4.8.4.2.2, without the descriptors."""
    found, at = [], 0
    while True:
        while at < len(value) and value[at] in SPACE + ",":
            at += 1
        if at == len(value):
            return found
        end = at
        while end < len(value) and value[end] not in SPACE:
            end += 1
        url = value[at:end]
        at = end
        if url.endswith(","):
            found.append(url.rstrip(","))
            continue
        found.append(url)
        depth = 0
        while at < len(value) and (depth or value[at] != ","):
            depth += (value[at] == "(") - (value[at] == ")" and depth > 0)
            at += 1


# The tree


def elements(tree):
    """The elements in tree order: namespace, name, attributes, True if the element is in a template."""
    stack = [(tree, False)]
    while stack:
        node, in_template = stack.pop()
        if not isinstance(node.tag, str):
            continue
        uri, name = re.match(r"\{(.*?)\}(.*)", node.tag).groups()
        attributes = {re.sub(r"^\{http://www.w3.org/1999/xlink\}", "xlink:", key): value for key, value in node.items()}
        yield NAMESPACES.get(uri, "?"), name.lower(), {key.lower(): value for key, value in attributes.items()}, in_template
        in_template = in_template or name == "template"
        stack.extend((child, in_template) for child in reversed(node))


def links(document, charset, url):
    """The links of a document, as a Counter of (element, attribute, reference, target)."""
    tree = list(elements(html5lib.parse(document, transport_encoding=charset)))
    bases = (a["href"] for space, name, a, inside in tree if (space, name) == ("HTML", "base") and "href" in a and not inside)
    base = next((resolve(url, href.strip(SPACE)) for href in bases), url)
    found = collections.Counter()
    for namespace, element, attributes, _ in tree:
        for attribute, value in attributes.items():
            row = row_of(namespace, element, attribute, attributes)
            for reference in references(row[4], value) if row else ():
                reference = re.sub("[\t\n\r]", "", reference.strip(SPACE))
                against = url if row[5] in ("fallback", "document URL") else base
                if row[5] == "codebase" and "codebase" in attributes:
                    against = resolve(base, attributes["codebase"].strip(SPACE))
                target = None if reference == "" and row[6] else resolve(against, reference)
                found[element, attribute, reference, target] += 1
    return found


def readable(records):
    try:
        yield from records
    except ArchiveLoadFailed:
        return


def theirs(path):
    """The links of the HTML of each record, by its offset."""
    with open(path, "rb") as file:
        records = ArchiveIterator(file)
        for record in readable(records):
            headers = record.http_headers or record.rec_headers
            media_type, _, parameters = (headers.get_header("Content-Type") or "").partition(";")
            if record.rec_type not in ("response", "resource") or media_type.strip().lower() != "text/html":
                continue
            # get_record_offset() skips to the end of the record, so the content is read first.
            document, offset = record.content_stream().read(), records.get_record_offset()
            charset = re.search(r"""charset\s*=\s*["']?([^\s;"']+)""", parameters, re.IGNORECASE)
            url = (record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
            yield offset, links(document, charset and charset.group(1), url)


def ours(binary, path):
    command = [binary, "links", "--config", "none", "--json", "--resolver", "rfc3986", path]
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    found = collections.defaultdict(collections.Counter)
    for line in process.stdout.decode("utf-8").splitlines():
        link = json.loads(line)
        if link["media_type"] == "text/html" and link["entity"] == "" and link["attribute"] not in (None, "style"):
            reference = re.sub("[\t\n\r]", "", link["reference"].strip(SPACE))
            key = link["element"], link["attribute"], reference, link["target"]
            found[link["offset"]][key] += 1
    return found


def compare(binary, path):
    """Prints the differences, and returns the number of equal links."""
    mine, other = ours(binary, path), collections.defaultdict(collections.Counter, theirs(path))
    same, differences = 0, collections.defaultdict(list)
    for offset in sorted(set(mine) | set(other)):
        same += (mine[offset] & other[offset]).total()
        more, fewer = mine[offset] - other[offset], other[offset] - mine[offset]
        targets = {key[:3]: key[3] for key in fewer}
        for key, times in more.items():
            what = f"{key[0]} {key[1]}"
            if key[:3] in targets:
                del fewer[key[:3] + (targets[key[:3]],)]
                differences[f"{what}: target"] += [(offset, key, targets[key[:3]])] * times
            else:
                differences[f"{what}: more"] += [(offset, key)] * times
        for key, times in fewer.items():
            differences[f"{key[0]} {key[1]}: fewer"] += [(offset, key)] * times
    for what, cases in sorted(differences.items()):
        print(path, what, len(cases), cases[0], sep="\t")
    return same


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    print(sum(compare(sys.argv[1], path) for path in sys.argv[2:]))
