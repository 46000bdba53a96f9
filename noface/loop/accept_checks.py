"""Runs the issues' `accept` commands on main before any token is spent on them: they must be red."""

import shlex
from functools import partial
from pathlib import Path

from noface.core.failure import Failure
from noface.core.gate import GateKind, GateResult
from noface.core.issue import Issue
from noface.core.taxonomy import FailureKind, IssueStatus
from noface.loop.backlog_watch import BacklogWatch
from noface.loop.context import RunContext, accept_gates
from noface.loop.gating import Task, run_gates
from noface.loop.jobs import Job, JobKind, Jobs
from noface.system.canceller import Canceller

UNCOMMITTED = "accept-uncommitted"
_CANNOT_RUN = (126, 127)


class AcceptChecks:
    """Knows which issues' commands were red on main before their first attempt."""

    def __init__(self, context: RunContext, jobs: Jobs, watch: BacklogWatch) -> None:
        self._context = context
        self._jobs = jobs
        self._watch = watch
        self._failing: dict[tuple[str, str], int] = {}

    def needed(self, issue: Issue) -> bool:
        """Tell whether an issue must be checked before it is worked on."""
        known = (issue.id, issue.content_hash) in self._failing
        return bool(issue.accept) and not known and not self._context.reader.past(issue.id)

    def failing(self, issue: Issue) -> int | None:
        """Return how many tests of the issue's commands fail on main, None where it has no commands."""
        return self._failing.get((issue.id, issue.content_hash), 1) if issue.accept else None

    def begin(self, issue: Issue) -> None:
        """Check an issue in a slot, which must be free."""
        slot = self._jobs.take_slot()
        check = partial(check_accept, self._context, issue, slot)
        self._jobs.start(Job(JobKind.CHECK, issue.id, check, self._ended, slot))

    def _ended(self, job: Job[int | Failure | None]) -> None:
        """Record what a check showed of an issue that is still there."""
        issue, outcome = self._watch.issue(job.issue_id), job.result
        journal, now = self._context.journal, self._context.clock.now()
        if issue is None or outcome is None:
            return
        if isinstance(outcome, Failure):
            reason = f"its accept command cannot be run: {outcome.message}"
            journal.blocked(now, issue.id, reason, _block(issue, outcome))
        elif outcome == 0:
            reason = "already satisfied: its accept commands pass on main"
            journal.status(now, issue.id, IssueStatus.SKIPPED, reason, satisfied=True)
        else:
            self._failing[issue.id, issue.content_hash] = outcome


def _block(issue: Issue, failure: Failure) -> dict[str, object]:
    uncommitted = failure.rule == UNCOMMITTED
    todo = f"Correct `accept` in {issue.source}, or install what it calls; then run noface again."
    return {
        "kind": failure.kind.value,
        "summary": f"{failure.kind}: its accept command cannot be run: {failure.message}",
        "tried": [],
        "errors": [failure.message, *failure.evidence[-3:]],
        "unclear": [],
        "questions": [],
        "options": ["commit the file"] if uncommitted else ["correct the command", "install what it needs"],
        "next_steps": ["Commit the file; noface goes on with the next run." if uncommitted else todo],
        "question": f"What should issue {issue.id} be accepted by?",
        "commands": ["git status", f"$EDITOR {shlex.quote(issue.source)}", f"noface retry {issue.id}"],
    }


def check_accept(context: RunContext, issue: Issue, slot: int, cancel: Canceller) -> int | Failure | None:
    """Run an issue's `accept` commands on main; return how many of their tests fail: red is what they should be.

    0: it is satisfied already. A failure says why it could not be found out, None that it was cut short.
    """
    plumbing = context.shop.plumbing
    main = plumbing.main()
    logs = Path(context.settings.attempts_dir).parent / "accept" / issue.id
    task = Task(issue.id, 0, f"accept-{issue.id}", str(slot), plumbing.tree(main), main, main, logs)
    build = tuple(gate for gate in context.settings.gates if gate.kind is GateKind.BUILD)  # accept may need its output
    gates = build + accept_gates(issue.accept)
    gated = run_gates(context.shop, task, gates, cancel, context.inbox.put, None)
    if gated is None or gated.failure is not None:
        return None if gated is None else gated.failure
    red = [result for result in gated.results if result.failure is not None and result.gate.accept]
    unrunnable = next((r.failure for r in red if r.exit_code in _CANNOT_RUN), None)
    return _uncommitted(context, red) or unrunnable or sum(max(1, len(result.failing_tests)) for result in red)


def _uncommitted(context: RunContext, red: list[GateResult]) -> Failure | None:
    """Return that a command did not find a file which lies in the person's checkout and was never committed.

    No worker can put it there, since what `accept` names is protected.
    """
    lost = [result for result in red if result.failure is not None and result.failure.kind is FailureKind.ENVIRONMENT]
    if not lost:
        return None
    plumbing, root = context.shop.plumbing, context.shop.plumbing.repository.root
    there = set(plumbing.paths(plumbing.main()))
    for result in lost:
        for path in named_files(result.gate.command):
            if path not in there and (root / path).is_file():
                said = f"{path} is not on {plumbing.repository.main_name}: it lies uncommitted in {root}"
                return Failure(FailureKind.ENVIRONMENT, said, rule=UNCOMMITTED, charged=False)
    return None


def named_files(command: str) -> list[str]:
    """Return the words of a command that may name files of the repository; of `a.py::test_x` the file."""
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    paths = [word.partition("::")[0].removeprefix("./") for word in words]
    return [path for path in paths if path and not path.startswith(("-", "/", "../"))]
