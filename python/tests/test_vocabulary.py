"""The command, Rust, Python and JavaScript have one vocabulary, by the judge in ../../tests/vocabulary."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from conftest import COMMAND_ONLY, REPOSITORY, Command, absent, cases, options_of

sys.path.insert(0, str(REPOSITORY / "tests" / "vocabulary"))
import judge

CODED = ("br", "deflate", "gzip", "zstd", "media-type-absent-gzip")
"""Cases of compressed responses, which only the npm package leaves unchanged."""


def test_the_vocabulary_is_one(command: Command) -> None:
    rust = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")) / "debug" / "examples" / "vocabulary"
    if not rust.exists():
        absent(f"{rust}, which `cargo build --example vocabulary` builds,")
    if not (REPOSITORY / "js" / "pkg" / "node.mjs").exists():
        absent("js/pkg, which `node js/build.mjs --dev` builds,")
    calls = list(judge.calls())
    for case in cases():
        if not case.has_any(COMMAND_ONLY) and not any(word in case.name.split("/")[1] for word in CODED):
            calls += judge.document_calls(case.read("input.*"), options_of(case))
    wrong = judge.failures(judge.compare(judge.programs(command.path, rust), calls))
    assert not wrong, "\n".join(wrong)
