"""The examples in the docstrings and in README.md run."""

from __future__ import annotations

import doctest
import importlib.metadata
import re
from pathlib import Path
from types import ModuleType

import pytest

import baselink
from baselink import _text, _types

README = Path(__file__).parents[1] / "README.md"


def run(test: doctest.DocTest) -> int:
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert found.failed == 0
    return found.attempted


@pytest.mark.parametrize("module", [baselink, _text, _types], ids=lambda module: module.__name__)
def test_the_examples_of_a_module(module: ModuleType) -> None:
    for test in doctest.DocTestFinder().find(module):
        run(test)


FUNCTIONS = [name for name in baselink.__all__ if name[0].islower() and callable(getattr(baselink, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_an_example_that_runs(name: str) -> None:
    doc = getattr(baselink, name).__doc__
    assert run(doctest.DocTestParser().get_doctest(doc, {}, name, None, 0)) >= 2


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_docstring_names_exceptions(name: str) -> None:
    """bug 728: 7 of 13 did not."""
    assert re.search(r"[Rr]aises .*Error", getattr(baselink, name).__doc__, re.DOTALL)


def test_the_examples_of_the_readme() -> None:
    test = doctest.DocTestParser().get_doctest(README.read_text(), {}, "README.md", str(README), 0)
    assert run(test) >= 5


def test_the_readme_has_every_option() -> None:
    rows = [line.split("`")[1] for line in README.read_text().splitlines() if line.startswith("| `")]
    names = baselink.Options.__annotations__
    assert sorted(row for row in rows if row in names) == sorted(names)


def test_the_readme_has_every_extra() -> None:
    extras = importlib.metadata.metadata("baselink").get_all("Provides-Extra")
    assert extras
    for extra in extras:
        assert f'pip install "./python[{extra}]"' in README.read_text()
