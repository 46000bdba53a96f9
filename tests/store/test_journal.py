"""What happened, and the rows people look at: they never disagree."""

import sqlite3
from contextlib import closing, suppress
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from noface.model.actions import Land, Mode, NextAction, RunWorker
from noface.model.attempt import AttemptOrder, Interrupted, Judged, Snapshot
from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec
from noface.model.history import Advice, Decided, Topic, Verdict
from noface.model.issue import Backlog, Issue
from noface.model.listed import IssueFault
from noface.model.request import PersonRequest
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.model.transitions import UnexpectedStep
from noface.model.worker_run import AgentRun, EndedBy, ModelSpec, Usage
from noface.store.check import database_facts
from noface.store.database import Database
from noface.store.journal import Journal
from noface.store.questions import Questions
from noface.store.reader import Reader

RED = Failure(FailureKind.TEST_FAILURE, "one red", rule="r", signature="s")
CONFLICT = Failure(FailureKind.MERGE_CONFLICT, "main moved", rule="r", signature="c", charged=False)
ISSUE = Issue("7", "Seven", content_hash="v1", depends_on=("1", "2"))


@pytest.fixture
def database(tmp_path):
    made = Database.open(tmp_path / "state.db")
    yield made
    made.close()


@pytest.fixture
def journal(database):
    made = Journal(database, "run-1")
    made.sync_backlog(Backlog((ISSUE, Issue("8", "Eight", content_hash="w1"))), "f1")
    return made


@pytest.fixture
def reader(database):
    return Reader(database)


def order(number, *, token=None, issue=ISSUE, model="small"):
    return AttemptOrder(
        "run-1", token or f"t{number}", issue, number, ModelSpec(model, "scripted", tier=1), "p", "m", "s", 0, "/d", ()
    )


def report(number, failure=RED, *, token=None, cost=None, issue_id="7", **more):
    agent = AgentRun(0, None, EndedBy.ITSELF, 1.0, Usage(cost, 10, 20))
    return Judged(
        token or f"t{number}", issue_id, number, agent, Snapshot("c", "t", "k", "kt"), failure=failure, **more
    )


def start(journal, number, **more):
    journal.attempt_started(1.0, order(number, **more), epoch=0, branch="noface/7")


def finish(journal, number, failure=RED, **more):
    charged = failure is None or failure.charged
    return journal.attempt_finished(2.0, report(number, failure, **more), charged=charged, notes=("a note",))


def kinds(reader, issue_id="7"):
    return [row.kind for row in reader.events(issue_id)]


def test_text_that_is_not_unicode_is_kept(journal, reader):
    journal.sync_backlog(Backlog((Issue("9", "half \ud800", source="caf\udce9.md"),)), "f2")
    assert (reader.issue("9").title, reader.issue("9").source) == ("half \\ud800", "caf\udce9.md")


# The life of an attempt


def test_an_attempt_is_written_down_before_it_runs_and_again_when_it_ends(journal, reader):
    start(journal, 1)
    [running] = reader.open_attempts()
    assert (running.token, running.issue.id, running.number, running.slot) == ("t1", "7", 1, 0)
    assert reader.issue("7").status == "running"
    assert reader.past("7") == ()
    assert finish(journal, 1, cost=0.5)
    assert reader.open_attempts() == ()
    [past] = reader.past("7")
    assert (past.outcome, past.charged, past.signature, past.failure) == ("TEST_FAILURE", True, "s", RED)
    assert (past.commit, past.candidate, past.cost_usd) == ("c", "k", 0.5)
    row = reader.issue("7")
    assert (row.attempts, row.last_kind, row.last_message, row.cost_usd) == (1, "TEST_FAILURE", "one red", 0.5)
    assert kinds(reader) == ["issue_running", "attempt_started", "attempt_finished"]


def test_an_interrupted_attempt_is_charged_to_nobody_and_leaves_the_last_failure(journal, reader):
    start(journal, 1)
    finish(journal, 1)
    start(journal, 2)
    journal.attempt_finished(3.0, Interrupted("t2", "7", 2), charged=False, notes=())
    row = reader.issue("7")
    assert (row.attempts, row.last_kind) == (1, "TEST_FAILURE")
    assert reader.past("7")[-1].outcome == "INTERRUPTED"


