"""A night's work, written into a repository's real state database the way the loop writes it."""

import os
from dataclasses import replace
from pathlib import Path

from noface.git.refs import scratch_branch, slug
from noface.model.actions import Block, Mode, RequestApproval, RunWorker
from noface.model.attempt import AttemptOrder, FileChange, Judged, Snapshot
from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec
from noface.model.history import Advice, History
from noface.model.issue import Issue
from noface.model.taxonomy import Cause, FailureKind, IssueStatus
from noface.model.worker_run import AgentRun, EndedBy, ModelSpec, Usage
from noface.recovery.blocked import approval_request, block_request
from noface.recovery.schedule import with_parts
from noface.store.database import Database
from noface.store.journal import Journal
from noface.store.questions import Questions
from noface.store.reader import Reader
from noface.trackers.files import FilesTracker

START = 1_790_000_000.0
NO_COMMIT = "c" * 40
GATE = GateSpec("unit", "python -m pytest -q")
LINT = GateSpec("lint", "ruff check .")
MODELS = {"claude-sonnet": 1, "claude-opus": 2, "small": 1}


def red_test(message="assert 401 == 200", **more):
    values = {
        "kind": FailureKind.TEST_FAILURE,
        "message": message,
        "rule": "pytest.assertion",
        "location": "tests/test_login.py:41",
        "signature": "s1",
        "evidence": ("    def test_login():", ">       assert reply.status == 200", "E       assert 401 == 200"),
        "failing_tests": ("tests/test_login.py::test_login",),
        "gate": "unit",
    }
    return Failure(**{**values, **more})


class Story:
    """Writes what happened. `commit` is any commit of the repository, standing for the attempts'."""

    def __init__(self, root: Path, commit: str = "c" * 40):
        self.root, self.commit = root, commit
        self.state = root / ".git" / "noface"
        self.database = Database.open(self.state / "state.db")
        self.reader = Reader(self.database)
        self.journal = Journal(self.database, "run1")
        self.questions = Questions(self.database, self.journal)
        self.now = START

    def tick(self, seconds=60.0):
        self.now += seconds
        return self.now

    def sync(self):
        tracker = FilesTracker(self.root, "issues")
        merged = [row.id for row in self.reader.issues() if row.status == "merged"]
        self.journal.sync_backlog(tracker.backlog(merged), tracker.fingerprint())
        return self

    def run(self, pid=2**22 + 1):
        self.journal.run_started(self.tick(), pid)
        return self

    def end(self, why="finished; some issues need a person", code=3):
        self.journal.run_ended(self.tick(), code, why)
        return self

    def directory(self, issue, number):
        folder = self.state / "attempts" / slug(issue) / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def start(self, issue, number, model="claude-sonnet", slot=0, think=False):
        order = AttemptOrder(
            run_id="run1",
            token=f"{issue}-{number}",
            issue=Issue(issue, "t"),
            number=number,
            model=ModelSpec(model, "claude", tier=MODELS[model]),
            prompt="Do it.",
            main=self.commit,
            start=self.commit,
            slot=slot,
            directory=str(self.directory(issue, number)),
            gates=(GATE,),
            think=think,
        )
        branch = scratch_branch(issue).removeprefix("refs/heads/")
        epoch = self.reader.issue(issue).epoch
        self.journal.attempt_started(self.tick(), order, epoch=epoch, branch=branch)
        if self.commit != NO_COMMIT:
            ref = self.root / ".git" / "refs" / "heads" / branch
            ref.parent.mkdir(parents=True, exist_ok=True)
            ref.write_text(f"{self.commit}\n")
        return order

    def attempt(
        self,
        issue,
        number,
        failure=None,
        model="claude-sonnet",
        cost=0.21,
        action=None,
        notes=(),
        gates=None,
        charged=True,
        think=False,
        worker=None,
        changed=(),
        usage=None,
    ):
        order = self.start(issue, number, model, think=think)
        changes = tuple(FileChange(path, "M", "100644", "100644", "0" * 40, "1" * 40, 3, 1) for path in changed)
        snapshot = Snapshot(self.commit, "t" * 40, self.commit, "t" * 40, changes)
        usage = usage or Usage(cost_usd=cost)
        if gates is None:
            lint = GateResult(LINT, "t" * 40, 0, 1.5)
            gates = (lint, GateResult(GATE, "t" * 40, 1 if failure else 0, 11.0, failure=failure))
        report = Judged(
            token=order.token,
            issue_id=issue,
            number=number,
            agent=AgentRun(0, None, EndedBy.ITSELF, 100.0, usage),
            snapshot=snapshot,
            gates=gates,
            failure=failure,
            worker=worker,
        )
        self.journal.attempt_finished(self.tick(192), report, charged=charged, notes=tuple(notes))
        if action is not None:
            self.journal.action(self.now, issue, number, action)
        return self

    def fail_and_retry(self, issue):
        """Two failures: once more with feedback, then the stronger model."""
        again = RunWorker(Mode.FEEDBACK, "claude-sonnet", "attempt 1 of 2 with claude-sonnet failed; it is told why")
        stronger = RunWorker(
            Mode.ESCALATE, "claude-opus", "2 attempts with claude-sonnet failed: the next model of the ladder"
        )
        self.attempt(issue, 1, red_test(), action=again)
        self.attempt(
            issue, 2, red_test("assert 403 == 200"), action=stronger, notes=("protected files put back: conftest.py",)
        )
        return self

    def block(self, issue, kind=FailureKind.TEST_FAILURE, reason="all 5 attempts are used up", questions=()):
        action = Block(kind, reason)
        history = self.history(issue)
        past = history.attempts
        request = block_request(history.issue, action, history, self.reader.issue(issue).branch or "")
        request = replace(request, unclear=(*request.unclear, *questions))
        if past:
            self.journal.action(self.tick(), issue, past[-1].number, action)
        self.journal.blocked(self.tick(), issue, reason, request)
        return self

    def history(self, issue):
        row = self.reader.issue(issue)
        described = Issue(issue, row.title, source=row.source, parent=row.parent)
        past, advice = self.reader.past(issue), self.questions.advice(issue)
        return History(described, past, row.epoch, advice, self.reader.decisions(issue))

    def ask(self, issue, topic, model="claude-opus", **answer):
        """Ask after the last attempt; without an answer the question stays open."""
        row, after = self.reader.issue(issue), self.reader.past(issue)[-1].number
        said = {"after": after, "epoch": row.epoch, "model": model}
        directory = str(self.directory(issue, after))
        question = self.questions.asked(self.tick(), issue, topic, run_id="run1", directory=directory, **said)
        if answer:
            self.questions.answered(self.tick(), question, issue, Advice(topic, **said, **answer))
        return self

    def request_approval(self, issue, kind=None, reason='passed; label "risky" needs your approval', paths=()):
        action = RequestApproval(kind, reason, paths)
        history = self.history(issue)
        request = approval_request(history.issue, action, history, self.reader.issue(issue).branch or "")
        self.journal.action(self.tick(), issue, history.attempts[-1].number, action)
        self.journal.approval_requested(self.tick(), issue, reason, request)
        return self

    def divide(self, issue, *titles):
        """Make parts of an issue: 7.1, 7.2, …"""
        parts = tuple(Issue(f"{issue}.{n}", title, parent=issue, depth=1) for n, title in enumerate(titles, 1))
        self.questions.add_children(self.tick(), issue, parts)
        tracker = FilesTracker(self.root, "issues")
        backlog = tracker.backlog([row.id for row in self.reader.issues() if row.status == "merged"])
        listed = replace(backlog, issues=with_parts(backlog.issues, self.questions.children()))
        self.journal.sync_backlog(listed, tracker.fingerprint())
        return self.status(issue, "epic", f"divided into {', '.join(part.id for part in parts)}")

    def status(self, issue, status, reason="", until=None, cause=Cause.NONE):
        self.journal.status(self.tick(), issue, IssueStatus(status), reason, until, cause=cause)
        return self

    def merge(self, issue, commit=None):
        self.attempt(issue, 1)
        self.journal.merged(self.tick(), issue, commit or self.commit)
        return self

    def close(self):
        self.database.close()


