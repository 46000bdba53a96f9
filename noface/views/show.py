"""`noface show ID`: the story of an issue, attempt by attempt, with what decided each.

Scripts read the document: add keys, never rename.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from noface.core.taxonomy import PASSED, FailureKind
from noface.views.blocked import block_lines, blocked_record
from noface.views.glance import Rows
from noface.views.page import paint
from noface.views.status import Record, Row, effective_status, progress, standings
from noface.views.text import cells, clean, clean_block, count, duration, fit, hanging, moment, money

_FOR_A_PERSON = ("blocked", "approval")
_REPORT_LISTS = ("risks", "gaps", "questions", "needs")


def asked_rows(rows: Rows, issue_id: str) -> list[Row]:
    """Return what was asked about an issue between its attempts, oldest first; open questions too."""
    return rows(
        "SELECT after, topic, model, asked_at, answered_at, outcome, answer, cost_usd FROM advice"
        " WHERE issue_id = ? ORDER BY id",
        issue_id,
    )


def decided_rows(rows: Rows, issue_id: str) -> list[Row]:
    """Return what people decided on an issue, oldest first."""
    return rows("SELECT attempt, verdict, note, at FROM approvals WHERE issue_id = ? ORDER BY id", issue_id)


def show_document(
    row: Row, attempts: Sequence[Row], issues: Sequence[Row], asked: Sequence[Row] = (), decided: Sequence[Row] = ()
) -> Record:
    """Return the issue, and all its attempts, oldest first. `issues` are the rows of the whole backlog."""
    statuses = standings(issues)
    status, reason = effective_status(row, statuses)
    records = [attempt_record(attempt) for attempt in attempts]
    parts = [_part(each, *effective_status(each, statuses)) for each in issues if each["parent"] == row["id"]]
    return {
        "id": row["id"],
        "title": row["title"],
        "status": status,
        "reason": reason,
        "until": row["until"],
        "satisfied": bool(row["satisfied"]),
        "priority": row["priority"],
        "source": row["source"],
        "depends_on": json.loads(row["depends_on"]),
        "needs": json.loads(row["needs"]),
        "parent": row["parent"],
        "parts": parts,
        "progress": progress(parts),
        "granted_paths": json.loads(row["granted_paths"]),
        "wanted_model": row["wanted_model"],
        "wanted_attempts": row["wanted_attempts"],
        "model": row["model"],
        "branch": row["branch"],
        "merged_commit": row["merged_commit"],
        "cost_usd": row["cost_usd"],
        "charged_attempts": row["attempts"],
        "note": row["note"],
        "block": blocked_record(row) if row["block"] and row["status"] in _FOR_A_PERSON else None,
        "attempts": records,
        "asked": [_asked(each) for each in asked],
        "approvals": [dict(each) for each in decided],
        "gaps": _gaps(records),
    }


def attempt_record(row: Row) -> Record:
    """Return one attempt; outcome and seconds are None while it is under way."""
    finished = row["finished_at"]
    return {
        "number": row["number"],
        "model": row["model"],
        "think": bool(row["think"]),
        "outcome": row["outcome"],
        "failure": _failure(json.loads(row["failure"])) if row["failure"] else None,
        "commit": row["commit_id"],
        "started_at": row["started_at"],
        "seconds": None if finished is None else round(finished - row["started_at"], 3),
        "cost_usd": row["cost_usd"],
        "tokens_in": row["tokens_in"],
        "tokens_out": row["tokens_out"],
        "session_id": row["session_id"],
        "action": json.loads(row["action"]) if row["action"] else None,
        "charged": bool(row["charged"]),
        "gates": json.loads(row["gates"]),
        "notes": json.loads(row["notes"]),
        "changed": json.loads(row["changed"]),
        "lines": row["lines"],
        "report": _report(json.loads(row["report"])) if row["report"] else None,
        "partial": json.loads(row["partial"]) if row["partial"] else None,
        "task_failure": _task_failure(row) if row["failure"] else None,
    }


def _task_failure(row: Row) -> Record:
    """Return the failure with all that is known of it: reason, details, what the steps left, metrics (P2, P10)."""
    from noface.core.codec import decode
    from noface.core.failure import Failure
    from noface.core.task_failure import task_failure

    metrics = {name: row[name] for name in ("cost_usd", "tokens_in", "tokens_out") if row[name] is not None}
    if row["finished_at"] is not None:
        metrics["seconds"] = round(row["finished_at"] - row["started_at"], 3)
    partial = json.loads(row["partial"]) if row["partial"] else None
    return task_failure(decode(Failure, json.loads(row["failure"])), partial=partial, metrics=metrics)


def _part(row: Row, status: str, reason: str) -> Record:
    satisfied = bool(row["satisfied"])
    return {"id": row["id"], "title": row["title"], "status": status, "reason": reason, "satisfied": satisfied}


def _asked(row: Row) -> Record:
    answer: dict[str, Any] = json.loads(row["answer"]) if row["answer"] else {}
    return {
        "after": row["after"],
        "topic": row["topic"],
        "model": row["model"],
        "asked_at": row["asked_at"],
        "answered_at": row["answered_at"],
        "outcome": row["outcome"],
        "cause": str(answer.get("cause", "")),
        "recoverable": str(answer.get("recoverable", "")),
        "strategy": str(answer.get("strategy", "")),
        "text": str(answer.get("text", "")),
        "paths": list(answer.get("paths", ())),
        "needs": list(answer.get("needs", ())),
        "cost_usd": row["cost_usd"],
    }


def _report(report: Record) -> Record:
    """Return what the worker says of its work itself."""
    return {
        "status": report.get("status", ""),
        "summary": report.get("summary", ""),
        "confidence": report.get("confidence"),
        "blocked_reason": report.get("blocked_reason"),
        **{name: list(report.get(name, ())) for name in _REPORT_LISTS},
    }


def _gaps(attempts: Sequence[Record]) -> list[Record]:
    """Return what workers found missing (L2), each gap once, with the first attempt that reported it."""
    found: dict[str, Record] = {}
    for attempt in attempts:
        for gap in attempt["report"]["gaps"] if attempt["report"] is not None else ():
            found.setdefault(str(gap), {"attempt": attempt["number"], "gap": str(gap)})
    return list(found.values())


def _failure(failure: Record) -> Record:
    return {
        "kind": failure["kind"],
        "category": FailureKind(failure["kind"]).category.value,
        "message": failure.get("message", ""),
        "location": failure.get("location"),
        "rule": failure.get("rule", ""),
        "evidence": list(failure.get("evidence", ())),
        "failing_tests": list(failure.get("failing_tests", ())),
        "gate": failure.get("gate"),
        "questions": list(failure.get("questions", ())),
    }


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
        yield from _failure_lines(attempt["failure"], width)
    if attempt["gates"]:
        shown = ", ".join(_gate(gate) for gate in attempt["gates"])
        yield from hanging(shown, width, "  gates: ", "    ")
    for note in attempt["notes"]:
        yield from hanging(note, width, "  note: ", "    ")
    yield from _report_lines(attempt, width)
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


def _report_lines(attempt: Record, width: int) -> Iterator[str]:
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


def _failure_lines(failure: Record, width: int) -> Iterator[str]:
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


_STATUS_CELLS = 8
_PARTS_MAX = 30
_WAITS = {"blocked": "Blocked", "approval": "Waits for your approval"}


def story_page(document: Record, last_lines: Sequence[str], now: float, width: int) -> list[str]:
    """Return the lines of the page; `last_lines` are the newest attempt's last words, `now` epoch seconds."""
    lines = [*_head(document, now, width)]
    for attempt in document["attempts"]:
        lines += ["", *attempt_lines(attempt, now, width)]
        for asked in document["asked"]:
            if asked["after"] == attempt["number"]:
                lines += asked_lines(asked, now, width)
        lines += action_lines(attempt, width)
        for decided in document["approvals"]:
            if decided["attempt"] == attempt["number"]:
                lines += decided_lines(decided, now, width)
    if not document["attempts"]:
        lines += ["", "No attempt yet."]
    block = document["block"]
    if block is not None:
        lines += ["", paint(_WAITS[block["status"]], block["status"])]
        lines += block_lines(block, width, ("tried", "errors"))
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
    yield from _relations(document, width)
    yield from _agreed(document, width)
    if document["source"]:
        yield f"  {clean(document['source'])}"
    if document["merged_commit"]:
        yield f"  landed as {document['merged_commit'][:12]}: git show {document['merged_commit'][:12]}"
    elif document["branch"] and any(attempt["commit"] for attempt in document["attempts"]):
        yield f"  best work so far: git diff ...{document['branch']}"


