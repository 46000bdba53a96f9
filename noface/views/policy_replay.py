"""The page of `noface policy replay`: which recorded decisions another policy would take otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from noface.core.replay import Answer, Decision
from noface.views.page import paint
from noface.views.text import clean, count, hanging

Record = dict[str, Any]


def replay_document(name: str, decisions: Sequence[Decision], *, everything: bool) -> Record:
    """Return the document of `noface policy replay --json`; `replay` holds those that differ, or `everything`."""
    return {
        "file": name,
        "decisions": len(decisions),
        "differ": sum(decision.differs for decision in decisions),
        "replay": [_record(decision) for decision in _shown(decisions, everything=everything)],
    }


def replay_page(
    name: str, decisions: Sequence[Decision], titles: Mapping[str, str], width: int, *, everything: bool
) -> list[str]:
    """Return the lines of the page; `titles` are those of the issues by id."""
    if not decisions:
        return hanging(f"Nothing recorded yet: there is no decision to ask {name} about.", width)
    lines: list[str] = []
    issue_id = None
    for decision in _shown(decisions, everything=everything):
        if decision.issue_id != issue_id:
            issue_id = decision.issue_id
            title = hanging(titles.get(issue_id, ""), width, f"{clean(issue_id)}  ", rows_max=1)
            lines += ["", *(paint(line, "title") for line in title or [clean(issue_id)])]
        lines += _decision(decision, width)
    differ = sum(decision.differs for decision in decisions)
    said = f"{count(len(decisions), 'decision')}, {differ or 'none'} would differ under {name}."
    lines = [*lines[1:], *([""] if lines else []), *hanging(said, width)]
    if differ:
        note = "Each is asked about the attempts as they were; what it would have led to, nobody knows."
        lines += [paint(line, "quiet") for line in hanging(note, width)]
    return lines


def _shown(decisions: Sequence[Decision], *, everything: bool) -> list[Decision]:
    return [decision for decision in decisions if everything or decision.differs]


def _decision(decision: Decision, width: int) -> Iterator[str]:
    when = "at first" if decision.attempt is None else f"after attempt {decision.attempt}"
    epoch = f" ({_given_back(decision.epoch)})" if decision.epoch and decision.attempt is None else ""
    outcome = f": {clean(decision.outcome)}" if decision.outcome else ""
    was, now = _answer(decision.recorded), _answer(decision.now)
    yield f"  {when}{epoch}{outcome}"
    if not decision.differs:
        yield from (paint(line, "quiet") for line in hanging(f"{was}, as before", width, "    "))
        return
    yield from (paint(line, "careful") for line in hanging(f"{was} → {now}", width, "    "))
    yield from hanging(decision.now.reason, width, "    ")


def _given_back(times: int) -> str:
    return "given back" if times == 1 else f"given back {times} times"


def _answer(answer: Answer) -> str:
    asked = "".join(f"ask: {topic.replace('_', ' ')}, then " for topic in answer.asked)
    thinking = " thinking" if answer.think else ""
    return f"{asked}{answer.kind}" + (f" {answer.model}{thinking}" if answer.model else "")


def _record(decision: Decision) -> Record:
    return {
        "issue": decision.issue_id,
        "epoch": decision.epoch,
        "attempt": decision.attempt,
        "outcome": decision.outcome or None,
        "differs": decision.differs,
        "recorded": _answer_record(decision.recorded),
        "now": _answer_record(decision.now),
    }


def _answer_record(answer: Answer) -> Record:
    return {
        "action": answer.kind,
        "model": answer.model,
        "think": answer.think,
        "asked": [topic.value for topic in answer.asked],
        "reason": answer.reason,
    }