def test_only_hard_gates_count_for_an_attempt_s_score(journal, reader):
    gates = (GateSpec("unit", "u"), GateSpec("lint", "l"), GateSpec("types", "t", hard=False))
    results = (
        GateResult(gates[0], "t", 1, 1.0, failure=RED, failing_tests=("a", "b")),
        GateResult(gates[1], "t", 0, 1.0),
        GateResult(gates[2], "t", 0, 1.0, failing_tests=("soft",)),
    )
    start(journal, 1)
    finish(journal, 1, gates=results)
    [past] = reader.past("7")
    assert (past.gates_passed, past.failing_tests) == (1, 2)
    shown = reader.attempts("7")[0].gates
    assert [(gate.name, gate.passed, gate.hard) for gate in shown] == [
        ("unit", False, True),
        ("lint", True, True),
        ("types", True, False),
    ]


@pytest.mark.parametrize(("failure", "attempts"), [(CONFLICT, 0), (RED, 1)])
def test_an_attempt_overruled_on_the_merge_is_charged_as_its_new_failure_says(journal, reader, failure, attempts):
    start(journal, 1)
    finish(journal, 1, None)
    journal.action(2.5, "7", 1, Land("passed"))
    assert reader.issue("7").attempts == 1
    journal.attempt_overruled(3.0, "7", 1, failure)
    assert reader.issue("7").attempts == attempts
    assert reader.issue("7").last_kind == failure.kind
    [past] = reader.past("7")
    assert (past.outcome, past.charged, past.signature) == (failure.kind, failure.charged, failure.signature)
    assert reader.attempts("7")[0].action is None


def test_an_attempt_that_turns_out_to_be_no_fault_of_the_work_is_charged_no_more(journal, reader):
    start(journal, 1)
    finish(journal, 1, RED)
    assert reader.issue("7").attempts == 1
    journal.attempt_excused(3.0, "7", 1, replace(RED, charged=False))
    [past] = reader.past("7")
    assert (reader.issue("7").attempts, past.outcome, past.charged) == (0, RED.kind, False)
    assert past.failure == replace(RED, charged=False)


def test_numbers_never_restart_and_cannot_be_given_twice(journal, reader):
    assert reader.next_number("7") == 1
    start(journal, 1)
    finish(journal, 1)
    journal.unblocked(3.0, "7", "a person")
    assert reader.next_number("7") == 2
    with pytest.raises(sqlite3.IntegrityError):
        start(journal, 1, token="other")
    assert reader.issue("7").status == "ready"


# Blocking and unblocking


def test_unblocking_starts_the_counters_again_and_keeps_what_was(journal, reader, database):
    questions = Questions(database, journal)
    start(journal, 1)
    finish(journal, 1, cost=0.5)
    journal.blocked(3.0, "7", "used up", PersonRequest(kind="TEST_FAILURE"))
    assert reader.issue("7").block == PersonRequest(kind="TEST_FAILURE")
    questions.decided("7", Decided(0, Verdict.NOTED, 1, "Use the other table.", 4.0))
    journal.unblocked(4.0, "7", "a person")
    row = reader.issue("7")
    assert (row.status, row.attempts, row.epoch, row.block) == ("ready", 0, 1, None)
    assert (row.note, row.cost_usd) == ("Use the other table.", 0.5)
    assert len(reader.past("7")) == 1
    journal.unblocked(5.0, "7", "again")
    assert reader.issue("7").note == "Use the other table."


@pytest.mark.parametrize("status", [IssueStatus.BLOCKED, IssueStatus.SKIPPED])
def test_an_issue_edited_after_it_was_put_aside_shows_another_hash(journal, reader, status):
    if status is IssueStatus.BLOCKED:
        journal.blocked(3.0, "7", "why", PersonRequest())
    else:
        journal.status(3.0, "7", status, "already satisfied")
    journal.sync_backlog(Backlog((replace(ISSUE, content_hash="v2"),)), "f2")
    assert reader.states()["7"].content_hash == "v1"
    journal.unblocked(4.0, "7", "edited")
    assert reader.states()["7"].content_hash == "v2"


# The rest


def test_the_backlog_s_order_is_kept_and_vanished_issues_come_last(journal, reader):
    journal.sync_backlog(Backlog((Issue("9", "Nine", priority=1), Issue("8", "Acht"))), "f2")
    assert [(row.id, row.present, row.title) for row in reader.issues()] == [
        ("9", True, "Nine"),
        ("8", True, "Acht"),
        ("7", False, "Seven"),
    ]
    assert reader.issue("7").depends_on == ("1", "2")
    assert reader.fact("fingerprint") == "f2"


