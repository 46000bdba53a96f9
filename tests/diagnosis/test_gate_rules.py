"""Every rule of the tables, checked against the line of real output it carries and the recording it names."""

import tomllib
from dataclasses import fields
from functools import cache
from importlib.resources import files

import pytest
from support.cases import cases
from support.corpus_score import RECORDINGS, evidence_of, load

from noface.diagnosis.context import context_of
from noface.diagnosis.evidence import GateEvidence
from noface.diagnosis.rules import FILES, LineRule, NameRule, rule_book
from noface.diagnosis.scan import scan
from noface.diagnosis.text import Log, read_log

RULES = rule_book().rules
NAME_RULES = (*rule_book().test_names, *rule_book().loose_test_names)


def found_by(rule: LineRule, line: str) -> bool:
    evidence = GateEvidence(rule.tools[0] if rule.tools else "x", rule.code[0] if rule.code else 1, "", line)
    log = read_log("", line)
    return any(finding.rule == rule.name for finding in scan((rule,), log, context_of(evidence, log), frozenset()))


@cases("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_finds_its_own_recording(rule: LineRule):
    assert found_by(rule, rule.example), rule.example


@cases("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_finds_nothing_in_a_passing_line(rule: LineRule):
    assert not found_by(rule, "all 12 checks are fine")


@cases("rule", NAME_RULES, ids=lambda rule: rule.name)
def test_a_name_rule_reads_its_own_recording(rule: NameRule):
    match = rule.regex.match(rule.example)
    assert match
    assert rule.below or match["test"].strip()
    assert any(literal in rule.example for literal in rule.needs)


@cache
def recordings() -> dict[str, GateEvidence]:
    return {record["id"]: evidence_of(record) for name in RECORDINGS for record in load(name)}


@cache
def log_of(recording: str) -> Log:
    return read_log(recordings()[recording].stdout, recordings()[recording].stderr)


@cases("rule", [r for r in RULES if r.recording], ids=lambda rule: rule.name)
def test_a_rule_matches_in_the_recording_it_names(rule: LineRule):
    log = log_of(rule.recording)
    assert scan((rule,), log, context_of(recordings()[rule.recording], log), frozenset())


@cases("rule", [r for r in NAME_RULES if r.recording], ids=lambda rule: rule.name)
def test_a_name_rule_matches_in_the_recording_it_names(rule: NameRule):
    assert any(
        rule.regex.match(line) for line in log_of(rule.recording).lines if any(need in line for need in rule.needs)
    )


def test_every_table_of_the_folder_is_read_and_most_rules_name_a_recording():
    folder = files("noface.diagnosis").joinpath("gate_rules")
    assert sorted(file.name for file in folder.iterdir()) == sorted(f"{name}.toml" for name in FILES)
    assert sum(bool(rule.recording) for rule in RULES) >= 280


def test_every_entry_of_a_table_is_a_rule_and_says_nothing_else():
    for name in FILES:
        data = tomllib.loads(files("noface.diagnosis").joinpath(f"gate_rules/{name}.toml").read_text("utf-8"))
        assert data.keys() <= {"rules", "test_names"}, name
        for kind, entries in ((LineRule, data.get("rules", ())), (NameRule, data.get("test_names", ()))):
            for entry in entries:
                assert entry.keys() <= {each.name for each in fields(kind)}, entry["name"]
                assert all(value not in ("", []) for value in entry.values()), entry["name"]
                assert entry.get("level") != "report", entry["name"]


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
