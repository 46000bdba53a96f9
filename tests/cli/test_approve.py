"""`noface approve` and `noface reject`: what a person's yes or no changes, and what they refuse."""

import pytest
from support.processes import wait_for

from noface.model.actions import Land, RequestApproval
from noface.model.failure import Failure
from noface.model.history import Decided, Verdict
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import BlockedReason, ReportStatus, WorkerReport
from noface.recovery.policy import next_action
from noface.recovery.retry_policy import Policy, Rung

BOUNDARY = FailureKind.BOUNDARY_VIOLATION
ASKS = Policy((Rung("small", 1, 2), Rung("big", 2, 3)), (("small", 1), ("big", 2)), approval_paths=("migrations/**",))
MIGRATION = ("migrations/7.sql",)


@pytest.fixture
def landing(night):
    """Issue 005 has passed, and waits for a person to let it land."""
    return night.attempt("005", 1, model="small", changed=MIGRATION).request_approval("005")


@pytest.fixture
def wider(night):
    outside = Failure(BOUNDARY, "changed outside", "outside-paths", signature="o", evidence=("src/db.py",))
    wanted = ("src/db.py", "src/x.py")
    return night.attempt("005", 1, outside, model="small").request_approval("005", BOUNDARY, "may it?", wanted)


@pytest.fixture
def contract(night):
    report = WorkerReport(ReportStatus.BLOCKED, "y is wrong", blocked_reason=BlockedReason.CONTRACT_CHANGE)
    argued = Failure(BOUNDARY, "y is wrong", "report-contract-change", signature="c")
    return night.attempt("005", 1, argued, model="small", worker=report).request_approval("005", BOUNDARY, "look")


def decided(story):
    return next_action(story.history("005"), ASKS, story.now)


def refused(project, *args):
    done = project.noface(*args)
    assert (done.returncode, done.stdout) == (2, ""), done.stdout
    return done.stderr


def test_approving_lets_the_work_land_as_it_is(project, landing):
    assert isinstance(decided(landing), RequestApproval)
    done = project.noface("approve", "5")
    assert (done.returncode, done.stdout) == (0, "005  Export orders as CSV: approved\nNext: noface run\n")
    row = landing.reader.issue("005")
    assert (row.status, row.reason, row.epoch) == ("ready", "approved by a person", 0)
    assert isinstance(decided(landing), Land)
    assert project.shown("show", "5")["decisions"][0]["verdict"] == "approved"


def test_rejecting_makes_the_work_a_failure_that_the_next_worker_is_told_of(project, landing):
    assert project.noface("reject", "5", "--note", "Keep the old column.").returncode == 0
    row = landing.reader.issue("005")
    assert (row.status, row.reason, row.attempts) == ("ready", "rejected by a person", 1)
    assert row.note == "Keep the old column."
    (attempt,) = landing.reader.past("005")
    assert (attempt.outcome, attempt.charged) == ("REVIEW_REJECTED", True)
    assert attempt.failure.rule == "person-rejected"
    assert attempt.failure.message == "rejected by a person: Keep the old column."
    assert attempt.failure.excerpt == "Keep the old column."
    action = decided(landing)
    assert action.name not in ("Land", "RequestApproval", "FirstAttempt")
    assert action.model == "small"


def test_two_rejections_for_different_reasons_are_different_failures(project, landing):
    project.noface("reject", "5", "--note", "Keep the old column.")
    landing.attempt("005", 2, model="small", changed=MIGRATION).request_approval("005")
    project.noface("reject", "5", "--note", "Now the index is gone.")
    first, second = landing.reader.past("005")
    assert first.signature != second.signature
    assert landing.reader.issue("005").note == "Keep the old column.\n\nNow the index is gone."


def test_approving_wider_paths_grants_them_beside_those_granted_before(project, wider):
    said = Decided(0, Verdict.APPROVED, at=wider.tick(), paths=("src/x.py", "src/a.py"))
    wider.questions.decided("005", said)
    done = project.noface("approve", "5", "--note", "Only the one query.")
    assert "   it may change src/db.py, src/x.py as well\n" in done.stdout
    state = wider.reader.states()["005"]
    assert state.granted_paths == ("src/x.py", "src/a.py", "src/db.py")
    assert (state.status, state.note) == ("ready", "Only the one query.")
    assert "a person approved" in decided(wider).reason


