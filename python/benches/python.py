"""The speed of the module compared with other packages for the same job, on the same pages in the same run.

    pip install ./python lxml beautifulsoup4 selectolax resiliparse
    python python/benches/python.py [--rounds N] [FOLDER]

FOLDER contains HTML pages; the default is ../shared/corpus/pages, beside the checkout. Jobs take turns, and the fastest
round of each counts. A package that is not installed is skipped with a notice. The Rust library is compiled first, with
`cargo bench`.

Ratios of one run can be compared between machines; absolute numbers cannot.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urljoin

import baselink

REPOSITORY = Path(__file__).resolve().parents[2]
URL = "http://example.org/docs/guide/page.html"
SLOW = {"lxml make_links_absolute", "BeautifulSoup + urljoin", "lxml iterlinks + urljoin", "resiliparse + urljoin"}
"""Jobs with only three rounds."""
ATTRIBUTES = ("href", "src", "action", "formaction", "cite", "data", "poster", "background", "longdesc")
SELECTOR = ", ".join(f"[{name}]" for name in ATTRIBUTES)

Job = Callable[[], float]
"""Runs once over all pages, and returns the seconds."""


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def joined(base: str, reference: str | None) -> str | None:
    try:
        return urljoin(base, reference or "")
    except ValueError:
        return None


def each(pages: list[bytes], work: Callable[[bytes], object]) -> Job:
    def all_pages() -> None:
        for page in pages:
            work(page)

    return lambda: timed(all_pages)


def in_threads(pages: list[bytes], number: int, work: Callable[[bytes], object]) -> Job:
    """Runs `work` on all pages in each of `number` threads, so the work of a thread does not depend on their number."""
    pool = ThreadPoolExecutor(number)

    def all_pages(_: int) -> None:
        for page in pages:
            work(page)

    return lambda: timed(lambda: list(pool.map(all_pages, range(number)))) / number


def rust(files: list[Path]) -> dict[str, Job]:
    """The jobs of rust.rs, a separate process that runs a round on request."""
    build = [
        "cargo",
        "bench",
        "--quiet",
        "-p",
        "baselink-python",
        "--bench",
        "rust",
        "--no-run",
        "--message-format=json",
    ]
    lines = subprocess.run(build, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE).stdout.splitlines()
    [program] = [one["executable"] for one in map(json.loads, lines) if one.get("executable")]
    pipe = subprocess.PIPE
    running = subprocess.Popen([program, URL, *map(str, files)], stdin=pipe, stdout=pipe, text=True)
    assert running.stdin is not None and running.stdout is not None
    write, read = running.stdin, running.stdout

    def job(name: str) -> Job:
        def round() -> float:
            print(name, file=write, flush=True)
            return int(read.readline()) / 1e9

        return round

    return {"Rust, rewrite": job("rewrite"), "Rust, links": job("links")}


def peers(pages: list[bytes]) -> dict[str, Job]:
    jobs: dict[str, Job] = {}

    def is_here(name: str) -> bool:
        found = importlib.util.find_spec(name) is not None
        if not found:
            print(f"not installed, and left out: {name}")
        return found

    if is_here("lxml"):
        import lxml.html

        def absolute(page: bytes) -> bytes:
            tree = lxml.html.document_fromstring(page)
            # Without handle_failures it raises on some of the pages.
            tree.make_links_absolute(URL, handle_failures="ignore")
            return lxml.html.tostring(tree)

        def iterlinks(page: bytes) -> list[tuple[object, object, str, str | None]]:
            tree = lxml.html.document_fromstring(page)
            return [(link[0].tag, link[1], link[2], joined(URL, link[2])) for link in tree.iterlinks()]

        jobs["lxml make_links_absolute"] = each(pages, absolute)
        jobs["lxml iterlinks + urljoin"] = each(pages, iterlinks)
    if is_here("bs4") and is_here("lxml"):
        from bs4 import BeautifulSoup

        def soup(page: bytes) -> bytes:
            tree = BeautifulSoup(page, "lxml")
            for name in ATTRIBUTES:
                for element in tree.find_all(attrs={name: True}):
                    element[name] = joined(URL, element[name]) or element[name]
            return tree.encode()

        jobs["BeautifulSoup + urljoin"] = each(pages, soup)
    if is_here("selectolax"):
        from selectolax.lexbor import LexborHTMLParser

        def select(page: bytes) -> list[tuple[object, str, str | None, str | None]]:
            tree = LexborHTMLParser(page)
            declared = tree.css_first("base[href]")
            base = URL if declared is None else joined(URL, declared.attributes["href"]) or URL
            found = []
            for node in tree.css(SELECTOR):
                attributes = node.attributes
                for name in ATTRIBUTES:
                    if name in attributes:
                        found.append((node.tag, name, attributes[name], joined(base, attributes[name])))
            return found

        jobs["selectolax + urljoin"] = each(pages, select)
    if is_here("resiliparse"):
        from resiliparse.parse.html import HTMLTree

        def resiliparse(page: bytes) -> list[tuple[str, str, str, str | None]]:
            tree = HTMLTree.parse_from_bytes(page, "utf-8")
            found = []
            # Many times as fast as query_selector_all, which takes quadratic time.
            for node in tree.document:
                if hasattr(node, "attrs"):
                    for name in ATTRIBUTES:
                        if value := node.getattr(name):
                            found.append((node.tag, name, value, joined(URL, value)))
            return found

        jobs["resiliparse + urljoin"] = each(pages, resiliparse)
    return jobs


RATIOS = [
    ("rewrite", "Rust, rewrite", "at least 0.8"),
    ("rewrite", "lxml make_links_absolute", "at least 20"),
    ("rewrite", "BeautifulSoup + urljoin", ""),
    ("rewrite, two threads", "rewrite, one thread", "at least 1.7"),
    # The speedup that the second core allows.
    ("SHA-1, two threads", "SHA-1, one thread", ""),
    ("links", "Rust, links", ""),
    ("links", "selectolax + urljoin", "at least 5"),
    ("links", "lxml iterlinks + urljoin", ""),
    ("links", "resiliparse + urljoin", ""),
    ("link_columns", "links", ""),
    ("iter_links", "links", ""),
]
"""A job, the job that it is compared with, and the goal for the ratio of their speeds."""


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast baselink is beside others.")
    parser.add_argument("folder", nargs="?", type=Path, default=REPOSITORY.parent / "shared/corpus/pages")
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    files = sorted(asked.folder.rglob("*.html"))
    if not files:
        sys.exit(f"no pages in {asked.folder}")
    pages = [path.read_bytes() for path in files]
    pairs = [(page, URL) for page in pages]
    jobs: dict[str, Job] = {
        "rewrite": each(pages, lambda page: baselink.rewrite(page, URL)),
        **rust(files),
        "links": each(pages, lambda page: baselink.links(page, URL)),
        "iter_links": lambda: timed(lambda: sum(1 for _ in baselink.iter_links(pairs))),
        "link_columns": lambda: timed(lambda: sum(rows for rows, _ in baselink.link_columns(pairs))),
        "rewrite, one thread": in_threads(pages, 1, lambda page: baselink.rewrite(page, URL)),
        "rewrite, two threads": in_threads(pages, 2, lambda page: baselink.rewrite(page, URL)),
        "SHA-1, one thread": in_threads(pages, 1, hashlib.sha1),
        "SHA-1, two threads": in_threads(pages, 2, hashlib.sha1),
        **peers(pages),
    }
    best = dict.fromkeys(jobs, float("inf"))
    for round in range(asked.rounds):
        for name, job in jobs.items():
            if round < 3 or name not in SLOW:
                best[name] = min(best[name], job())
    size = sum(map(len, pages))
    print(f"{len(pages)} pages, {size / 1e6:.1f} MB, Python {sys.version.split()[0]}\n")
    for name, seconds in best.items():
        print(f"{name:26} {seconds * 1e3:9.1f} ms {size / 1e6 / seconds:8.0f} MB/s")
    print()
    for name, other, wanted in RATIOS:
        if name in best and other in best:
            ratio = best[other] / best[name]
            print(f"{name} is {ratio:.2f} times as fast as {other}" + (f" (wanted: {wanted})" if wanted else ""))


if __name__ == "__main__":
    main()