def write_issue(root, name, title, front=""):
    path = root / "issues" / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'+++\ntitle = "{title}"\n{front}+++\n\nDo it.\n')
    return path


def usual_night(root, commit=NO_COMMIT):
    """One issue of every kind, and a broken file."""
    write_issue(root, "001-greet", "Greet in the language of the visitor")
    write_issue(
        root, "002-login", "Fix the login of visitors whose name holds a comma, which answers 401 instead of 200"
    )
    write_issue(root, "003-page", "Paginate the list of orders", 'depends_on = ["002"]\n')
    write_issue(root, "004-cache", "Cache the exchange rates", "priority = 1\n")
    write_issue(root, "005-export", "Export orders as CSV")
    write_issue(root, "006-limit", "Limit the size of uploads")
    write_issue(root, "007-run", "Rename Basket to Cart everywhere")
    write_issue(root, "008-broken", "Broken", 'depends_on = ["999"]\n')
    story = Story(root, commit).sync().run(pid=os.getpid())
    story.merge("001")
    story.fail_and_retry("002").attempt("002", 3, red_test(), model="claude-opus", cost=1.02)
    story.block("002", questions=("Should a comma end the name, as the old site did?",))
    story.merge("004", "d" * 40).status(
        "004", "landing", "local changes of yours are in the way: src/rates.py, src/money.py", cause=Cause.HELD
    )
    story.status("006", "waiting", "claude-sonnet: rate limited", story.now + 10**9)
    story.attempt(
        "007", 1, red_test(), action=RunWorker(Mode.FEEDBACK, "claude-sonnet", "the worker is told why it failed")
    )
    story.start("007", 2)
    return story
