"""Hints proposed from failures that came again and again (N16)."""

import tomllib
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.config.edit import hint_toml
from noface.knowledge.fixes import Fix
from noface.knowledge.hint_mining import PastFailure, candidates, past_failures, propose, would_match
from noface.knowledge.hints import Found, HintRule
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.patch import ChangedLine
from noface.model.taxonomy import FailureKind
from noface.process.search import search


def fail(issue, number, message, signature="s1", kind=FailureKind.TEST_FAILURE, passed_by=None, labels=(), **more):
    touched = more.pop("touched", ())
    failure = Failure(kind, message, rule="r", signature=signature, **more)
    return PastFailure(Issue(issue, f"Issue {issue}", labels=labels), number, failure, touched, passed_by)


def mine(*failures, rules=(), mends=None):
    return propose(failures, rules, search, lambda past: (mends or {}).get(past.issue.id, Fix()))


def added(*lines):
    return Fix(tuple(ChangedLine(path, False, text) for path, text in lines))


def patterns(*messages):
    return [(each.error_pattern or each.error_regex, bool(each.error_regex)) for each in candidates(messages)]


def test_a_failure_that_came_twice_is_proposed_with_what_it_would_have_matched():
    (proposal,) = mine(
        fail("4", 1, "ModuleNotFoundError: No module named 'yaml'", location="src/a.py:1"),
        fail("4", 2, "assert 1 == 2", "s2"),
        fail("7", 1, "ModuleNotFoundError: No module named 'yaml'", location="src/b.py:9"),
    )
    assert proposal.rule.conditions == {"error_pattern": "ModuleNotFoundError: No module named"}
    assert proposal.issues == ("4", "7")
    assert [past.key for past in proposal.would_match] == [("4", 1), ("7", 1)]


def test_what_one_issue_alone_had_is_not_proposed():
    assert mine(*(fail("4", number, "the basket of Ann is empty") for number in (1, 2, 3))) == ()


def test_failures_that_only_one_issue_had_take_no_time():
    began = process_time()
    assert mine(*(fail(str(n), 1, f"the basket of {n} is empty", f"s{n}") for n in range(2_000))) == ()
    assert process_time() - began < 3


def test_what_passes_by_itself_is_passed_over():
    assert mine(*(fail(issue, 1, "Error: connect ETIMEDOUT 10.0.0.1:443") for issue in ("4", "5", "6"))) == ()


def test_what_is_not_the_worker_s_is_passed_over():
    kinds = (FailureKind.RATE_LIMITED, FailureKind.NETWORK, FailureKind.ENVIRONMENT, FailureKind.BASELINE_RED)
    assert mine(*(fail(str(n), 1, "the provider is not there", kind=kind) for kind in kinds for n in (1, 2))) == ()


def test_interrupted_attempts_are_no_failures():
    failure = Failure(FailureKind.UNKNOWN, "ended", rule="r")
    attempt = PastAttempt(1, "m", 1, "INTERRUPTED", charged=False, failure=failure)
    assert past_failures(Issue("1", "One"), (attempt,)) == ()


def test_a_failure_that_a_hint_speaks_to_already_is_not_proposed_again():
    failures = [fail(str(number), 1, "the basket of Ann is empty", labels=("shop",)) for number in (1, 2)]
    assert mine(*failures, rules=(HintRule("h", error_pattern="basket of Ann"),)) == ()
    assert mine(*failures, rules=(HintRule("h", error_regex="basket of [A-Z]"),)) == ()
    assert len(mine(*failures, rules=(HintRule("h", error_pattern="basket", label="other"),))) == 1
    assert len(mine(*failures, rules=(HintRule("h", label="shop"),))) == 1, "that one says nothing of the error"


def test_an_applied_proposal_is_not_proposed_again():
    failures = [fail(str(n), 1, "/tmp/x1/a.py: 'ann' holds 3 apples, not 4", touched=("a.py",)) for n in (1, 2)]
    (proposal,) = mine(*failures)
    assert mine(*failures, rules=(proposal.rule,)) == ()


def test_the_gate_s_name_is_no_part_of_a_pattern():
    failures = [fail(str(n), 1, "gate unit: the basket of Ann is empty", gate="unit") for n in (1, 2)]
    assert mine(*failures)[0].rule.error_pattern == "the basket of Ann is empty"


def test_a_pattern_that_other_kinds_of_failures_mention_gets_more_exact():
    failures = [fail(str(n), 1, "cannot open the settings file 'a.toml'") for n in (1, 2)]
    assert mine(*failures)[0].rule.error_pattern == "cannot open the settings file"
    other = fail("5", 1, "cannot open the settings file 'b.toml' twice", "s2", FailureKind.LINT_FAILURE)
    (proposal,) = mine(*failures, other)
    assert proposal.rule.error_pattern == "cannot open the settings file 'a.toml'"
    assert [past.key for past in proposal.would_match] == [("1", 1), ("2", 1)]


def test_the_commonest_comes_first_and_each_failure_is_proposed_for_once():
    empty = [fail(str(number), 1, f"the basket of 'ann{number}' is empty today", "s1") for number in (1, 2)]
    same = [fail(str(number + 2), 1, f"the basket of 'bob{number}' is empty today", "s2") for number in (1, 2)]
    other = [fail(str(number), 2, "no such table: orders", "s3") for number in (1, 2, 3)]
    assert [proposal.rule.error_pattern for proposal in mine(*empty, *same, *other)] == [
        "no such table: orders",
        "is empty today",
    ]


