"""What follows where a worker changes nothing because it finds the issue done: one more look, then a person is asked.

The claim counts only as one if nothing was changed and every gate passes on main. Only an issue's own `accept` that
is green on main closes it without a person.
"""

from noface.diagnosis.agent import claims_done
from noface.model.actions import Action, Mode, RequestApproval, RunWorker, Skip
from noface.model.attempt import failure_of
from noface.model.failure import Failure
from noface.model.history import Verdict
from noface.model.issue import Issue
from noface.model.quoting import quoted
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import ReportStatus, WorkerReport
from noface.recovery.policy_state import PolicyState, climb, same_model, trailing

DONE_ALREADY = "done-already"
"""The rule of a worker's finding that there is nothing to do."""
CHECK = (
    "Nothing was changed: the last worker found that the issue is done already. Check that critically. For each point"
    " of the issue find the code that does it, and run what shows it. If anything is missing, do it. If all of it is"
    ' there, change nothing, and report status "done" with the evidence: files with lines, commands with their output.'
)
"""What the next worker is told."""
_LOOKS = 2
_QUOTED_MAX = 300


def says_done(report: WorkerReport | None, last_words: str) -> str:
    if report is not None and report.status is not ReportStatus.DONE:
        return ""
    texts = (report.summary if report is not None else "", last_words)
    return next((text.strip() for text in texts if claims_done(text)), "")


def nothing_left(issue: Issue, report: WorkerReport | None, last_words: str) -> str:
    """Return what a worker says who changed nothing of a part since nothing is left; of the rest, silence does."""
    if issue.parent is None or (report is not None and report.status is not ReportStatus.DONE):
        return ""
    silent = report is None and issue.rest
    return last_words.strip() or "nothing was left to do" if silent or report is not None else ""


def done_already(words: str, main: str, *, accepted: bool) -> Failure:
    """Return what such an attempt comes to. `accepted`: the issue has `accept`, and it is green on main."""
    checked = "every gate, and the issue's accept, passes on main" if accepted else "every gate passes on main"
    return Failure(
        FailureKind.NO_DIFF,
        f"the worker finds it done already: {quoted(words, _QUOTED_MAX)}",
        rule=DONE_ALREADY,
        signature=DONE_ALREADY,
        evidence=(f"nothing was changed, and {checked} ({main[:12]})",),
        excerpt=words,
        charged=False,
    )


def closed_or_asked(state: PolicyState) -> Action | None:
    """Decide after a worker found nothing to do; None after anything else."""
    failure, last = state.failure, state.last
    if failure.rule != DONE_ALREADY:
        return None
    issue, looks = state.history.issue, trailing(state.attempts, lambda each: failure_of(each).rule == DONE_ALREADY)
    if issue.parent is not None and looks >= _LOOKS:
        return Skip("nothing is left to do in this part: who looks at the whole decides", satisfied=True)
    if issue.accept:
        return Skip("already satisfied: its accept commands pass on main", satisfied=True)
    verdict = state.history.verdict(last.number)
    if verdict is not None:
        if verdict.verdict is Verdict.APPROVED:
            return Skip("done already, as a person confirmed", satisfied=True)
        return climb(state, why="a person says that it is not done")
    if looks < _LOOKS:
        model = same_model(state.attempts, state.ladder)
        return RunWorker(
            Mode.FEEDBACK, model, "it is said to be done already: one more look; nothing is charged", last.think
        )
    return RequestApproval(failure.kind, f"{looks} workers found nothing to do: {failure.message}", done=True)