def test_faults_and_warnings_come_back(journal, reader):
    fault, warning = IssueFault("issues/x.md", "broken", "mend it"), IssueFault("issues/y.md", "empty", id="y")
    journal.sync_backlog(Backlog((), (fault,), (warning,)), "f2")
    assert reader.faults() == (IssueFault(fault.source, fault.problem, fault.hint, None),)
    assert reader.faults("warnings") == (IssueFault(warning.source, warning.problem, warning.hint, "y"),)


def test_landings_are_open_from_intent_to_end(journal, reader):
    (one,) = journal.landing_intents(1.0, (("7", 1),), old="a", new="b", tree="t", gates=("k",))
    (two,) = journal.landing_intents(1.0, (("8", 1),), old="b", new="c", tree="t", gates=())
    assert [(landing.id, landing.old, landing.new) for landing in reader.open_landings()] == [
        (one, "a", "b"),
        (two, "b", "c"),
    ]
    journal.landed(2.0, one, "7", "b" * 40)
    journal.landing_dropped(two)
    assert reader.open_landings() == ()
    assert (reader.issue("7").status, reader.issue("7").merged_commit) == ("merged", "b" * 40)
    assert reader.issue("8").status == "ready"


def test_a_run_that_never_ended_is_marked_when_the_next_begins(database, reader):
    Journal(database, "one").run_started(100.0, 11)
    second = Journal(database, "two")
    second.run_started(50.0, 12)
    assert reader.last_run().id == "two"
    ended = database.rows("SELECT id, ended_why FROM runs ORDER BY rowid")
    assert [tuple(row) for row in ended] == [("one", "cut off"), ("two", "")]
    second.run_ended(60.0, 3, "some issues need a person")
    assert reader.last_run().exit_code == 3


def test_views_are_told_once_it_is_on_disk_and_never_of_what_was_undone(database):
    told = []
    journal = Journal(database, "r", lambda kind, issue_id, data: told.append((kind, issue_id, data["n"])))
    with database.transaction():
        journal.event(1.0, "tick", "7", n=1)
        assert told == []
    assert told == [("tick", "7", 1)]
    with suppress(KeyError), database.transaction():
        journal.event(1.0, "tick", "7", n=2)
        raise KeyError
    assert len(told) == 1


def test_a_view_that_fails_undoes_nothing(database, reader):
    def broken(*_):
        raise BrokenPipeError

    journal = Journal(database, "r", broken)
    with pytest.raises(BrokenPipeError):
        journal.event(1.0, "tick", "7")
    assert kinds(reader) == ["tick"]


class Life(RuleBasedStateMachine):
    """Random sequences of what the loop does; after each step rows and events are compared."""

    def __init__(self):
        super().__init__()
        self.database = Database.memory()
        self.journal, self.reader = Journal(self.database, "run"), Reader(self.database)
        self.journal.sync_backlog(Backlog((ISSUE,)), "f")
        self.number, self.open, self.epoch, self.begun_in = 0, False, 0, 0
        self.ended = {}

    def teardown(self):
        self.database.close()

    @precondition(lambda self: not self.open)
    @rule()
    def begin(self):
        self.number += 1
        self.journal.attempt_started(1.0, order(self.number), epoch=self.epoch, branch="b")
        self.open, self.begun_in = True, self.epoch

    @precondition(lambda self: self.open)
    @rule(failure=st.sampled_from([None, RED, CONFLICT]), cost=st.none() | st.integers(0, 9))
    def end(self, failure, cost):
        assert finish(self.journal, self.number, failure, cost=cost)
        self.open = False
        self.ended[self.number] = (failure is None or failure.charged, self.begun_in, cost)

    @precondition(lambda self: self.ended)
    @rule(failure=st.sampled_from([None, RED]), cost=st.integers(0, 9))
    def late(self, failure, cost):
        assert not finish(self.journal, min(self.ended), failure, cost=cost)

    @precondition(lambda self: self.ended and not self.open)
    @rule(failure=st.sampled_from([RED, CONFLICT]))
    def overrule(self, failure):
        number = max(self.ended)
        self.journal.attempt_overruled(2.0, "7", number, failure)
        self.ended[number] = (failure.charged, *self.ended[number][1:])

    @precondition(lambda self: not self.open)
    @rule()
    def block(self):
        self.journal.blocked(2.0, "7", "why", PersonRequest())

    @rule()
    def unblock(self):
        self.journal.unblocked(3.0, "7", "a person")
        self.epoch += 1

    @invariant()
    def the_rows_agree_with_what_happened(self):
        row = self.reader.issue("7")
        assert row.attempts == sum(charged for charged, epoch, _ in self.ended.values() if epoch == self.epoch)
        costs = [cost for _, _, cost in self.ended.values() if cost is not None]
        assert row.cost_usd == (sum(costs) if costs else None)
        assert row.epoch == self.epoch
        assert len(self.reader.open_attempts()) == self.open
        assert [attempt.number for attempt in self.reader.past("7")] == sorted(self.ended)

    @invariant()
    def the_newest_status_event_names_the_status(self):
        said = [row.kind for row in self.reader.events("7") if row.kind.startswith("issue_")]
        assert self.reader.issue("7").status == (said[-1].removeprefix("issue_") if said else "ready")


