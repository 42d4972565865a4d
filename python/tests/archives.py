"""Small archives for tests, and the output of the command for an archive."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
from typing import Any

import pytest
from conftest import Command

PAGE = b'<base href="/b/"><a href=x>'


def skip_file(error: ImportError) -> None:
    """Skips a test file because a module is absent. With BASELINK_REQUIRE_OUTSIDE, the file fails instead."""
    if os.environ.get("BASELINK_REQUIRE_OUTSIDE"):
        raise error
    pytest.skip(f"{error.name} is absent", allow_module_level=True)


def command_rows(
    command: Command, archive: str, *options: str
) -> tuple[list[dict[str, Any]], list[tuple[int | None, int | None, str]]]:
    """The output of `baselink links --json` for an archive: rows, and anomalies as offset, `within`, message."""
    done = subprocess.run(
        [command.path, "links", "--json", "-v", *options, archive], capture_output=True, text=True, check=False
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    name = re.escape(archive)
    warnings = re.findall(rf"^{name}@(\d+)(?:\+(\d+))?: warning\[([\w-]+)\]: (.*)$", done.stderr, re.MULTILINE)
    said = [(int(offset), int(within or 0), f"{code}: {text}") for offset, within, code, text in warnings]
    errors = re.findall(rf"^error: {name}: (.*)$", done.stderr, re.MULTILINE)
    return rows, [*said, *((None, None, f"OSError: {text}") for text in errors)]


def record(block: bytes, **fields: str) -> bytes:
    """A record with header fields: the argument `WARC_Type` is the field `WARC-Type`."""
    fields = {"WARC_Type": "response", "WARC_Target_URI": "http://h.example/", **fields}
    fields = {"Content_Type": "application/http", "WARC_Record_ID": "<urn:uuid:1>", **fields}
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items()]
    return b"WARC/1.1\r\n" + "".join(lines).encode() + b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (len(block), block)


def response(body: bytes, *fields: str) -> bytes:
    heading = ["HTTP/1.1 200 OK", "Content-Type: text/html", *fields]
    return "".join(line + "\r\n" for line in heading).encode() + b"\r\n" + body


def archive(*records: bytes) -> bytes:
    """A compressed archive with a member for each record."""
    return b"".join(gzip.compress(one, mtime=0) for one in records)
