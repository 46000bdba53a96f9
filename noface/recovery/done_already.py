"""What follows where a worker changes nothing because it finds the issue done: one more look, then a person is asked.

The claim counts only as one if nothing was changed, and every gate and the worker's own evidence pass on main. Only an
issue's own `accept` that is green on main closes it without a person. Prose claims nothing.
"""

from noface.model.actions import Action, Mode, RequestApproval, RunWorker, Skip
from noface.model.attempt import failure_of
from noface.model.failure import WORKER, Failure
from noface.model.gate import GateResult
from noface.model.history import Verdict
from noface.model.issue import Issue
from noface.model.quoting import one_line, quoted, short
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import ReportStatus, WorkerReport
from noface.recovery.policy_state import PolicyState, climb, same_model, trailing

DONE_ALREADY = "done-already"
"""The rule of a worker's finding that there is nothing to do."""
DISPROVEN, EVIDENCE = "done-disproven", "evidence"
"""The rule of such a finding that a command on main speaks against, and the name of the worker's own command."""
_LOOKS = 2
_QUOTED_MAX = 300

GREEN_ALREADY = "already satisfied: its accept commands pass on main"


def claim_of(issue: Issue, report: WorkerReport | None, last_words: str) -> tuple[str, str] | None:
    """Return what a worker says who changed nothing since nothing is left, and its evidence; None if it does not.

    Of a part that is one without evidence; of the rest, silence is.
    """
    if report is not None and report.status is ReportStatus.ALREADY_DONE and report.evidence:
        return report.summary or report.evidence, report.evidence
    done = report is not None and report.status in (ReportStatus.DONE, ReportStatus.ALREADY_DONE)
    if issue.parent is None or not (done or (report is None and issue.rest)):
        return None
    return (report.summary if report is not None else last_words.strip()) or "nothing was left to do", ""


def disproven(words: str, red: GateResult, *, told: bool) -> Failure:
    """Return what a claim comes to that a command on main speaks against; it is charged to who was `told` so before."""
    found = red.failure.message if red.failure is not None else "it fails"
    return Failure(
        FailureKind.NO_DIFF,
        f"the worker reports that it is done already ({quoted(words, _QUOTED_MAX)}), and on main"
        f" {one_line(red.gate.command, _QUOTED_MAX)} fails: {found}",
        rule=DISPROVEN,
        signature=DISPROVEN,
        evidence=(f"nothing was changed, and {red.gate.name} is red on main", found),
        excerpt=red.failure.excerpt if red.failure is not None else "",
        charged=told,
    )


def done_already(words: str, evidence: str, main: str, *, accepted: bool) -> Failure:
    """Return what such an attempt comes to. `accepted`: the issue has `accept`, and it is green on main."""
    checked = "every gate, and the issue's accept, passes on main" if accepted else "every gate passes on main"
    return Failure(
        FailureKind.NO_DIFF,
        f"its worker finds it done already ({quoted(words, _QUOTED_MAX)})"
        + (f", and on main its command passes: {short(evidence, _QUOTED_MAX)}" if evidence else ""),
        rule=DONE_ALREADY,
        signature=DONE_ALREADY,
        evidence=(f"nothing was changed, and {checked} ({main[:12]})",),
        excerpt=words,
        by=WORKER,
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
        return Skip(GREEN_ALREADY, satisfied=True)
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
