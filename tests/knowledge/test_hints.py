"""The user's failure hints (N15)."""

import time

from support.cases import cases

from noface.knowledge.hints import SEARCHED_CHARS_MAX, Found, HintRule, explain, matched, searched_text
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind
from noface.process.search import search

CATASTROPHE = "(a+)+$"
ENDLESS = "a" * 5000 + "!"


def failed(message="", **more):
    return Failure(FailureKind.RUNTIME_ERROR, message, rule="r", **more)


def hints(*rules, labels=(), paths=(), message="", excerpt="", evidence=(), location=None, touched=(), failure=True):
    issue = Issue("1", "One", labels=labels, paths=paths)
    found = failed(message, excerpt=excerpt, evidence=evidence, location=location)
    return matched(rules, issue, found if failure else None, touched, search)[0]


def test_a_label_is_matched_whole():
    rule = HintRule("check the schema", label="migration")
    assert hints(rule, labels=("big", "migration")) == ("check the schema",)
    assert hints(rule, labels=("migrations",)) == ()
    assert hints(rule, labels=("migration",), failure=False) == ("check the schema",)


def test_an_error_pattern_is_literal_text_wherever_the_error_shows():
    rule = HintRule("match all clauses", error_pattern="** (MatchError)")
    assert hints(rule, message="** (MatchError) no match of right hand side value: nil") == ("match all clauses",)
    assert hints(rule, excerpt="x\n     ** (MatchError) no match") == ("match all clauses",)
    assert hints(rule, evidence=("** (MatchError)",)) == ("match all clauses",)
    assert hints(rule, message="(MatchError)") == ()
    assert hints(rule, failure=False) == ()


def test_a_failure_is_also_found_by_the_name_of_its_kind_where_its_message_lacks_the_word():
    unclosed = Failure(FailureKind.SYNTAX_ERROR, "'(' was never closed", "examined", failing_tests=("a.py::test_b",))
    other = failed("KeyError: 'a'")
    for rule, told in (
        (HintRule("h", error_pattern="SyntaxError"), (unclosed,)),
        (HintRule("h", error_pattern="SYNTAX_ERROR"), (unclosed,)),
        (HintRule("h", error_regex=r"\b(?:Syntax|Indentation)Error\b"), (unclosed,)),
        (HintRule("h", error_pattern="a.py::test_b"), (unclosed,)),
        (HintRule("h", error_pattern="RUNTIME_ERROR"), (other,)),
        (HintRule("h", error_pattern="RuntimeError"), ()),  # an exception of Python's, and not every error at run time
    ):
        found = [each for each in (unclosed, other) if matched((rule,), Issue("1", "One"), each, (), search)[0]]
        assert found == list(told), rule


def test_an_error_regex_is_searched_for():
    rule = HintRule("ids", error_regex=r"KeyError: '\w+_id'")
    assert hints(rule, excerpt="KeyError: 'user_id'") == ("ids",)
    assert hints(rule, excerpt="KeyError: 'name'") == ()
    assert hints(HintRule("any", error_regex=".*"), failure=False) == (), "where nothing failed, nothing matches"


@cases(
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


def test_a_path_is_a_glob_over_what_the_attempt_changed():
    rule = HintRule("h", path="db/**")
    assert hints(rule, touched=("a.py", "db/migrations/1.sql")) == ("h",)
    assert hints(rule, touched=("src/db/a.py",), paths=("db/**",), location="db/a.sql:1") == ()
    assert hints(HintRule("h", path="*.sql"), touched=("a.sql",)) == ("h",)


def test_all_conditions_must_hold():
    rule = HintRule("h", label="db", language="python", error_pattern="boom", error_regex="bo+m", path="src/*.py")
    full = {"labels": ("db",), "touched": ("src/a.py",), "message": "boom"}
    assert hints(rule, **full) == ("h",)
    for missing in full:
        assert hints(rule, **{key: value for key, value in full.items() if key != missing}) == ()


def test_hints_keep_their_order_and_are_said_once():
    rules = (HintRule("b"), HintRule("a"), HintRule("b", label="x"))
    assert hints(*rules, labels=("x",)) == ("b", "a")


def test_each_condition_says_whether_and_why_it_held():
    rule = HintRule("h", label="db", language="python", path="db/**", error_pattern="boom", error_regex="bo+k")
    issue = Issue("1", "One", labels=("web", "api"))
    failure = failed("first\nthen boom came", location="src/a.py:3")
    match = explain(rule, issue, failure, ("web/a.js",), search, every=True)
    assert not match.matched
    assert [(c.name, c.held, c.why) for c in match.conditions] == [
        ("label", False, "the issue's labels: web, api"),
        ("language", True, "the files concerned: src/a.py, web/a.js"),
        ("path", False, "the attempt changed: web/a.js"),
        ("error_pattern", True, "the error says: then boom came"),
        ("error_regex", False, "the error does not match it"),
    ]


def test_what_is_missing_is_named():
    rule = HintRule("h", label="db", language="python", path="db/**", error_pattern="boom", error_regex="bo+m")
    match = explain(rule, Issue("1", "One"), None, (), search, every=True)
    assert [c.why for c in match.conditions] == [
        "the issue's labels: none",
        "the files concerned: none",
        "the attempt changed: nothing",
        "there is no failure yet",
        "there is no failure yet",
    ]


def test_an_expression_is_searched_for_only_where_the_rest_explain():
    tried = []

    def counting(expression, text):
        tried.append(expression)
        return search(expression, text)

    rule = HintRule("h", label="db", error_regex="boom")
    assert not explain(rule, Issue("1", "One"), failed("boom"), (), counting).matched
    assert tried == []
    assert explain(rule, Issue("1", "One", labels=("db",)), failed("boom"), (), counting).matched
    assert tried == ["boom"]


def test_a_catastrophic_expression_is_bounded_and_reported_and_the_others_match_still():
    rules = (HintRule("slow", error_regex=CATASTROPHE), HintRule("quick", error_pattern="aaa!"))
    started = time.monotonic()
    hints, warnings = matched(rules, Issue("1", "One"), failed(ENDLESS), (), search)
    assert time.monotonic() - started < 20
    assert hints == ("quick",)
    assert warnings == ("hint 1: its expression took too long on this failure; simplify it",)
    match = explain(rules[0], Issue("1", "One"), failed(ENDLESS), (), search)
    assert (match.matched, match.too_slow) == (False, True)


def test_only_the_first_part_of_an_endless_error_is_searched():
    text = searched_text(failed("m", excerpt="x" * SEARCHED_CHARS_MAX + "behind it"))
    assert (len(text), "behind it" in text) == (SEARCHED_CHARS_MAX, False)
    assert search("behind", "x" * SEARCHED_CHARS_MAX + "behind") is Found.NO


def test_what_a_worker_named_stays_on_one_line():
    match = explain(HintRule("h", language="python"), Issue("1", "One"), failed(), ("a\nyes  b\x1b[2J.py",), search)
    assert match.conditions[0].why == "the files concerned: a yes b [2J.py"
