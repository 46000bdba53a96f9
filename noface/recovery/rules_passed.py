"""The rules for work that passed its gates: 2 of `policy`, and what main's tests alone speak against.

Each asks whoever has to see it before it lands: the reviewer, the judge of changed tests, a person. Work that changed
what judges it waits for a person's approval and is not blocked; once approved it lands.
"""

from collections.abc import Mapping

from noface.integrity.asked_for import speak
from noface.integrity.tampering import BY_BODY, CONTRADICTED
from noface.model.actions import Action, Ask, Land, Mode, RequestApproval, WaitUntil
from noface.model.attempt import UNASKED, PastAttempt, failure_of
from noface.model.failure import Failure
from noface.model.history import CONTESTED, Advice, AdviceOutcome, History, Topic, Verdict
from noface.model.patterns import matches_any
from noface.model.quoting import quoted
from noface.model.taxonomy import FailureKind
from noface.recovery.policy_state import division
from noface.recovery.reported import made_up
from noface.recovery.retry_policy import MAY_BE_HALF, ChangedTests, Policy, When, review_due

_PARTS_FAILED = "it was divided, and not all of its parts could be done"
REVIEWS_MAX = 3
"""How often a reviewer is asked again who cannot be asked, other than because its provider is away."""


def landing(history: History, policy: Policy, last: PastAttempt, away: Mapping[str, float], now: float) -> Action:
    """Return what has to come before work that passed lands, or that it lands."""
    verdict = history.verdict(last.number)
    if verdict is not None and verdict.verdict is Verdict.APPROVED:
        return Land("every hard gate passed, and a person approved")
    review = _review(history, policy, last, away, now)
    if review is not None:
        return review
    if said := made_up(last.report):
        return RequestApproval(None, f"passed; not given to its worker: {quoted(said[0], 300)}")
    if unasked := next((doubt for doubt in last.doubts if doubt.startswith(UNASKED)), ""):
        return RequestApproval(None, f"passed; {unasked}")
    if last.doubts and policy.roles.reviewer is None:
        return RequestApproval(None, f"passed, as its own commands want it; {last.doubts[0]}")
    if _unreviewed(policy) and last.report is None and _parts_failed(history):
        return RequestApproval(None, f"passed; {_PARTS_FAILED}")
    labels = [label for label in history.issue.labels if label in policy.approval_labels]
    if labels:
        return RequestApproval(None, f'passed; label "{labels[0]}" needs your approval ([approval] labels)')
    paths = [path for path in last.changed if matches_any(path, policy.approval_paths)]
    if paths:
        return RequestApproval(None, f"passed; it changes {paths[0]}, which needs your approval ([approval] paths)")
    return Land("every hard gate passed")


def asked_whether_whole(history: History, policy: Policy) -> Failure | None:
    """Return, of work that passed and that nobody reviews, that its next worker is asked whether it is all."""
    last = history.current[-1]
    told = any(failure_of(each).rule == MAY_BE_HALF for each in history.current)
    half = _may_be_half(history, last) if _unreviewed(policy) and not (told or _parts_failed(history)) else ""
    if not half or history.verdict(last.number) is not None:
        return None
    message = f"every gate passes; {half}: the next one is asked whether anything of the issue is missing"
    return Failure(FailureKind.REVIEW_REJECTED, message, rule=MAY_BE_HALF, signature=MAY_BE_HALF, charged=False)


def _unreviewed(policy: Policy) -> bool:
    return policy.roles.reviewer is None or policy.review.when is When.NEVER


def _parts_failed(history: History) -> bool:
    return any(advice.outcome is AdviceOutcome.PARTS_FAILED for advice in history.asked) and not history.issue.accept


