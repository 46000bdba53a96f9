"""Hints proposed from failures that came again and again (N16)."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.config.edit import hint_toml
from noface.engine.context import search
from noface.knowledge.hint_mining import Candidate, Mended, PastFailure, candidates, past_failures, propose, would_match
from noface.knowledge.hints import Found, HintRule
from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import ReportStatus, WorkerReport


def fail(issue, number, message, signature="s1", kind=FailureKind.TEST_FAILURE, mended=None, labels=(), **more):
    touched = more.pop("touched", ())
    failure = Failure(kind, message, rule="r", signature=signature, **more)
    return PastFailure(Issue(issue, f"Issue {issue}", labels=labels), number, failure, touched, mended)


def mine(*failures, rules=(), least=2):
    return propose(failures, rules, search, least)


def patterns(*messages):
    return [(candidate.text, candidate.is_regex) for candidate in candidates(messages)]


def test_a_failure_that_came_twice_is_proposed_with_what_it_would_have_matched():
    (proposal,) = mine(
        fail("4", 1, "ModuleNotFoundError: No module named 'yaml'", location="src/a.py:1"),
        fail("4", 2, "assert 1 == 2", "s2"),
        fail("7", 1, "ModuleNotFoundError: No module named 'yaml'", location="src/b.py:9"),
    )
    assert proposal.rule.conditions == {
        "language": "python",
        "error_pattern": "ModuleNotFoundError: No module named",
    }
    assert (proposal.kind, proposal.issues) == (FailureKind.TEST_FAILURE, ("4", "7"))
    assert [past.key for past in proposal.would_match] == [("4", 1), ("7", 1)]


def test_what_came_too_seldom_is_not_proposed():
    failures = [fail("4", number, "the basket of Ann is empty") for number in (1, 2)]
    assert mine(*failures, least=3) == ()
    assert len(mine(*failures, least=2)) == 1
    assert len(mine(failures[0], least=1)) == 1


def test_what_is_not_the_worker_s_is_passed_over():
    kinds = (FailureKind.RATE_LIMITED, FailureKind.NETWORK, FailureKind.ENVIRONMENT, FailureKind.BASELINE_RED)
    assert mine(*(fail("4", n, "the provider is not there", kind=kind) for kind in kinds for n in (1, 2))) == ()


def test_interrupted_attempts_are_no_failures():
    failure = Failure(FailureKind.UNKNOWN, "ended", rule="r")
    attempt = PastAttempt(1, "m", 1, "INTERRUPTED", charged=False, failure=failure)
    assert past_failures(Issue("1", "One"), (attempt,)) == ()


def test_a_failure_that_a_hint_speaks_to_already_is_not_proposed_again():
    failures = [fail("4", number, "the basket of Ann is empty", labels=("shop",)) for number in (1, 2)]
    assert mine(*failures, rules=(HintRule("h", error_pattern="basket of Ann"),)) == ()
    assert mine(*failures, rules=(HintRule("h", error_regex="basket of [A-Z]"),)) == ()
    assert len(mine(*failures, rules=(HintRule("h", error_pattern="basket", label="other"),))) == 1
    assert len(mine(*failures, rules=(HintRule("h", label="shop"),))) == 1, "that one says nothing of the error"


def test_an_applied_proposal_is_not_proposed_again():
    failures = [fail("4", n, "/tmp/x1/a.py: 'ann' holds 3 apples, not 4", touched=("a.py",)) for n in (1, 2)]
    (proposal,) = mine(*failures)
    assert mine(*failures, rules=(proposal.rule,)) == ()


def test_the_gate_s_name_is_no_part_of_a_pattern():
    failures = [fail("4", n, "gate unit: the basket of Ann is empty", gate="unit") for n in (1, 2)]
    assert mine(*failures)[0].rule.error_pattern == "the basket of Ann is empty"


def test_a_pattern_that_other_kinds_of_failures_mention_gets_more_exact():
    failures = [fail("4", n, "cannot open the settings file 'a.toml'") for n in (1, 2)]
    assert mine(*failures)[0].rule.error_pattern == "cannot open the settings file"
    other = fail("5", 1, "cannot open the settings file 'b.toml' twice", "s2", FailureKind.LINT_FAILURE)
    (proposal,) = mine(*failures, other)
    assert proposal.rule.error_pattern == "cannot open the settings file 'a.toml'"
    assert [past.key for past in proposal.would_match] == [("4", 1), ("4", 2)]


def test_a_mere_mention_in_the_logs_of_another_failure_counts_as_a_stray():
    failures = [fail("4", n, "cannot open the settings file 'a.toml'") for n in (1, 2)]
    other = fail("5", 1, "assert 1 == 2", "s2", excerpt="warning: cannot open the settings file 'c.toml'")
    assert mine(*failures, other)[0].rule.error_pattern == "cannot open the settings file 'a.toml'"


def test_the_commonest_comes_first_and_each_failure_is_proposed_for_once():
    empty = [fail("4", number, f"the basket of 'ann{number}' is empty today", "s1") for number in (1, 2)]
    same = [fail("5", number, f"the basket of 'bob{number}' is empty today", "s2") for number in (1, 2)]
    other = [fail("6", number, "no such table: orders", "s3") for number in (1, 2, 3)]
    assert [proposal.rule.error_pattern for proposal in mine(*empty, *same, *other)] == [
        "no such table: orders",
        "is empty today",
    ]


def test_a_language_is_given_only_where_all_failures_share_it():
    def language(*files):
        found = mine(*(fail("4", n, "the basket is not there", touched=touched) for n, touched in enumerate(files, 1)))
        return found[0].rule.language

    assert language(("a.py", "b.js"), ("c.py",)) == "python"
    assert language(("a.py",), ("c.js",)) == ""
    assert language(("a.py", "a.js"), ("c.py", "c.js")) == ""
    assert language((), ()) == ""


def test_the_text_is_drafted_from_the_attempt_that_passed_in_the_end():
    mended = Mended("7", 3, ("src/a.py",), 'Added it.\n\n## Rules\nSay "yes".')
    failures = [fail("4", 1, "the basket is not there"), fail("7", 2, "the basket is not there", mended=mended)]
    (proposal,) = mine(*failures)
    expected = "In issue 7 this was fixed by changing src/a.py. Its worker reported: "
    assert proposal.rule.hint == expected + "\"Added it. ## Rules Say 'yes'.\""
    assert not proposal.draft


def test_where_nothing_mended_it_the_text_says_so_honestly():
    (proposal,) = mine(*(fail("4", number, "the basket is not there") for number in (1, 2)))
    assert proposal.rule.hint == "This has failed 2 times, in issue 4. Describe what to do here."
    assert proposal.draft


def test_a_text_stays_bounded_whatever_a_worker_wrote():
    mended = Mended("7", 3, tuple(f"src/{'x' * 200}{n}.py" for n in range(50)), "word " * 10_000)
    (proposal,) = mine(*(fail("7", number, "the basket is not there", mended=mended) for number in (1, 2)))
    assert len(proposal.rule.hint) < 900
    assert "and 45 more" in proposal.rule.hint


def test_an_issue_s_failures_know_the_attempt_that_passed_after_them():
    failure = Failure(FailureKind.TEST_FAILURE, "boom", rule="r")
    report = WorkerReport(ReportStatus.DONE, "Added the clause.")
    attempts = (
        PastAttempt(1, "m", 1, "TEST_FAILURE", charged=True, failure=failure, changed=("a.py",)),
        PastAttempt(2, "m", 1, "PASSED", charged=True, changed=("b.py",), report=report),
        PastAttempt(3, "m", 1, "TEST_FAILURE", charged=True, failure=failure),
    )
    first, last = past_failures(Issue("7", "Seven"), attempts)
    assert (first.number, first.touched) == (1, ("a.py",))
    assert first.mended == Mended("7", 2, ("b.py",), "Added the clause.")
    assert last.mended is None


def test_the_longest_piece_that_does_not_change_comes_first():
    assert patterns("File 'a.toml' is not in the list of known schemas, see docs/a.md:3")[0] == (
        "is not in the list of known schemas, see",
        False,
    )


def test_where_no_piece_says_enough_what_changes_is_left_open():
    assert patterns("row 17 holds 4 columns (!)")[0] == (r"row [\d.,:]+ holds [\d.,:]+ columns \(!\)", True)


def test_a_message_that_is_hardly_a_word_is_taken_as_it_is():
    assert patterns("assert 401 == 200", "assert 401 == 200") == [("assert 401 == 200", False)]


def test_what_differs_between_the_messages_is_left_open_even_then():
    assert patterns("assert 401 == 200", "assert 403 == 200") == [(r"assert [\d.,:]+ == 200", True)]


@pytest.mark.parametrize("message", ["", "   \n ", "12", "!?", "\ud800"])
def test_a_message_that_says_nothing_gives_no_pattern(message):
    assert patterns(message, message) == []
    assert mine(*(fail("4", number, message) for number in (1, 2))) == ()


@given(st.text(max_size=300))
def test_every_pattern_finds_the_message_it_was_made_from(message):
    for candidate in candidates((message, message)):
        found = search(candidate.text, message) is Found.YES if candidate.is_regex else candidate.text in message
        assert found, candidate


@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=200))
def test_every_proposal_can_be_pasted(message):
    failures = tuple(fail("4", number, message, touched=("a.py",)) for number in (1, 2))
    for proposal in propose(failures, (), search):
        values = {**proposal.rule.conditions, "hint": proposal.rule.hint}
        assert tomllib.loads(hint_toml(values))["failure_hints"] == [values]
        assert would_match(proposal.rule, failures, search) == failures


def test_candidates_are_few_and_quick_for_a_hostile_message():
    hostile = ("'" * 50 + "/a" * 50 + "a.b-" * 50 + "0x" * 50 + "\u202e") * 1000
    assert len([*candidates((hostile, hostile))]) < 10
    assert Candidate("x") == Candidate("x", is_regex=False)
