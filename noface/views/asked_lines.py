"""The lines between two attempts in `noface show`: what was asked and answered, and what a person decided."""

from collections.abc import Iterator

from noface.views.page import paint
from noface.views.standing import Record
from noface.views.text import clean, clean_block, hanging, moment, money

_ANSWER_ROWS_MAX = 8
_TOPICS = {
    "diagnosis": "a diagnosis",
    "reflection": "why it failed",
    "clarification": "a clarification",
    "boundary": "a way within the limits",
    "merge_conflict": "a way through the conflict",
    "dependency": "the state of its dependencies",
    "architect": "another design",
    "breakdown": "a breakdown",
}
_OUTCOMES = {
    None: "it is being asked",
    "UNUSABLE": "its answer was of no use",
    "UNAVAILABLE": "it could not be asked",
    "PARTS_FAILED": "not all of the parts could be done",
    "INTERRUPTED": "it was cut short, and is asked again",
}


def asked_lines(asked: Record, now: float, width: int) -> Iterator[str]:
    """Return a question with its answer."""
    topic = _TOPICS.get(asked["topic"], clean(asked["topic"]))
    who = f"Asked {clean(asked['model'])} for {topic}" if asked["model"] else f"Looked for {topic}"
    facts = " · ".join(fact for fact in (moment(asked["asked_at"], now), money(asked["cost_usd"])) if fact)
    yield f"  {paint(who, 'active')}  {paint(facts, 'quiet')}"
    outcome = _OUTCOMES.get(asked["outcome"], "")
    if outcome:
        yield f"    {outcome}"
    decided = asked["strategy"].replace("_", " ")
    if decided:
        may = f" (recoverable: {asked['recoverable']})" if asked["recoverable"] else ""
        yield from hanging(f"{decided}{may}", width, "    → ")
    yield from _quoted(f"{asked['cause']}\n{asked['text']}", width)
    for name, title in (("paths", "paths"), ("needs", "needs")):
        if asked[name]:
            yield from hanging(", ".join(map(str, asked[name])), width, f"    {title}: ", "      ")


def decided_lines(decided: Record, now: float, width: int) -> Iterator[str]:
    """Return a person's decision."""
    role = "good" if decided["verdict"] == "approved" else "bad"
    said = paint(f"You {decided['verdict']} it", role)
    yield f"  {said}  {paint(moment(decided['at'], now), 'quiet')}"
    yield from _quoted(decided["note"], width)


def _quoted(text: str, width: int) -> Iterator[str]:
    """Return what somebody said, line by line behind a bar."""
    said = [line for line in clean_block(text).splitlines() if line.strip()]
    rows = [row for line in said for row in hanging(line, width, "    │ ", "    │ ", rows_max=_ANSWER_ROWS_MAX)]
    yield from (paint(row, "quiet") for row in rows[:_ANSWER_ROWS_MAX])
    if len(rows) > _ANSWER_ROWS_MAX:
        yield paint(f"    │ … {len(rows) - _ANSWER_ROWS_MAX} more lines: --json has all", "quiet")
