#!/usr/bin/env python3
"""Compares two builds of baselink over every document at hand, byte for byte.

Each case is a command and its input files. Both programs run it in a folder of the same name, with the same
environment. The exit status, standard output, standard error, and all files after the run must be equal.
`intended.tsv` in this folder lists the intended differences. A line has the name of a case, a tab, and the reason.
A difference that is not listed is an error, and so is a listed case that does not differ.

    cargo build --release && cp target/release/baselink /tmp/before            # before the first change
    cargo build --release && tests/compare/compare.py /tmp/before target/release/baselink
    tests/compare/compare.py OLD NEW --only fixtures/css/                      # cases whose names contain this

A change of the fixtures changes the cases. To compare with the same cases before and after it, keep copies of `fixtures/`
and `tests/cli/cases/` beside the old program, and name them with `--fixtures DIR` and `--cases DIR`.

The cases come from `fixtures/` and `tests/cli/`; from `corpus/` and `suites/` in the folder `shared` next to the
checkout; and from the manuals of Debian's python3.11-doc and sqlite3-doc. Install these packages, or unpack them with
`dpkg -x PACKAGE ROOT` and add `--docs ROOT/usr/share/doc`.

Deliberately absent: correctness. Two programs with the same fault count as equal.
"""

import argparse
import html
import itertools
import json
import multiprocessing
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
URL = "http://base.test/dir/page"
# Seconds after which a run is killed.
LONGEST = 600

# Commands on a document, and on a folder of documents. After the first word, `commands` inserts the options of a fixture
# and the name of the document; OUT becomes a new name.
DOCUMENT = [
    "rewrite", "rewrite -o OUT", "rewrite -i --backup .orig", "rewrite --dry-run --json", "rewrite --resolver whatwg",
    "rewrite --resolver rfc3986", "links", "links -v", "links --json", "base --json",
]
TREE = [
    "rewrite -v -o OUT", "rewrite -i --backup .orig", "rewrite --dry-run --json --resolver whatwg",
    "rewrite -o OUT --resolver rfc3986", "check", "check --json", "check --layout host --json", "localize -o OUT",
    "localize --layout host -o OUT", "links -v", "links --json", "base --json",
]
# Options that determine the retrieval URLs of documents.
RETRIEVAL = {"--url", "--url-map", "--layout"}
# Options of fixtures that a command does not accept.
REFUSED = {
    "rewrite": {"--to"}, "links": {"--to"}, "localize": {"--to"},
    "base": {"--to", "--base-element", "--fragments", "--skip-dkim"},
}


class Case(NamedTuple):
    """A command and its input. A file is bytes, the path of the file to copy, or the target of a symbolic link as text."""

    name: str
    arguments: list
    files: dict
    stdin: object = b""


def commands(name, table, path, files, options=()):
    """A case for each line of a table, on the document or folder `path`. It gets --url if no option gives retrieval URLs."""
    for line in table:
        command, *more = [f"new-{path}" if word == "OUT" else word for word in line.split()]
        given = [] if RETRIEVAL & {*options, *more} else ["--url", URL]
        is_kept = True
        for word in [] if "--layout" in more else options:
            if word.startswith("--"):
                # No option is given twice.
                is_kept = word not in more and word not in REFUSED.get(command, ())
            if is_kept:
                given.append(word)
        yield Case(f"{name} {line}", [command, *given, path, *more], files)


def document(name, path, content, options=()):
    """The cases of a document, whose name is `path` when the commands run."""
    yield Case(f"{name} rewrite < INPUT", ["rewrite", *options], {}, content)
    yield from commands(name, DOCUMENT, path, {path: content}, options)


def tree(name, folder, options=()):
    """The cases of a folder of documents. Tables that the options name are next to the folder."""
    files = {f"tree/{path}": folder / path for path in below(folder)}
    files.update({option: folder.parent / option for option in options if option.endswith(".csv")})
    yield from commands(name, TREE, "tree", files, options)