def _review(
    history: History, policy: Policy, last: PastAttempt, away: Mapping[str, float], now: float
) -> Action | None:
    reviewer = policy.roles.reviewer
    due = review_due(policy.review, history.issue, last)
    due = due or (_may_be_half(history, last) if policy.review.when is not When.NEVER else "")
    if reviewer is None or not due:
        return None
    reviews = _answers(history, Topic.REVIEW, last)
    if reviews and reviews[-1].outcome is AdviceOutcome.ADVISED:
        if reviews[-1].divide and (divided := division(history, policy, "passed; the reviewer would divide it")):
            return divided
        approved = reviews[-1].strategy == "approve"  # nothing else lets it land, whatever it says
        return (
            None if approved else RequestApproval(None, f"passed; the reviewer asks for a person: {reviews[-1].cause}")
        )
    if reviews and reviews[-1].outcome is AdviceOutcome.UNUSABLE:
        return RequestApproval(None, f"passed; the reviewer's verdict could not be read: {reviews[-1].cause}")
    if _not_there(reviews, policy):
        return RequestApproval(None, f"passed; the reviewer was not there {len(reviews)} times: {reviews[-1].cause}")
    if away.get(reviewer, now) > now:
        return WaitUntil(reviewer, away[reviewer], f"passed; waits for the reviewer {reviewer}", provider=False)
    return Ask(Topic.REVIEW, reviewer, f"passed; {due}: reviewed before it lands")


def _may_be_half(history: History, last: PastAttempt) -> str:
    """Say why work that passed may be half of its issue; "" if nothing speaks for that, or `accept` decides."""
    if history.issue.accept:
        return ""
    if _parts_failed(history):
        return _PARTS_FAILED
    less = any(attempt.answer == Mode.REDUCE for attempt in history.current[:-1])
    return "a worker that was told to do less does not say that it is all" if less and last.report is None else ""


def _answers(history: History, topic: Topic, last: PastAttempt) -> list[Advice]:
    return [advice for advice in history.asked if advice.topic is topic and advice.after == last.number]


def _not_there(answers: list[Advice], policy: Policy) -> bool:
    unavailable = len(answers) if policy.transient_retries is not None else sum(not each.away for each in answers)
    return unavailable > (REVIEWS_MAX if policy.transient_retries is None else policy.transient_retries)


def changed_tests(
    history: History, policy: Policy, last: PastAttempt, away: Mapping[str, float], now: float
) -> Action | None:
    """Ask whether the issue wants what the work makes of main's tests; None if that is answered, or is no question."""
    failure, judge, verdict = last.failure, policy.review.judge, history.verdict(last.number)
    warned = any(past.failure and past.failure.kind is FailureKind.GATE_TAMPERING for past in history.current[:-1])
    if failure is None or failure.kind is not FailureKind.GATE_TAMPERING:
        return None
    wider = any(advice.strategy == "expand" for advice in _answers(history, Topic.BOUNDARY, last))
    if verdict is not None and verdict.verdict is Verdict.APPROVED and last.candidate is not None and not wider:
        return Land("a person approved the change of the tests; it lands if the gates pass")
    kept = failure.rule == CONTRADICTED
    since = f'its worker says that the issue asks for it: "{last.quote}"; {failure.message}'
    if verdict is None and last.quote and not kept:
        return RequestApproval(failure.kind, since)  # a model is asked only if nothing else speaks against the tests
    if verdict is not None or not (
        kept or (failure.rule in BY_BODY and speak((history.issue.title, history.issue.body), "tests", "goes"))
    ):
        return None
    answers = _answers(history, Topic.CHANGED_TESTS, last)
    if answers and answers[-1].strategy == CONTESTED:
        return RequestApproval(
            failure.kind, f"two issues contradict each other: {answers[-1].cause}; {failure.message}"
        )
    if any(answer.outcome is not AdviceOutcome.UNAVAILABLE for answer in answers):
        no = f"its own commands want it; {answers[-1].model} finds no word of it in the issue: {answers[-1].cause}"
        return RequestApproval(failure.kind, no) if history.issue.accept and warned else None
    if kept and policy.review.changed_tests is ChangedTests.LAND:
        return Ask(Topic.CHANGED_TESTS, "", 'main\'s tests contradict it; [review] changed_tests = "land"')
    if policy.review.changed_tests is ChangedTests.ASK_PERSON or judge is None:
        why = since if last.quote else f"its own commands want it; {failure.message}"
        return RequestApproval(failure.kind, why) if last.quote or (history.issue.accept and warned) else None
    if _not_there(answers, policy):
        return RequestApproval(failure.kind, f"{judge} could not be asked about it: {answers[-1].cause}")
    if away.get(judge, now) > now:
        return WaitUntil(judge, away[judge], f"waits for {judge}, to be asked about changed tests", provider=False)
    why = "main's tests contradict it" if kept else "tests of main ask for less"
    return Ask(Topic.CHANGED_TESTS, judge, f"{why}: does the issue ask for that?")
