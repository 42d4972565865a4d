"""Helpers of several tests: the cases of ../fixtures, the command, and files outside the repository.

If a file or program is absent, a test is skipped; with BASELINK_REQUIRE_OUTSIDE=1, as CI sets it, it fails.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
FIXTURES = REPOSITORY / "fixtures"
SHARED = REPOSITORY.parent / "shared"


class Case(NamedTuple):
    """A file of fixtures/FORMAT: its options, each with its value, and its sections."""

    name: str
    format: str
    extension: str
    arguments: list[tuple[str, str]]
    sections: dict[str, bytes]

    def read(self, name: str) -> bytes:
        return self.sections[name.replace("*", self.extension)]

    def rows(self, name: str) -> list[list[str]]:
        return [line.split("\t") for line in self.read(name).decode().split("\n")[:-1]]

    def has_any(self, options: set[tuple[str, str]]) -> bool:
        return any(option in options for option in self.arguments)


FOLDERS = {
    "html": ("html", "html", 100),
    "css": ("css", "css", 60),
    "xhtml": ("xhtml", "xhtml", 15),
    "svg": ("svg", "svg", 10),
    "feed": ("xml", "xml", 15),
    "manifest": ("manifest", "webmanifest", 3),
    "jsonfeed": ("jsonfeed", "json", 1),
    "script": ("script", "js", 5),
    "message": ("message", "eml", 140),
    "http": ("http", "http", 40),
}
"""Folders of cases: their format, the extension of their documents, and the minimum number of cases."""

WITHOUT_VALUE = {"--skip-dkim": {"dkim": "keep"}}
TRUST = {"-content-location": {"content_location": "label"}, "-local-copies": {"local_copies": "rewrite"}}
OPTIONS = {
    "--url": "url",
    "--resolver": "resolver",
    "--fragments": "fragments",
    "--base-element": "base_element",
    "--charset": "charset",
    "--enable": "enable",
    "--attribute": "attributes",
    "--assume-scheme": "assume_scheme",
    "--format": "format",
}
COMMAND_ONLY = {("--trust", "entry-link"), ("--trust", "-saved")}
"""Options of the command that neither `Rewriter` nor the module has."""


def options_of(case: Case) -> dict[str, Any]:
    """The options of a case as keyword arguments."""
    options: dict[str, Any] = {"format": case.format}
    for name, value in case.arguments:
        if name in WITHOUT_VALUE:
            options |= WITHOUT_VALUE[name]
        elif name == "--trust":
            options |= TRUST[value]
        elif name in ("--enable", "--attribute"):
            options.setdefault(OPTIONS[name], []).append(value)
        else:
            options[OPTIONS[name]] = value
    return options


ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|.|\n)")
SINGLE = {b"r": b"\r", b"t": b"\t", b"\\": b"\\", b"\n": b""}


def unescape(text: bytes) -> bytes:
    """The bytes of an escaped section; tests/common/case_file.rs describes the form of cases."""

    def byte(found: re.Match[bytes]) -> bytes:
        escape = found[1]
        return SINGLE[escape] if escape in SINGLE else bytes.fromhex(escape[1:].decode())

    return ESCAPE.sub(byte, text)


def words(command: str) -> list[str]:
    """The arguments of a command line. Only `$'…'` contains escapes."""
    found: list[str] = []
    for space, escaped, *plain in re.findall(r"( )|\$'([^']*)'|'([^']*)'|\"([^\"]*)\"|([^ '\"]+)", command):
        if space:
            found.append("")
        else:
            found[-1] += unescape(escaped.encode()).decode() + "".join(plain)
    return found


def case_of(path: Path, format: str, extension: str) -> Case:
    head, *sections = re.split(rb"^==> ", path.read_bytes(), flags=re.MULTILINE)
    found = {}
    for section in sections:
        header, content = section.split(b"\n", 1)
        name, form = header.decode().split(" <==")
        found[name] = unescape(content) if form == " escaped" else content[:-1] if form else content
    given = iter(words(head.decode().split("$ baselink rewrite", 1)[1].rstrip("\n")))
    arguments = [(name, "" if name in WITHOUT_VALUE else next(given)) for name in given]
    return Case(f"{path.parent.name}/{path.stem}", format, extension, arguments, found)


def cases() -> Iterator[Case]:
    for name, (format, extension, least) in FOLDERS.items():
        paths = sorted((FIXTURES / name).glob("*.case"))
        assert len(paths) >= least, f"{name} has only {len(paths)} cases"
        for path in paths:
            yield case_of(path, format, extension)


def absent(what: str) -> NoReturn:
    if os.environ.get("BASELINK_REQUIRE_OUTSIDE"):
        pytest.fail(f"{what} is absent")
    pytest.skip(f"{what} is absent")


class Command(NamedTuple):
    """The program baselink."""

    path: Path

    def __call__(self, *arguments: str | Path, data: bytes | None = None) -> bytes:
        found = subprocess.run([self.path, *arguments], input=data, capture_output=True, check=False)
        assert found.returncode == 0, found.stderr.decode()
        return found.stdout


@pytest.fixture(scope="session")
def command() -> Command:
    """The program at the path BASELINK, or else the one that `cargo build` built in this checkout."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    path = Path(os.environ.get("BASELINK", target / "debug" / "baselink"))
    if not path.exists():
        absent(str(path))
    return Command(path)


def outside(name: str) -> list[Path]:
    """The files in a folder of ../shared, which contains real documents."""
    folder = SHARED / name
    if not folder.is_dir():
        absent(str(folder))
    return sorted(path for path in folder.rglob("*") if path.is_file())