def test_rejecting_wider_paths_grants_none_and_says_why(project, wider):
    assert project.noface("reject", "5", "--note", "Pass the rates in.").returncode == 0
    state = wider.reader.states()["005"]
    assert (state.granted_paths, state.status, state.note) == ((), "ready", "Pass the rates in.")
    assert wider.reader.past("005")[0].outcome == "BOUNDARY_VIOLATION", "what the attempt was stays what it was"
    assert "a person refused" in decided(wider).reason


def test_a_worker_that_argues_gets_a_persons_word(project, contract):
    assert "a test or a contract" in decided(contract).reason
    assert project.noface("approve", "5", "--note", "It was wrong; corrected.").returncode == 0
    assert "a person approved" in decided(contract).reason
    assert contract.reader.states()["005"].note == "It was wrong; corrected."


def test_saying_the_same_again_changes_nothing(project, landing):
    documents = [project.shown("approve", "5") for _ in range(2)]
    said = {"id": "005", "title": "Export orders as CSV", "status": "ready", "attempt": 1, "verdict": "approved"}
    assert documents == [{"schema": 1, "approve": said}] * 2
    assert project.noface("approve", "5").stdout == "Issue 005 was approved already; it is ready now.\n"
    assert len(landing.reader.decisions("005")) == 1


def test_several_are_approved_at_once_or_none(project, landing):
    assert "does not wait for approval" in refused(project, "approve", "5", "1")
    assert project.shown("show", "5")["decisions"] == []
    landing.attempt("006", 1, None, model="small").request_approval("006", None, "look")
    done = project.noface("approve", "5", "#6")
    assert [line[:3] for line in done.stdout.splitlines()] == ["005", "006", "Nex"]
    assert [each["id"] for each in project.shown("approve", "5", "6")["approve"]] == ["005", "006"]


def test_what_was_approved_cannot_be_rejected_afterwards(project, landing):
    project.noface("approve", "5")
    assert "issue 005 is ready; it does not wait for approval" in refused(project, "reject", "5", "--note", "No.")
    assert isinstance(decided(landing), Land)


def test_rejecting_takes_a_reason(project, landing):
    assert "--note" in refused(project, "reject", "5")
    assert "--note" in refused(project, "reject", "5", "--note", "  ")
    assert landing.reader.issue("005").status == "approval"


@pytest.mark.parametrize(
    ("issue", "said", "hint"),
    [
        ("1", "is merged; it does not wait for approval", "noface show 001"),
        ("2", "its question is answered by no yes or no", 'noface retry 002 --note "…"'),
        ("4", "is landing; it does not wait for approval", "noface show 004"),
        ("5", "is ready; it does not wait for approval", "noface show 005"),
        ("7", "is running; it does not wait for approval", "noface show 007"),
    ],
)
def test_only_what_waits_for_a_yes_can_be_decided(project, night, issue, said, hint):
    told = refused(project, "approve", issue)
    assert said in told
    assert hint in told


def test_an_issue_whose_file_is_gone_cannot_be_approved(project, landing):
    (project.path / "issues" / "005-export.md").unlink()
    assert "its file is gone" in refused(project, "approve", "5")
    assert landing.reader.issue("005").status == "approval"


def asks_for_approval(project, **more):
    """An issue of which nothing lands without a person's word."""
    project.config('[approval]\nlabels = ["risky"]\n', **more)
    project.issue(7, "Add b", labels=["risky"])
    project.commit()


def test_approving_while_noface_runs_lands_the_work_in_that_run(project):
    asks_for_approval(project, workers=2)
    project.issue(8, "Take long")
    project.commit()
    go_on = project.folder / "go-on"
    project.play(
        ("7", 0, [{"write": "b.txt", "text": "done\n"}]),
        ("8", 0, [{"write": "c.txt", "text": "c"}, {"shell": f"until test -e {go_on}; do sleep 0.1; done"}]),
    )
    run = project.start("run")
    wait_for(lambda: project.state.exists() and project.statuses().get("7") == "approval")
    assert project.noface("approve", "7").returncode == 0
    wait_for(lambda: project.statuses()["7"] == "merged")
    assert project.statuses()["8"] == "running"
    go_on.touch()
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 0, said


def test_what_is_approved_is_not_undone_by_a_retry_and_a_lost_approval_is_not_told_as_given(project, landing):
    assert project.noface("approve", "005").returncode == 0
    assert "issue 005 is approved, and the next run goes on with it" in refused(project, "retry", "005")
    assert "was approved already" in project.noface("approve", "005").stdout
    landing.journal.unblocked(landing.tick(), "005", "retried by a person")
    assert "it does not wait for approval" in refused(project, "approve", "005")
