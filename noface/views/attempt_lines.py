"""The lines of one attempt in `noface show`: what came of it, what decided, what the worker says of it itself."""

from collections.abc import Iterator

from noface.core.taxonomy import PASSED
from noface.views.page import paint
from noface.views.standing import Record
from noface.views.text import cells, clean, clean_block, duration, fit, hanging, moment, money

_EVIDENCE_LINES_MAX = 12
_TESTS_MAX = 10
_SAID_ROWS_MAX = 4
_ITEMS_MAX = 10


def attempt_lines(attempt: Record, now: float, width: int) -> Iterator[str]:
    """Return the lines of an attempt, up to the action that followed."""
    outcome = attempt["outcome"] or "under way"
    role = {PASSED: "good", "under way": "active", "INTERRUPTED": "careful"}.get(outcome, "bad")
    facts = [
        clean(attempt["model"]),
        "thinking" if attempt["think"] else "",
        moment(attempt["started_at"], now),
        "" if attempt["seconds"] is None else duration(attempt["seconds"]),
        money(attempt["cost_usd"]),
        "" if attempt["charged"] or attempt["outcome"] is None else "not charged",
    ]
    title, rest = f"Attempt {attempt['number']}", " · ".join(fact for fact in facts if fact)
    room = max(width - cells(title) - cells(outcome) - 4, 10)
    yield f"{paint(title, 'title')}  {paint(outcome, role)}  {fit(rest, room)}"
    if attempt["failure"] is not None:
        yield from _failure(attempt["failure"], width)
    if attempt["gates"]:
        shown = ", ".join(_gate(gate) for gate in attempt["gates"])
        yield from hanging(shown, width, "  gates: ", "    ")
    for note in attempt["notes"]:
        yield from hanging(note, width, "  note: ", "    ")
    yield from _report(attempt, width)
    used = _used(attempt)
    if used:
        yield paint(fit(f"  {used}", width), "quiet")
    if attempt["commit"]:
        yield f"  commit {attempt['commit'][:12]}"


def action_lines(attempt: Record, width: int) -> Iterator[str]:
    """Return what noface decided after an attempt."""
    if attempt["action"] is not None:
        yield from hanging(f"{attempt['action']['kind']}: {attempt['action']['reason']}", width, "  → ")


def _used(attempt: Record) -> str:
    """Return what the agent told of its tokens, and what it calls its session."""
    counts = [(attempt["tokens_in"], "read"), (attempt["tokens_out"], "written")]
    told = ", ".join(f"{number:,} {what}" for number, what in counts if number is not None)
    session = clean(attempt["session_id"] or "")
    return " · ".join(
        part for part in (f"tokens: {told}" if told else "", f"session {session}" if session else "") if part
    )


def _report(attempt: Record, width: int) -> Iterator[str]:
    report = attempt["report"]
    asked = attempt["failure"]["questions"] if attempt["failure"] is not None else []
    if report is not None:
        reason = f", {str(report['blocked_reason']).replace('_', ' ')}" if report["blocked_reason"] else ""
        sure = f", confidence {report['confidence']:.2g}" if report["confidence"] is not None else ""
        summary = f": {report['summary']}" if report["summary"] else ""
        said = f"{report['status']}{reason}{sure}{summary}"
        yield from hanging(said, width, "  the worker reports: ", "    ", rows_max=_SAID_ROWS_MAX)
        asked = list(dict.fromkeys([*asked, *report["questions"]]))
        for name, title in (("risks", "risk"), ("gaps", "gap")):
            yield from _items(report[name], title, width)
    yield from _items(asked, "it asks", width)


def _items(items: list[str], title: str, width: int) -> Iterator[str]:
    for item in items[:_ITEMS_MAX]:
        lines = hanging(item, width, f"  {title}: ", "    ", rows_max=_SAID_ROWS_MAX)
        yield from (paint(line, "careful") for line in lines)
    if len(items) > _ITEMS_MAX:
        yield f"  … {len(items) - _ITEMS_MAX} more: --json has all"


def _failure(failure: Record, width: int) -> Iterator[str]:
    yield from hanging(failure["message"] or failure["kind"], width, "  ", rows_max=6)
    if failure["location"]:
        yield f"  at {clean(failure['location'])}"
    tests = failure["failing_tests"]
    for test in tests[:_TESTS_MAX]:
        yield f"  failing: {clean(test)}"
    if len(tests) > _TESTS_MAX:
        yield f"  … and {len(tests) - _TESTS_MAX} more failing"
    where = f" in gate {failure['gate']}" if failure["gate"] else ""
    decided = f"{failure['category'].replace('_', ' ')}, by the rule {failure['rule']}{where}"
    yield from (paint(line, "quiet") for line in hanging(decided, width, "  ", "    "))
    evidence = [line for text in failure["evidence"] for line in clean_block(text).splitlines() if line.strip()]
    for line in evidence[:_EVIDENCE_LINES_MAX]:
        yield paint(fit(f"  │ {line}", width), "quiet")
    if len(evidence) > _EVIDENCE_LINES_MAX:
        yield paint(f"  │ … {len(evidence) - _EVIDENCE_LINES_MAX} more lines: --json has all", "quiet")


def _gate(gate: Record) -> str:
    verdict = "passed" if gate["passed"] else str(gate.get("kind") or "failed")
    if not gate["passed"] and not gate.get("hard", True):
        verdict += " (soft)"
    if gate.get("flaky"):
        verdict += " when run again: flaky"
    took = "remembered" if gate.get("memo") else duration(gate.get("seconds", 0.0))
    return f"{gate['name']} {verdict} ({took})"
