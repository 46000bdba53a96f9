"""Which ends of attempts, one after the other, no work explains."""

from support.cases import cases

from noface.model.failure import UNANSWERED, UNCHANGED, Failure
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import AgentRun, EndedBy, Usage
from noface.recovery.sudden_ends import (
    NEVER_WORKED,
    as_of_the_model,
    has_worked,
    not_the_work,
    row_with,
    sudden_end,
    to_be_compared,
)


def crash(words="Fatal: zarg", kind=FailureKind.AGENT_CRASH, rule="command-exit-3", **more):
    return Failure(
        kind, f"the worker ended with exit code 3: {words}", rule=rule, evidence=("exit code 3", words), **more
    )


def run(seconds=2.0, ended_by=EndedBy.ITSELF, signal=None, tokens=None):
    return AgentRun(3, signal, ended_by, seconds, Usage(tokens_in=tokens))


def idle(words="run mytool login first", rule=UNCHANGED):
    return Failure(FailureKind.NO_DIFF, f"the worker changed nothing; its last words: {words}", rule=rule)


SILENT = Failure(FailureKind.TIMEOUT, "claude had no answer of its provider in 600 s", rule=UNANSWERED)


def row(*ends, worked=True):
    """The row after attempts, each given as its issue and its failure."""
    seen = ()
    for issue, failure in ends:
        seen = row_with(seen, sudden_end(issue, run(), failure, worked=worked))
    return seen


@cases(
    ("ends", "told"),
    [
        ([("1", crash()), ("2", crash())], True),
        ([("1", crash()), ("1", crash()), ("2", crash())], True),
        ([("1", crash("after 1.21s")), ("2", crash("after 1.5s")), ("3", crash("after 0.91s"))], True),
        ([("1", crash())] * 9, False),  # of one issue: its prompt may be to blame
        ([("1", crash()), ("2", crash("other words")), ("3", crash())], False),
        ([("1", crash()), ("3", None), ("2", crash())], False),  # it worked meanwhile
        ([("1", crash()), ("2", crash(kind=FailureKind.NO_DIFF)), ("3", crash())], False),
        ([("1", crash()), ("2", crash(rule="command-exit-4")), ("3", crash())], False),
        ([("1", SILENT), ("2", SILENT)], True),  # each of them for as long as it had
        ([("1", SILENT), ("1", SILENT)], False),
        ([("1", SILENT), ("3", None), ("2", SILENT)], False),
    ],
)
def test_only_ends_of_several_issues_in_the_same_words_are_no_work_s(ends, told):
    assert not_the_work(row(*ends)) == told


@cases(
    ("ends", "told"),
    [
        ([(issue, idle()) for issue in "123"], True),
        ([(issue, idle("")) for issue in "123"], True),
        ([("1", idle()), ("2", idle())], False),  # both may be done already
        ([("1", idle())] * 4, False),
        ([("1", idle()), ("2", idle()), ("3", idle("nothing is to be done here"))], False),
        ([(issue, idle(rule="worked-elsewhere")) for issue in "123"], False),
        ([("1", idle()), ("2", idle()), ("3", crash())], False),
    ],
)
def test_a_program_that_never_worked_and_does_nothing_in_the_same_words_cannot_work_whatever_its_exit_code(ends, told):
    assert not_the_work(row(*ends, worked=False)) == told
    assert not not_the_work(row(*ends))


def test_after_a_sudden_end_another_issue_comes_first_until_one_tells():
    assert to_be_compared(row(("1", crash()), ("1", crash()))) == {"1"}
    assert to_be_compared(row(("1", crash()), ("2", crash()))) == to_be_compared(()) == frozenset()


@cases(
    ("outcome", "worked"),
    [
        *((outcome, True) for outcome in ("PASSED", "TEST_FAILURE", "TIMEOUT")),
        *((outcome, False) for outcome in ("AGENT_CRASH", "NETWORK", "MISCONFIGURED", "NO_DIFF", "INTERRUPTED")),
    ],
)
def test_a_model_has_worked_that_an_attempt_was_finished_by(outcome, worked):
    assert has_worked([outcome]) is worked
    assert not has_worked([])


@cases("ended", [run(seconds=121), run(signal=9), run(ended_by=EndedBy.TIMEOUT), run(tokens=40)])
def test_who_has_worked_a_while_or_was_ended_has_no_sudden_end(ended):
    assert sudden_end("1", ended, crash(), worked=True) is None


def test_without_another_model_it_is_waited_for_and_else_another_works():
    seen = row(("1", crash()), ("2", crash()), ("1", crash()))
    waits, switches = (as_of_the_model(crash(), seen, other, worked=True) for other in (None, "big"))
    assert (waits.kind, switches.kind, waits.charged, switches.charged) == ("NETWORK", "MISCONFIGURED", False, False)
    assert waits.message.startswith("3 attempts at 2 issues ended alike, with nothing done: the worker ended with exit")


def test_a_model_that_has_never_worked_here_is_a_person_s_to_mend_and_no_provider_is_waited_for():
    asks = as_of_the_model(crash(), row(("1", crash()), ("2", crash())), None, worked=False)
    assert (asks.kind, asks.charged, asks.rule) == ("MISCONFIGURED", False, NEVER_WORKED)
    assert "`show` or `write` of [sandbox]" in asks.message
