"""The page of `noface show ID`: the story of an issue, attempt by attempt, with what decided each."""

from collections.abc import Iterator, Sequence

from noface.core.taxonomy import PASSED
from noface.views.blocks import block_lines
from noface.views.page import paint
from noface.views.rows import Record
from noface.views.text import cells, clean, clean_block, count, duration, fit, hanging, moment, money

_EVIDENCE_LINES_MAX = 12
_TESTS_MAX = 10


def story_page(document: Record, last_lines: Sequence[str], now: float, width: int) -> list[str]:
    """Return the lines of the page; `last_lines` are the newest attempt's last words, `now` epoch seconds."""
    lines = [*_head(document, now, width)]
    for attempt in document["attempts"]:
        lines += ["", *_attempt(attempt, now, width)]
    if not document["attempts"]:
        lines += ["", "No attempt yet."]
    if document["block"] is not None:
        lines += ["", paint("Blocked", "blocked"), *block_lines(document["block"], width, ("tried", "errors"))]
    if last_lines:
        number = document["attempts"][-1]["number"]
        lines += [
            "",
            paint(f"Last lines of attempt {number}", "title") + paint(f"  noface logs {document['id']}", "quiet"),
        ]
        lines += [paint(fit(f"  │ {line}", width), "quiet") for line in last_lines]
    return lines


def _head(document: Record, now: float, width: int) -> Iterator[str]:
    for line in hanging(document["title"], width, f"{document['id']}  "):
        yield paint(line, "title")
    attempts = len(document["attempts"])
    charged = document["charged_attempts"]
    tried = f"{count(attempts, 'attempt')}" + (f" ({charged} charged)" if charged != attempts else "")
    facts = [tried if attempts else "", money(document["cost_usd"]), f"priority {document['priority']}"]
    yield f"  {paint(document['status'], document['status'])} · " + " · ".join(fact for fact in facts if fact)
    reason = document["reason"]
    if document["until"] is not None and document["status"] == "waiting":
        reason = f"{reason}; until {moment(document['until'], now)}"
    yield from hanging(reason, width, "  ")
    if document["depends_on"]:
        yield from hanging(f"depends on {', '.join(document['depends_on'])}", width, "  ")
    if document["note"]:
        yield from hanging(f"your note: {document['note']}", width, "  ", "    ")
    if document["source"]:
        yield f"  {clean(document['source'])}"
    if document["merged_commit"]:
        yield f"  landed as {document['merged_commit'][:12]}: git show {document['merged_commit'][:12]}"
    elif document["branch"] and any(attempt["commit"] for attempt in document["attempts"]):
        yield f"  best work so far: git diff ...{document['branch']}"


def _attempt(attempt: Record, now: float, width: int) -> Iterator[str]:
    outcome = attempt["outcome"] or "under way"
    role = {PASSED: "good", "under way": "active", "INTERRUPTED": "careful"}.get(outcome, "bad")
    facts = [
        clean(attempt["model"]),
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
    if attempt["commit"]:
        yield f"  commit {attempt['commit'][:12]}"
    if attempt["action"] is not None:
        yield from hanging(f"{attempt['action']['kind']}: {attempt['action']['reason']}", width, "  → ")


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
