"""Compares the vocabulary of the command, Rust, Python and JavaScript: each gets the same calls, and must give the same answers.

    python judge.py COMMAND RUST     # the paths of two programs: baselink, and the example `vocabulary` of the library

The calls are those of calls.json and, for each document of ../../fixtures, those of DOCUMENT. An adapter answers them without
renaming anything, except that camelCase is snake_case. Every difference from the answer of Python must be in known.json, with
its reason, and every known difference must occur.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
DOCUMENT = ["links", "rewrite", "base", "rewrite_report", "rewrite_links"]
"""The functions that are called with every document."""


class Call(NamedTuple):
    check: str
    function: str
    arguments: list[Any]
    options: dict[str, Any]


def calls() -> Iterator[Call]:
    """The calls of calls.json. An argument in bytes is an object with the key `bytes`."""
    for check, rows in json.loads((FOLDER / "calls.json").read_text()).items():
        for function, arguments, options in rows:
            encoded = [encode(one["latin1"].encode("latin1")) if isinstance(one, dict) else one for one in arguments]
            yield Call(check, function, encoded, options)


def encode(data: bytes) -> dict[str, str]:
    return {"bytes": base64.b64encode(data).decode()}


def document_calls(data: bytes, options: dict[str, Any]) -> Iterator[Call]:
    for function in DOCUMENT:
        yield Call("documents", function, [encode(data)], options)


def answers(program: list[str | Path], asked: list[Call]) -> list[Any]:
    lines = "".join(json.dumps(call[1:]) + "\n" for call in asked)
    run = subprocess.run(program, input=lines, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.split("\n")[:-1]]


def differences(path: str, one: Any, other: Any) -> Iterator[str]:
    """The places in which `other` differs from `one`. Items of a list have one place."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            if key not in other or key not in one:
                yield f"{path}.{key}: {'absent' if key in one else 'added'}"
            else:
                yield from differences(f"{path}.{key}", one[key], other[key])
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for pair in zip(one, other, strict=True):
            yield from differences(f"{path}[]", *pair)
    elif one != other:
        yield f"{path}: other"


def compare(programs: dict[str, list[str | Path]], asked: list[Call]) -> dict[str, str]:
    """Each difference, with the first call in which it occurs."""
    found: dict[str, str] = {}
    given = {name: answers(program, asked) for name, program in programs.items()}
    for name, rows in given.items():
        assert len(rows) == len(asked), name
        for call, expected, answer in zip(asked, given["Python"], rows, strict=True):
            # Each wrong argument is a place of its own.
            root = f"{call.function} {json.dumps(call.options)}" if call.check == "wrong" else call.function
            if answer == {"error": "absent"}:
                places: Iterable[str] = [f"{root}: absent"]
            else:
                places = differences(root, expected, answer)
            for place in places:
                example = f"{json.dumps(call[1:])[:300]}\n  Python: {json.dumps(expected)[:600]}\n  {name}: {json.dumps(answer)[:600]}"
                found.setdefault(f"{name}: {call.check}: {place}", example)
    return found


def programs(command: Path, rust: Path) -> dict[str, list[str | Path]]:
    return {
        "Python": [sys.executable, FOLDER / "adapter.py"],
        "JavaScript": ["node", FOLDER / "adapter.mjs"],
        "Rust": [rust],
        "command": [sys.executable, FOLDER / "adapter_of_command.py", command],
    }


def failures(found: dict[str, str]) -> list[str]:
    """The differences that known.json lacks, and those that it has, but that do not occur."""
    known = json.loads((FOLDER / "known.json").read_text())
    new = [f"{place}\n  {example}" for place, example in found.items() if place not in known]
    return new + [f"{place}\n  does not occur: delete it from known.json" for place in known if place not in found]


if __name__ == "__main__":
    wrong = failures(compare(programs(*map(Path, sys.argv[1:])), list(calls())))
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)