def below(folder):
    """The paths of the files below a folder, relative to it. Symbolic links count as files."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        yield from (os.path.relpath(os.path.join(parent, name), folder) for name in sorted(names + links))


def lines(path):
    """The lines of a file, which end with a line feed. The last line may lack it."""
    text = path.read_bytes().decode("utf-8")
    return text.removesuffix("\n").split("\n") if text else []


ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|.|\n)")
SINGLE = {b"r": b"\r", b"t": b"\t", b"\\": b"\\", b"\n": b""}


def unescape(text):
    """The bytes of an `escaped` section."""
    return ESCAPE.sub(lambda found: SINGLE[found[1]] if found[1] in SINGLE else bytes.fromhex(found[1][1:].decode()), text)


def words(command):
    """The arguments of a command line. Only `$'…'` contains escapes."""
    pieces = re.findall(r"( )|\$'([^']*)'|'([^']*)'|\"([^\"]*)\"|([^ '\"]+)", command)
    found = []
    for space, escaped, *plain in pieces:
        if space:
            found.append("")
        else:
            found[-1] += unescape(escaped.encode()).decode() + "".join(plain)
    return found


def case_file(path):
    """The arguments and the sections of a case, in the format that `tests/common/case_file.rs` describes."""
    head, *sections = re.split(rb"^==> ", path.read_bytes(), flags=re.M)
    found = {}
    for section in sections:
        header, content = section.split(b"\n", 1)
        name, form = header.decode().split(" <==")
        link = form.removeprefix(" link ")
        found[name] = unescape(content) if form == " escaped" else link if link != form else content[:-1] if form else content
    return words(re.search(r"^\$ baselink(.*)$", head.decode(), re.M)[1]), found


def cli_cases(folder):
    """The cases of `tests/cli/cases/`, or of a copy."""
    for path in sorted(folder.glob("*.case")):
        arguments, found = case_file(path)
        files = {name: content for name, content in found.items()
                 if name not in {"stdin", "stdout", "stderr"} and not name.startswith("after/")}
        yield Case(f"tests/cli/{path.stem}", arguments, files, found.get("stdin", b""))


def fixture_cases(root):
    """Documents with their options, folders of documents, and every other file as a document."""
    sites = ["archive", "crawl", "notes", "saved", *sorted(f"saves/{name}" for name in os.listdir(root / "saves"))]
    for name in sites:
        yield from tree(f"fixtures/{name}", root / name)
    for path in map(Path, below(root)):
        file, folder = root / path, root / path.parent
        if path.parts[0] == "tree" and path.suffix != ".case":
            if path.name == "move":
                yield from tree(f"fixtures/{path.parent}", folder / "site", lines(file))
        elif path.suffix == ".case" and path.parts[0] == "tree":
            (_, *options, _), found = case_file(file)
            files = {f"tree/{name.removeprefix('site/')}": content for name, content in found.items() if name.startswith("site/")}
            files.update({name: content for name, content in found.items() if name.endswith(".csv")})
            yield from commands(f"fixtures/{path.with_suffix('')}", TREE, "tree", files, options)
        elif path.suffix == ".case":
            (_, *options), found = case_file(file)
            name, content = next(section for section in found.items() if section[0].startswith("input."))
            yield from document(f"fixtures/{path.with_suffix('')}", name, content, options)
        # The form of older fixtures: a folder for each case.
        elif (folder / "arguments").exists():
            if path.stem == "input":
                yield from document(f"fixtures/{path.parent}", path.name, file, lines(folder / "arguments"))
        elif path.parts[0] not in ("crawl", "saves"):
            yield from document(f"fixtures/{path}", path.name, file)


def suite_cases(suites):
    """The inputs of public test suites: a folder of documents for each file of tests, and pairs of base and reference."""
    def suite(path, suffix, inputs):
        documents = {f"tree/{number:04}.{suffix}": content for number, content in enumerate(inputs, 1)}
        yield from commands(f"suites/{path.relative_to(suites)}", TREE, "tree", documents)

    def read(path):
        return json.loads(path.read_text("utf-8"))

    def utf8(text):
        return text.encode("utf-8", "surrogatepass")

    for path in sorted((suites / "html5lib-tests").rglob("*.dat")):
        tests = (b"\n" + path.read_bytes()).split(b"\n#data\n")[1:]
        yield from suite(path, "html", (test.split(b"\n#errors")[0] for test in tests))
    for path in sorted((suites / "html5lib-tests").rglob("*.test")):
        yield from suite(path, "html", (utf8(test["input"]) for test in read(path).get("tests", [])))
    for path in sorted((suites / "css-parsing-tests").glob("*.json")):
        sheets = (utf8(test) if isinstance(test, str) else test["css_bytes"].encode("latin-1") for test in read(path)[::2])
        yield from suite(path, "css", sheets)
    for name, page in [
        ("base-cases", lambda test: test["html"]),
        ("wpt-srcset", lambda test: f'<img srcset="{html.escape(test["srcset"])}">'),
        ("wpt-meta-refresh", lambda test: f'<meta http-equiv=refresh content="{html.escape(test["content"])}">'),
    ]:
        path = suites / name / "cases.json"
        yield from suite(path, "html", (utf8(page(test)) for test in read(path)))
    for path in sorted((suites / "resolution").glob("*.json")):
        tests = read(path)
        tests = tests["cases"] if isinstance(tests, dict) else tests
        pairs = b"".join(utf8(f"{test['base']}\t{test['ref']}\n") for test in tests)
        for resolver in ("rfc1808", "rfc3986", "whatwg"):
            arguments = ["resolve", "--pairs", "--json", "--resolver", resolver]
            yield Case(f"suites/{path.relative_to(suites)} {' '.join(arguments)}", arguments, {}, pairs)


def all_cases(shared, docs, fixtures, cases_of_commands):
    """Every case, and the folders that are absent. Large cases come first, since cases run in parallel."""
    absent = []

    def present(folder):
        if not folder.is_dir():
            absent.append(folder)
        return folder.is_dir()

    cases = []
    for folder in (docs / "python3.11/html", docs / "sqlite3", shared / "corpus/pages"):
        if present(folder):
            cases += tree(f"trees/{folder.relative_to(docs if docs in folder.parents else shared)}", folder)
    if present(shared / "suites"):
        cases += suite_cases(shared / "suites")
    for folder in ("archives", "mail", "pages", "warc"):
        folder = shared / "corpus" / folder
        if present(folder):
            for path in below(folder):
                cases += document(f"corpus/{folder.name}/{path}", Path(path).name, folder / path)
    cli = list(cli_cases(cases_of_commands))
    if not cli:
        absent.append(cases_of_commands)
    return [*cases, *fixture_cases(fixtures), *cli], absent


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.symlink_to(content)
    else:
        shutil.copyfile(content, path, follow_symlinks=False)


def run(program, case, to):
    """Runs a case in the folder `run`, and renames the folder with the files and the output to `to`."""
    files = Path("run/files")
    files.mkdir(parents=True)
    for path, content in case.files.items():
        put(files / path, content)
    put(Path("run/stdin"), case.stdin)
    with open("run/stdin", "rb") as stdin, open("run/stdout", "wb") as stdout, open("run/stderr", "wb") as stderr:
        # The environment and the name of the program are the same for both, and the time is fixed.
        try:
            status = subprocess.call(["baselink", *case.arguments], executable=program, cwd=files, stdin=stdin,
                                     stdout=stdout, stderr=stderr, env={"SOURCE_DATE_EPOCH": "0"}, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            status = f"killed after {LONGEST} s"
    put(Path("run/status"), f"{status}\n".encode())
    shutil.rmtree(to, ignore_errors=True)
    os.rename("run", to)


def difference(old, new):
    """The first difference between two files; None if they are equal."""
    if not os.path.lexists(old) or not os.path.lexists(new):
        return f"only the {'old' if os.path.lexists(old) else 'new'} program writes it"
    modes = [os.lstat(path).st_mode for path in (old, new)]
    if modes[0] != modes[1]:
        return " is now ".join(map(stat.filemode, modes))
    contents = [os.fsencode(os.readlink(path)) if os.path.islink(path) else path.read_bytes() for path in (old, new)]
    if contents[0] == contents[1]:
        return None
    both = itertools.zip_longest(*(content.split(b"\n") for content in contents), fillvalue=b"(no such line)")
    number, pair = next((number, pair) for number, pair in enumerate(both, 1) if pair[0] != pair[1])
    at = len(os.path.commonprefix(pair))
    old, new = (repr(line[max(0, at - 60):at + 60])[1:] for line in pair)
    return f"line {number}, column {at + 1}\n      - {old}\n      + {new}"


def compare(case):
    """The differences between the programs in a case, one per file."""
    run(OLD, CASES[case], "old")
    run(NEW, CASES[case], "new")
    paths = sorted({*below("old"), *below("new")})
    differences = [(path, difference(Path("old", path), Path("new", path))) for path in paths]
    return [f"    {path}: {text}" for path, text in differences if text]


def into_own_folder(folder):
    os.chdir(tempfile.mkdtemp(dir=folder))


def intended():
    """The reasons in `intended.tsv`, by the names of the cases."""
    listed = [line.split("\t") for line in lines(HERE / "intended.tsv") if not line.startswith("#")]
    if wrong := [fields for fields in listed if len(fields) != 2 or not all(fields)]:
        sys.exit(f"intended.tsv: {wrong[0]} is not a name, a tab and a reason")
    return dict(listed)


def main():
    global CASES, OLD, NEW
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD", type=os.path.abspath)
    parser.add_argument("new", metavar="NEW", type=os.path.abspath)
    parser.add_argument("--only", metavar="SUBSTRING", default="", help="only cases whose names contain it")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count(), help="how many cases at a time")
    parser.add_argument("--shared", metavar="DIR", type=Path, default=CHECKOUT.parent / "shared")
    parser.add_argument("--docs", metavar="DIR", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--fixtures", metavar="DIR", type=Path, default=CHECKOUT / "fixtures")
    parser.add_argument("--cases", metavar="DIR", type=Path, default=CHECKOUT / "tests/cli/cases")
    options = parser.parse_args()
    for program in (options.old, options.new):
        if not os.access(program, os.X_OK):
            parser.error(f"{program}: not a program")
    started = time.monotonic()
    cases, absent = all_cases(options.shared.resolve(), options.docs.resolve(), options.fixtures.resolve(),
                              options.cases.resolve())
    assert len({case.name for case in cases}) == len(cases), "two cases have one name"
    OLD, NEW, CASES = options.old, options.new, {case.name: case for case in cases if options.only in case.name}
    listed = {name for name in intended() if options.only in name}
    differing = set()
    pools = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder, pools.Pool(options.jobs, into_own_folder, [folder]) as pool:
        for case, found in zip(CASES.values(), pool.imap(compare, CASES)):
            if found:
                differing.add(case.name)
            if found and case.name not in listed:
                print(case.name, f"  baselink {' '.join(case.arguments)}", *found[:5], sep="\n", flush=True)
    stale, unlisted = listed - differing, differing - listed
    for name in sorted(stale):
        print(f"{name}: listed, and {'does not differ' if name in CASES else 'not a case'}")
    for folder in absent:
        print(f"{folder}: absent; its cases were not compared")
    print(f"{len(CASES)} cases, {time.monotonic() - started:.0f} s: {len(unlisted)} unlisted differences, "
          f"{len(differing & listed)} listed differences, {len(stale)} stale lines")
    sys.exit(1 if unlisted or stale or not CASES or (absent and not options.only) else 0)


if __name__ == "__main__":
    main()