def _relations(document: Record, width: int) -> Iterator[str]:
    """Return what the issue is a part of, waits for, or was divided into."""
    if document["parent"] is not None:
        yield f"  part of {clean(document['parent'])}: noface show {clean(document['parent'])}"
    if document["depends_on"]:
        yield from hanging(f"depends on {', '.join(document['depends_on'])}", width, "  ")
    if document["needs"]:
        yield from hanging(f"found to need {', '.join(document['needs'])}", width, "  ")
    if document["parts"]:
        yield f"  {document['progress']}"
    id_cells = max((cells(part["id"]) for part in document["parts"]), default=0)
    for part in document["parts"][:_PARTS_MAX]:
        status = paint(f"{part['status']:<{_STATUS_CELLS}}", part["status"])
        name = part["id"] + " " * (id_cells - cells(part["id"]))
        yield f"    {name}  {status}  {fit(clean(part['title']), max(width - id_cells - _STATUS_CELLS - 8, 16))}"


def _agreed(document: Record, width: int) -> Iterator[str]:
    """Return what a person said: a note, wider paths, another model, more attempts."""
    if document["note"]:
        yield from hanging(f"your note: {document['note']}", width, "  ", "    ")
    if document["granted_paths"]:
        yield from hanging(f"you allowed it to change {', '.join(document['granted_paths'])}", width, "  ", "    ")
    model, attempts = document["wanted_model"], document["wanted_attempts"]
    wanted = [f"to begin with {model}" if model else "", f"up to {count(attempts, 'attempt')}" if attempts else ""]
    if any(wanted):
        yield from hanging(f"you want it {', '.join(text for text in wanted if text)}", width, "  ", "    ")
