"""The page of `noface show ID`: the story of an issue, attempt by attempt, with what decided each."""

from collections.abc import Iterator, Sequence

from noface.views.asked_lines import asked_lines, decided_lines
from noface.views.attempt_lines import action_lines, attempt_lines
from noface.views.blocks import block_lines
from noface.views.page import paint
from noface.views.standing import Record
from noface.views.text import cells, clean, count, fit, hanging, moment, money

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