def test_what_two_issues_met_in_different_tests_is_proposed_without_the_tests():
    names = {issue: f"tests/test_{issue}.py::test_a" for issue in ("1", "2")}
    met = [fail(issue, 1, f"{name}: E42: off", name, failing_tests=(name,)) for issue, name in names.items()]
    assert [proposal.rule.error_pattern for proposal in mine(*met)] == ["E42: off"]


def test_lines_that_two_issues_added_are_the_text():
    failures = [fail(issue, 1, "the basket is not there", passed_by=2) for issue in ("4", "7", "9")]
    mends = {
        "4": added(("src/a.py", "    import  basket"), ("src/a.py", "    return 1")),
        "7": added(("src/b.py", "import basket"), ("src/b.py", "}")),
        "9": added(("src/c.py", "}")),
    }
    (proposal,) = mine(*failures, mends=mends)
    assert proposal.rule.hint == 'Issues 4, 7 passed once they had this as well: "import basket"'
    assert not proposal.draft


def test_what_helped_one_issue_is_no_advice_for_all():
    failures = [fail(issue, 1, "the basket is not there", passed_by=2) for issue in ("4", "7")]
    mends = {"4": added(("src/a.py", "one thing")), "7": added(("src/b.py", "another thing"))}
    assert mine(*failures, mends=mends) == ()
    assert mine(failures[0], fail("8", 1, "the basket is not there"), mends=mends) == ()


def test_where_nothing_mended_it_the_text_says_so_honestly():
    (proposal,) = mine(*(fail(str(number), 1, "the basket is not there") for number in (1, 2)))
    assert proposal.rule.hint == "This has failed 2 times, in issues 1, 2. Describe what to do here."
    assert proposal.draft


def test_a_text_stays_bounded_whatever_a_worker_wrote():
    failures = [fail(issue, 1, "the basket is not there", passed_by=2) for issue in ("4", "7")]
    lines = [(f"src/{'x' * 200}{n}.py", f'say "yes" {n} ' + "word " * 10_000) for n in range(9)]
    (proposal,) = mine(*failures, mends=dict.fromkeys("47", added(*lines)))
    assert len(proposal.rule.hint) < 900
    assert "say 'yes' 0 word" in proposal.rule.hint


def test_an_issue_s_failures_know_the_attempt_that_passed_after_them():
    failure = Failure(FailureKind.TEST_FAILURE, "boom", rule="r")
    attempts = (
        PastAttempt(1, "m", 1, "TEST_FAILURE", charged=True, failure=failure, changed=("a.py",)),
        PastAttempt(2, "m", 1, "PASSED", charged=True, changed=("b.py",)),
        PastAttempt(3, "m", 1, "TEST_FAILURE", charged=True, failure=failure),
    )
    first, last = past_failures(Issue("7", "Seven"), attempts)
    assert (first.number, first.touched, first.passed_by) == (1, ("a.py",), 2)
    assert last.passed_by is None


def test_the_longest_piece_that_does_not_change_comes_first():
    assert patterns("File 'a.toml' is not in the list of known schemas, see docs/a.md:3")[0] == (
        "is not in the list of known schemas, see",
        False,
    )


def test_where_no_piece_says_enough_what_changes_is_left_open():
    assert patterns("row 17 holds 4 columns (!)", "row 2 holds 7 columns (!)")[0] == (
        r"row .+? holds .+? columns \(!\)",
        True,
    )


def test_a_message_that_is_hardly_a_word_is_taken_as_it_is_but_for_what_differs():
    assert patterns("assert 401 == 200", "assert 401 == 200") == [("assert 401 == 200", False)]
    assert patterns("assert 401 == 200", "assert 403 == 200") == [(r"assert .+? == 200", True)]


@pytest.mark.parametrize("message", ["", "   \n ", "12", "!?", "\ud800"])
def test_a_message_that_says_nothing_gives_no_pattern(message):
    assert patterns(message, message) == []
    assert mine(*(fail(str(number), 1, message) for number in (1, 2))) == ()


@given(st.text(max_size=300))
def test_every_pattern_finds_the_message_it_was_made_from(message):
    for candidate in candidates((message, message)):
        found = search(candidate.error_regex, message) is Found.YES and candidate.error_pattern in message
        assert found, candidate


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=200))
def test_every_proposal_can_be_pasted(message):
    failures = tuple(fail(str(number), 1, message, touched=("a.py",)) for number in (1, 2))
    for proposal in propose(failures, (), search, lambda _: Fix()):
        values = {**proposal.rule.conditions, "hint": proposal.rule.hint}
        assert tomllib.loads(hint_toml(values))["failure_hints"] == [values]
        assert would_match(proposal.rule, failures, search) == failures


def test_candidates_are_few_and_quick_for_a_hostile_message():
    hostile = ("'" * 50 + "/a" * 50 + "a.b-" * 50 + "0x" * 50 + "\u202e") * 1000
    assert len([*candidates((hostile, hostile))]) < 10
