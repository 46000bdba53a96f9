"""Turns a place on the ladder into the action that a person reads."""

from noface.core.actions import Block, Mode, Run
from noface.core.ladder import Rung, next_higher, rung_index, rung_used, suitable
from noface.core.standing import Standing
from noface.core.streaks import Attempts, identical
from noface.core.taxonomy import Strategy


def climb(standing: Standing, how: Strategy = Strategy.FEEDBACK, why: str = "") -> Run | Block:
    """Return the next worker run: the ladder's rung, and on the same rung what `how` says. `why` begins the reason."""
    ladder, failure = standing.ladder, standing.failure
    reached = max(attempt.tier for attempt in standing.told)
    index = suitable(ladder, rung_index(standing.told, ladder), failure.kind, reached)
    if index is None:
        return Block(failure.kind, f"no rung of the ladder answers {failure.kind}")
    return _on(standing, index, how, why or str(failure.kind))


def climb_higher(standing: Standing, why: str) -> Run | None:
    """Return the run on the next rung above the last attempt's, None where there is none."""
    ladder = standing.ladder
    used = rung_used(standing.told, ladder)
    index = next_higher(ladder, used, standing.failure.kind)
    return None if index is None else _on(standing, index, Strategy.ESCALATE, why)


def on_last_rung(standing: Standing) -> bool:
    """Tell whether nothing of the ladder is left that answers such a failure, but the rung it stands on."""
    return next_higher(standing.ladder, rung_index(standing.told, standing.ladder), standing.failure.kind) is None


def same_model(attempts: Attempts, ladder: tuple[Rung, ...]) -> str:
    """Return the last attempt's model, or its rung's where issue or configuration no longer name that model."""
    last = attempts[-1].model
    return last if any(rung.model == last for rung in ladder) else ladder[rung_index(attempts, ladder)].model


def _on(standing: Standing, index: int, how: Strategy, why: str) -> Run:
    rung, last = standing.ladder[index], standing.last
    stuck = identical(standing.charged) > 1
    cause = f"no progress: {why}" if stuck else why
    if rung.think and not last.think:
        return Run(Mode.THINK, rung.model, f"{cause}: {rung.model} thinks longer, with all that was learnt", think=True)
    if rung.model != last.model and rung.tier >= last.tier and not _stood_in(standing, rung):
        return Run(Mode.ESCALATE, rung.model, f"{cause}: next rung, {rung.model}", think=rung.think)
    match how:
        case Strategy.CONTEXT:
            return Run(Mode.CONTEXT, rung.model, f"{why}: once more, with what noface knows", think=rung.think)
        case Strategy.REDUCE:
            return Run(Mode.REDUCE, rung.model, f"{why}: a smaller step", think=rung.think)
        case Strategy.THINK:
            return Run(Mode.THINK, rung.model, f"{why}: {rung.model} thinks longer", think=True)
        case _:
            return Run(Mode.FEEDBACK, rung.model, f"{why}: once more, with feedback", think=rung.think)


def _stood_in(standing: Standing, rung: Rung) -> bool:
    """Tell whether the last attempt's model only stood in for the rung's: going back to it is no escalation."""
    return standing.last.model in standing.policy.stand_ins(rung.model) and all(
        other.model != standing.last.model for other in standing.ladder
    )
