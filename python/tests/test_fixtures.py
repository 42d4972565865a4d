"""For the cases of ../fixtures, the module gives the expected bytes, links and base, and agrees with the command."""

from __future__ import annotations

import json

import pytest
from conftest import COMMAND_ONLY, Case, Command, cases, options_of

import baselink

CASES = [case for case in cases() if not case.has_any(COMMAND_ONLY)]
NAMES = [case.name for case in CASES]


def field(text: str | None) -> str:
    return "-" if text is None else text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def row(link: baselink.Link) -> list[str]:
    target = link.target
    fields = (link.entity, link.element, link.attribute, link.reference, link.outcome, link.reason, target)
    return [field(text) for text in fields]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_case_gives_the_expected_result(case: Case) -> None:
    options, data = options_of(case), case.read("input.*")
    assert baselink.rewrite(data, **options) == case.read("expected.*")
    expected = case.rows("expected.links")
    assert [row(link) for link in baselink.links(data, **options)] == expected
    found = baselink.rewrite_report(data, **options)
    assert found.output == case.read("expected.*")
    assert [row(link) for link in found.links] == expected
    assert sum(found.counts.values()) == len(expected)
    # A message has the columns entity, media type, rule, source, base; a document has no media type.
    outermost = case.rows("expected.base")[0]
    base = baselink.base(data, **options)
    assert [base.rule, base.source, field(base.base)] == outermost[-3:]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_case_gives_the_result_of_the_command(case: Case, command: Command) -> None:
    options, data = options_of(case), case.read("input.*")
    arguments = [argument for group in case.arguments for argument in group if argument]
    given = ["--format", case.format, *arguments, "-"]
    assert baselink.rewrite(data, **options) == command("rewrite", "--quiet", *given, data=data)
    rows = [json.loads(line) for line in command("links", "--json", *given, data=data).splitlines()]
    assert [{"path": "-", **link._asdict()} for link in baselink.links(data, **options)] == rows


def test_few_cases_need_options_that_python_lacks() -> None:
    assert sum(case.has_any(COMMAND_ONLY) for case in cases()) == 4
