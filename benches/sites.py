#!/usr/bin/env python3
"""Instructions and memory of the commands on sites: folders, archives, and an archive of one page with very many links.

    benches/sites.py PROGRAM...                  a column for each program, such as one before a change and one after it
    benches/sites.py --docs ROOT PROGRAM...      with the manual of Debian's python3.11-doc, unpacked by `dpkg -x PACKAGE ROOT`

Callgrind counts instructions. Those of a command are given for each link, after those of `rewrite` of the same input are
subtracted; so they are the cost of the question what a link means in the site. Peak memory is that of `/usr/bin/time`, in
MB of 1,000,000 bytes. The last column is the goal.

Deliberately absent: time, which depends on the machine. `benches/tree.rs` and `benches/archive.rs` measure time.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

URL = "https://docs.python.org/3/"
MANUAL = "usr/share/doc/python3.11/html"
# The number of pages of the manual in an archive.
PAGES = 150


def instructions(program, *arguments):
    """The instructions of a run, with one thread."""
    shutil.rmtree("out", ignore_errors=True)
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", ended.stderr)
    assert found and ended.returncode in (0, 1), ended.stderr[-2000:]
    return int(found[1])


def peak(program, *arguments):
    """The peak memory of a run, in bytes."""
    shutil.rmtree("out", ignore_errors=True)
    command = ["/usr/bin/time", "-o", "peak", "-f", "%M", program, *arguments]
    status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    assert status in (0, 1), f"{arguments}: status {status}"
    return int(Path("peak").read_text().split()[-1]) * 1024


def links(program, path):
    """The number of links in a file or folder."""
    listed = subprocess.run([program, "links", "--json", path], stdout=subprocess.PIPE, check=True).stdout
    return listed.count(b"\n")


def warc(name, captures):
    """Writes a compressed WARC file with a member for each capture, a pair of a URL and a body."""
    with open(name, "wb") as file:
        for number, (url, body) in enumerate(captures):
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body
            heading = (f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
                       f"WARC-Record-ID: <urn:x:{number}>\r\nContent-Type: application/http; msgtype=response\r\n"
                       f"Content-Length: {len(block)}\r\n\r\n")
            file.write(gzip.compress(heading.encode() + block + b"\r\n\r\n"))


def har(name, captures):
    """Writes an HTTP archive."""
    entries = [{
        "startedDateTime": "2026-01-01T00:00:00.000Z",
        "request": {"method": "GET", "url": url},
        "response": {"status": 200, "headers": [], "redirectURL": "",
                     "content": {"size": len(body), "mimeType": "text/html; charset=utf-8", "text": body.decode()}},
    } for url, body in captures]
    Path(name).write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))


def instructions_of_a_link(manual, rows):
    """Rows for the manual as a folder, and for some of its pages in archives."""
    shutil.copytree(manual, "manual", symlinks=True)
    url = ["--url", URL, "-j", "1"]
    folder = [
        ("localize", 5000, ["localize", "manual", "-o", "out", *url]),
        ("check", 4000, ["check", "manual", *url]),
        ("move --to", 3000, ["move", "manual", "-o", "out", "--to", "https://moor.example/3/", *url]),
        ("move --relative", 5000, ["move", "manual", "-o", "out", "--relative", *url]),
    ]
    rows.above("folder", "manual", folder, ["rewrite", "manual", "-o", "out", *url])
    pages = sorted(path for path in Path("manual").rglob("*.html") if path.is_file())[:PAGES]
    captures = [(URL + str(path.relative_to("manual")), path.read_bytes()) for path in pages]
    for kind, write in [("warc.gz", warc), ("har", har)]:
        write(f"pages.{kind}", captures)
        archive = [
            ("localize", 5000, ["localize", f"pages.{kind}", "-o", "out", "-j", "1"]),
            ("check", 2500, ["check", f"pages.{kind}", "-j", "1"]),
        ]
        rows.above(kind, f"pages.{kind}", archive, ["rewrite", f"pages.{kind}", "-o", "out", "-j", "1"])
    size = Path("pages.har").stat().st_size
    for command in (["check"], ["localize", "-o", "out"]):
        costs = [(peak(program, *command, "pages.har") - size) / 1e6 for program in rows.programs]
        rows.add(f"har: MB of {command[0]} above its size", costs, 36)


def memory_of_links(rows):
    """Rows for an archive of a few kilobytes whose page has 5 MB of links, and one of twice the size."""
    formats = [["links"], ["links", "-v"], ["links", "--json"], ["links", "--only-targets"]]
    link = b"<a href=x>\n"
    for size, limit in [(5_000_000, 64), (10_000_000, 128)]:
        warc("links.warc.gz", [("https://moor.example/", b"<!DOCTYPE html><title>x</title>\n" + link * (size // len(link)))])
        for command in [["check"], ["check", "--json"], ["localize", "-o", "out"], ["rewrite", "-o", "out"], *formats]:
            costs = [peak(program, *command, "links.warc.gz") / 1e6 for program in rows.programs]
            rows.add(f"{size // 1_000_000} MB of links: MB of {' '.join(command)}", costs, limit)


def memory_of_captures(rows):
    """Rows for what one more capture costs."""
    peaks, few, many = {}, 20_000, 60_000
    for count in (few, many):
        warc("many.warc.gz", ((f"https://moor.example/folder/page-{number}.html", b"<title>x</title>\n")
                              for number in range(count)))
        for command in (["check"], ["localize", "-o", "out"]):
            peaks[command[0], count] = [peak(program, *command, "many.warc.gz") for program in rows.programs]
    for command in ("check", "localize"):
        costs = [(after - before) / (many - few) for before, after in zip(peaks[command, few], peaks[command, many])]
        rows.add(f"bytes of one more capture in {command}", costs, 250)


class Rows:
    """Prints a table row by row."""

    def __init__(self, programs):
        self.programs = programs
        print(f"{'':52}", *(f"{Path(program).name[-14:]:>14}" for program in programs), f"{'goal':>10}")

    def add(self, name, costs, goal):
        cells = [f"{cost:>14,.0f}" for cost in costs]
        print(f"{name:52}", *cells, f"{goal if goal is not None else '':>10}", flush=True)

    def above(self, kind, path, commands, rewrite):
        """Rows for instructions a link of each command above those of `rewrite`, whose own come first."""
        count = links(self.programs[0], path)
        plain = [instructions(program, *rewrite) for program in self.programs]
        self.add(f"{kind}, {count} links: instructions of rewrite a link", [cost / count for cost in plain], None)
        for name, goal, arguments in commands:
            costs = [(instructions(program, *arguments) - base) / count for program, base in zip(self.programs, plain)]
            self.add(f"{kind}: instructions of {name} above it", costs, goal)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", metavar="PROGRAM", nargs="+", type=lambda name: str(Path(name).resolve()))
    parser.add_argument("--docs", metavar="ROOT", type=Path, default=Path("/"))
    options = parser.parse_args()
    manual = options.docs.resolve() / MANUAL
    if missing := [name for name in ("valgrind", "/usr/bin/time") if not shutil.which(name)]:
        sys.exit(f"{missing[0]} is not installed")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rows = Rows(options.programs)
        if manual.is_dir():
            instructions_of_a_link(manual, rows)
        else:
            print(f"{manual} is absent, so the manual is not measured")
        memory_of_links(rows)
        memory_of_captures(rows)


if __name__ == "__main__":
    main()
