"""Rule 13 of `policy`: diagnose what nobody knows, or what comes again and again, and follow what that says (S1-S3)."""

from noface.core.actions import Action, Ask, Block, Mode, Run, Skip, WaitUntil
from noface.core.climbing import climb, climb_higher
from noface.core.diagnosis import KnownCause, known_cause
from noface.core.history import Advice, AdviceOutcome, Topic
from noface.core.standing import Standing
from noface.core.streaks import same_failure, sign
from noface.core.taxonomy import Strategy

_BRIEF_MAX = 200


def diagnosed(standing: Standing, now: float) -> Action | None:
    """Return what a diagnosis leads to: a question, or what its answer asks for; None where there is no need of one."""
    policy, failure = standing.policy, standing.failure
    unknown = policy.strategy(failure.kind) is Strategy.DIAGNOSE
    repeated = same_failure(standing.charged) >= policy.diagnose_after
    advice = standing.advised(Topic.DIAGNOSIS)
    if advice is not None:
        followed = _follow(standing, advice, now)
        if followed is not None:
            return followed
    if not unknown and not (repeated and policy.roles.diagnoser is not None):
        return None
    known = known_cause(failure)
    if known is not None and not _known_followed(standing):
        return _follow_known(standing, known, now)
    answer = standing.answer(Topic.DIAGNOSIS)
    due = answer is None and (unknown or not _diagnosed_before(standing))
    if due and policy.roles.diagnoser is not None:
        why = "nobody knows yet why it failed" if unknown else "the same failure again"
        return Ask(Topic.DIAGNOSIS, policy.roles.diagnoser, f"{failure.kind}: {why}")
    helpless = answer is None or answer.outcome is not AdviceOutcome.ADVISED
    if unknown and helpless and standing.repeated(failure.kind) == 1:
        return climb(standing, Strategy.CONTEXT)
    return None


def _follow_known(standing: Standing, known: KnownCause, now: float) -> Action:
    if known.strategy == "escalate":
        return Block(standing.failure.kind, known.cause)
    action = climb(standing, Strategy.CONTEXT, f"known cause: {known.cause}")
    return _later(standing, action, known.delay_s, now, known.cause) if known.strategy == "retry_same" else action


def _known_followed(standing: Standing) -> bool:
    """Tell whether a worker has been told already what is known of this very failure."""
    return any(
        attempt.answer == Mode.CONTEXT and sign(attempt) == sign(standing.last) for attempt in standing.charged[:-1]
    )


def _diagnosed_before(standing: Standing) -> bool:
    """Tell whether somebody has looked at this very failure: what they said has not helped, and would be said again."""
    numbers = {advice.after for advice in standing.history.asked if advice.topic is Topic.DIAGNOSIS}
    return any(attempt.number in numbers and sign(attempt) == sign(standing.last) for attempt in standing.charged)


def _follow(standing: Standing, advice: Advice, now: float) -> Action | None:
    """Return what a diagnosis asks for; None where it was tried before with the same arguments, or asks for nothing."""
    failure = standing.failure
    earlier = [a for a in standing.history.asked if a.topic is Topic.DIAGNOSIS and a.after < advice.after]
    if any(old.argument == advice.argument for old in earlier):
        return None
    if advice.recoverable == "no" and advice.strategy != "skip_and_continue":
        return Block(failure.kind, f"diagnosed as not recoverable: {advice.cause}")
    match advice.strategy:
        case "alternative_approach" | "retry_modified":
            return climb(standing, why=f"diagnosis: {brief(advice)}")
        case "skip_and_continue" if standing.policy.allow_skip:
            return Skip(f"diagnosis: {brief(advice)}")
        case "skip_and_continue":
            return Block(failure.kind, f"the diagnosis advises to skip it: {brief(advice)}")
        case "escalate":
            higher = climb_higher(standing, f"diagnosis: {advice.cause}")
            return higher or Block(failure.kind, f"the diagnosis asks for a person: {advice.cause}")
        case "retry_same":
            retry = climb(standing, why=f"diagnosis: {advice.cause}")
            return _later(standing, retry, advice.delay_s, now, advice.cause)
        case _:
            return None


def _later(standing: Standing, retry: Run | Block, delay_s: float | None, now: float, cause: str) -> Action:
    """Return a worker run, or the wait before it."""
    until = standing.last.finished_at + (delay_s or 0.0)
    if until <= now or isinstance(retry, Block):
        return retry
    return WaitUntil(retry.model, until, f"diagnosis: wait first ({cause})", retry.think, provider=False)


def brief(advice: Advice) -> str:
    """Return what was answered, on one line of a table."""
    text = " ".join((advice.text or advice.cause).split())
    return text if len(text) <= _BRIEF_MAX else f"{text[: _BRIEF_MAX - 1]}…"
