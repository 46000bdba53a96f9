"""Every rule of the tables, checked against the line of real output it carries."""

import pytest

from noface.core.classify import families
from noface.core.classify.context import context_of
from noface.core.classify.evidence import GateEvidence
from noface.core.classify.rules import NameRule, Rule
from noface.core.classify.scan import scan
from noface.core.classify.text import read_log

NAME_RULES = (*families.NAME_RULES, *families.LOOSE_NAME_RULES)


def found_by(rule: Rule, line: str) -> bool:
    evidence = GateEvidence(rule.tools[0] if rule.tools else "x", rule.code[0] if rule.code else 1, "", line)
    log = read_log("", line)
    return any(finding.rule == rule.name for finding in scan((rule,), log, context_of(evidence, log), frozenset()))


@pytest.mark.parametrize("rule", families.RULES, ids=lambda rule: rule.name)
def test_a_rule_finds_its_own_recording(rule: Rule):
    assert found_by(rule, rule.example), rule.example


@pytest.mark.parametrize("rule", families.RULES, ids=lambda rule: rule.name)
def test_a_rule_finds_nothing_in_a_passing_line(rule: Rule):
    assert not found_by(rule, "all 12 checks are fine")


@pytest.mark.parametrize("rule", NAME_RULES, ids=lambda rule: rule.name)
def test_a_name_rule_reads_its_own_recording(rule: NameRule):
    match = rule.regex.match(rule.example)
    assert match
    assert rule.below or match["test"].strip()
    assert any(literal in rule.example for literal in rule.needs)


def test_names_of_rules_are_unique_and_tell_the_tool():
    names = [rule.name for rule in families.RULES]
    assert len(names) == len(set(names))
    assert all("." in name for name in names)


def test_only_reports_and_readers_outrank_the_rules_of_a_table():
    assert all(rule.level <= 5 for rule in families.RULES)


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("npx jest --ci", "jest"),
        ("cd web && CI=1 npx --yes vitest run", "vitest"),
        ("python -m pytest -q", "pytest"),
        ("timeout 60 python3.12 -m mypy shop", "mypy"),
        ("bundle exec rspec", "rspec"),
        ("cargo clippy -- -D warnings", "clippy"),
        ('test -z "$(gofmt -l .)"', "gofmt"),
        ("poetry run ruff check .", "ruff"),
    ],
)
def test_the_program_behind_its_wrappers_is_known(command: str, tool: str):
    evidence = GateEvidence(command, 1, "", "")
    assert tool in context_of(evidence, read_log("", "")).tools


def test_a_program_that_a_task_runner_echoes_is_known():
    log = read_log("\n> shop@1.0.0 test\n> jest --ci\n", "")
    assert "jest" in context_of(GateEvidence("npm test", 1, "", ""), log).tools