LifeTest = Life.TestCase
LifeTest.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)


def test_an_answer_and_what_follows_from_it_are_written_whole_or_not_at_all(database, journal, reader):
    questions = Questions(database, journal)
    asked = questions.asked(1.0, "7", Topic.BREAKDOWN, after=1, epoch=0, model="wise", run_id="run-1", directory="")
    advice = Advice(Topic.BREAKDOWN, 1)

    def cut_short():
        with questions.together():
            questions.answered(2.0, asked, "7", advice)
            questions.add_children(2.0, "7", (Issue("7.1", "Part", parent="7"),))
            raise RuntimeError("the power went")

    with pytest.raises(RuntimeError):
        cut_short()
    assert (questions.advice("7"), questions.children()) == ((), ())
    with questions.together():
        questions.answered(2.0, asked, "7", advice)
        questions.add_children(2.0, "7", (Issue("7.1", "Part", parent="7"),))
        journal.status(2.0, "7", IssueStatus.EPIC, "divided")
    assert (questions.advice("7"), [part.id for part in questions.children()]) == ((advice,), ["7.1"])
    assert reader.state("7").status is IssueStatus.EPIC


def test_a_change_of_state_that_no_row_of_the_table_has_takes_place_and_is_kept_for_fsck(database, journal):
    journal.merged(1.0, "7", "a" * 40)
    assert database_facts(database).unexpected_steps == ()
    journal.status(2.0, "7", IssueStatus.READY, "by mistake")
    journal.status(3.0, "7", IssueStatus.READY, "the same, with another reason")
    (step,) = database_facts(database).unexpected_steps
    assert step == UnexpectedStep("issue", "7", "merged", "ready")
    assert Reader(database).state("7").status is IssueStatus.READY


def test_states_are_read_anew_whoever_wrote_them(tmp_path):
    """Also what was undone, and what another process wrote."""
    with closing(Database.open(tmp_path / "s.db")) as one, closing(Database.open(tmp_path / "s.db")) as other:
        ours, theirs, reader = Journal(one, "r"), Journal(other, "s"), Reader(one)
        ours.sync_backlog(Backlog((ISSUE, Issue("8", "Eight", content_hash="w1"))), "f1")
        first = reader.states()
        assert reader.states() is first
        ours.status(1.0, "8", IssueStatus.WAITING, "ours")
        assert {name: state.reason for name, state in reader.states().items()} == {"7": "", "8": "ours"}
        assert first["8"].reason == ""
        theirs.status(2.0, "7", IssueStatus.BLOCKED, "theirs")
        assert reader.states()["7"].reason == "theirs"
        with suppress(ZeroDivisionError), one.transaction():
            ours.status(3.0, "8", IssueStatus.READY, "undone")
            assert reader.states()["8"].reason == "undone"
            raise ZeroDivisionError
        assert reader.states()["8"].reason == "ours"
        assert reader.states() == Reader(other).states()


def test_a_result_that_comes_late_changes_nothing_but_is_remembered(journal, reader):
    start(journal, 1)
    finish(journal, 1)
    issue, attempts = reader.issue("7"), reader.attempts("7")
    assert not finish(journal, 1, None, cost=9.0)
    assert not finish(journal, 1, token="never-given")
    assert reader.issue("7") == issue
    assert reader.attempts("7") == attempts
    assert kinds(reader)[-2:] == ["attempt_fenced", "attempt_fenced"]
    assert reader.events("7")[-1].data == {"number": 1, "outcome": "TEST_FAILURE"}


def test_what_follows_an_attempt_is_written_on_it(journal, reader):
    start(journal, 1)
    finish(journal, 1)
    journal.action(3.0, "7", 1, RunWorker(Mode.FEEDBACK, "small", "once more"))
    assert reader.attempts("7")[0].action == NextAction("RetryWithFeedback", "once more")
    assert reader.past("7")[0].answer == "RetryWithFeedback"
