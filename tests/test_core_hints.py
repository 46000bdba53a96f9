"""The user's failure hints (N15)."""

import re

import pytest

from noface.core.hints import HintRule, matching
from noface.core.model import Failure, Issue
from noface.core.taxonomy import FailureKind


def hints(*rules, labels=(), paths=(), message="", excerpt="", evidence=(), location=None, touched=(), failed=True):
    issue = Issue("1", "One", labels=labels, paths=paths)
    failure = Failure(
        FailureKind.RUNTIME_ERROR, message, rule="r", excerpt=excerpt, evidence=evidence, location=location
    )
    return matching(
        rules, issue, failure if failed else None, touched, lambda expression, text: bool(re.search(expression, text))
    )


def test_a_label_is_matched_whole():
    rule = HintRule("check the schema", label="migration")
    assert hints(rule, labels=("big", "migration")) == ("check the schema",)
    assert hints(rule, labels=("migrations",)) == ()
    assert hints(rule, labels=("migration",), failed=False) == ("check the schema",)


def test_an_error_pattern_is_literal_text_wherever_the_error_shows():
    rule = HintRule("match all clauses", error_pattern="** (MatchError)")
    assert hints(rule, message="** (MatchError) no match of right hand side value: nil") == ("match all clauses",)
    assert hints(rule, excerpt="x\n     ** (MatchError) no match") == ("match all clauses",)
    assert hints(rule, evidence=("** (MatchError)",)) == ("match all clauses",)
    assert hints(rule, message="(MatchError)") == ()
    assert hints(rule, failed=False) == ()


def test_an_error_regex_is_searched_for():
    rule = HintRule("ids", error_regex=r"KeyError: '\w+_id'")
    assert hints(rule, excerpt="KeyError: 'user_id'") == ("ids",)
    assert hints(rule, excerpt="KeyError: 'name'") == ()


@pytest.mark.parametrize(
    ("language", "where"),
    [
        ("python", {"touched": ("src/a.py",)}),
        ("Python", {"location": "src/a.py:12"}),
        ("python", {"location": "src/a.py:12:5"}),
        ("python", {"location": "src/a.py"}),
        ("python", {"paths": ("src/**/*.py",)}),
        ("elixir", {"location": "test/a_test.exs:3"}),
        ("golang", {"touched": ("main.go",)}),
        ("c++", {"touched": ("main.cpp",)}),
        ("zig", {"touched": ("main.zig",)}),
        (".zig", {"touched": ("main.zig",)}),
        ("ts", {"touched": ("main.ts",)}),
    ],
)
def test_a_language_is_known_by_the_files_concerned(language, where):
    assert hints(HintRule("h", language=language), **where) == ("h",)


def test_another_language_s_files_do_not_match():
    rule = HintRule("h", language="java")
    assert hints(rule, touched=("a.js", "java/readme.md"), location="x.javax:3") == ()


def test_all_conditions_must_hold():
    rule = HintRule("h", label="db", language="python", error_pattern="boom", error_regex="bo+m")
    full = {"labels": ("db",), "touched": ("a.py",), "message": "boom"}
    assert hints(rule, **full) == ("h",)
    for missing in full:
        assert hints(rule, **{key: value for key, value in full.items() if key != missing}) == ()


def test_hints_keep_their_order_and_are_said_once():
    rules = (HintRule("b"), HintRule("a"), HintRule("b", label="x"))
    assert hints(*rules, labels=("x",)) == ("b", "a")
