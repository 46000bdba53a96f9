"""`noface blocked`: for each issue that waits for a person what is asked, what happened, and what they can do.

Scripts read the records: add keys, never rename.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from noface.views.page import paint
from noface.views.status import Record, Row
from noface.views.text import clean, clean_block, count, fit, hanging

LISTS = ("tried", "errors", "unclear", "next_steps", "questions", "options", "commands")


def blocked_records(rows: Iterable[Row]) -> list[Record]:
    """Return the issues that wait for a person, the blocked ones before those that wait for approval."""
    return [blocked_record(row) for row in sorted(rows, key=lambda row: row["status"] == "approval")]


def blocked_record(row: Row) -> Record:
    """Return what a person needs to know of an issue that is blocked, or waits for approval (N13, L10).

    `options` and `commands` belong together, one by one. Those that wait for approval have `wants`, `attempt`, `paths`
    and what the attempt changed as well, blocked ones the report of K6.
    """
    block = json.loads(row["block"]) if row["block"] else {}
    record = {
        "id": row["id"],
        "title": row["title"],
        "status": row["status"],
        "kind": str(block.get("kind", "UNKNOWN")),
        "summary": str(block.get("summary") or row["reason"]),
        "question": str(block.get("question", "")),
        **{name: [str(item) for item in block.get(name, ())] for name in LISTS},
        "parts_failed": str(block.get("parts_failed", "")),
    }
    if row["status"] == "approval":
        return record | {
            "wants": str(block.get("wants", "")),
            "attempt": block.get("attempt"),
            "branch": row["branch"],
            "paths": [str(path) for path in block.get("paths", ())],
            "changed": [str(path) for path in block.get("changed", ())],
            "changed_files": block.get("changed_files", 0),
            "changed_lines": block.get("changed_lines", 0),
        }
    return record | {"report": block.get("report")}


_SECTIONS = (("tried", "Tried"), ("errors", "Errors"), ("unclear", "Unclear"), ("questions", "Questions"))
_CHANGED_SHOWN = 10
_PARTS_LINES_MAX = 30


def blocked_page(records: Sequence[Record], held: Sequence[Record], width: int) -> list[str]:
    """Return the lines of the page; `held` is work that passed and cannot land, with the reason."""
    if not records and not held:
        return ["Nothing is blocked."]
    blocked = [record for record in records if record["status"] != "approval"]
    waiting = [record for record in records if record["status"] == "approval"]
    lines: list[str] = []
    if blocked:
        lines.append(paint(f"{count(len(blocked), 'issue')} {'needs' if len(blocked) == 1 else 'need'} you.", "title"))
    for record in blocked:
        lines += ["", *_heading(record, width), *block_lines(record, width)]
    if waiting:
        verb = "waits" if len(waiting) == 1 else "wait"
        between = [""] if blocked else []
        lines += [*between, paint(f"{count(len(waiting), 'issue')} {verb} for your approval.", "title")]
    for record in waiting:
        lines += ["", *_heading(record, width), *block_lines(record, width)]
    if held:
        lines += [*([""] if records else []), paint(f"{count(len(held), 'issue')} cannot land.", "title")]
    for record in held:
        lines += ["", *hanging(record["title"], width, f"{clean(record['id'])}  ")]
        lines += [*hanging(record["reason"], width, "  "), "  Once that is out of the way: noface run"]
    return lines


def block_lines(record: Record, width: int, leave_out: tuple[str, ...] = ()) -> Iterator[str]:
    """Return what is told of one issue, without its name; `leave_out` are keys told elsewhere."""
    yield from hanging(record["summary"], width, "  ")
    if record["question"]:
        yield from _section("The question", hanging(record["question"], width, "    "))
    yield from _section("What it changes", _changed(record, width))
    for name, title in _SECTIONS:
        items = [] if name in leave_out else _unsaid(record, name)
        yield from _section(title, (row for item in items for row in hanging(item, width, "    • ")))
    yield from _section("What became of its parts", _parts(record, width))
    yield from _ways(record, width)
    steps = [step for step in record["next_steps"] if not any(command in step for command in record["commands"])]
    yield from _section("What to do", (row for step in steps for row in hanging(step, width, "    • ")))


def _heading(record: Record, width: int) -> Iterator[str]:
    """Return the line that names the issue."""
    for line in hanging(record["title"], width, f"{record['id']}  "):
        yield paint(line, record["status"])


def _section(title: str, lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    shown = list(lines)
    if shown:
        yield ""
        yield f"  {paint(title, 'title')}"
        yield from shown


def _ways(record: Record, width: int) -> Iterator[str]:
    """Return the options, each above the command that carries it out; commands stay whole, for copying."""
    options, commands = record["options"], record["commands"]
    if len(options) == len(commands):
        lines = [
            row
            for option, command in zip(options, commands, strict=True)
            for row in (*hanging(option, width, "    • "), f"        {clean(command)}")
        ]
        yield from _section("What you can do", lines)
        return
    yield from _section("Options", (row for option in options for row in hanging(option, width, "    • ")))
    yield from _section("Commands", [f"    {clean(command)}" for command in commands])


def _changed(record: Record, width: int) -> Iterator[str]:
    """Return what the attempt changed that waits for approval, and what it would be allowed."""
    if record.get("paths"):
        yield from hanging(f"asks to change as well: {', '.join(record['paths'])}", width, "    ")
    paths = record.get("changed", [])
    if not paths:
        return
    size = f"{count(record['changed_files'], 'file')}, {count(record['changed_lines'], 'line')}"
    yield from hanging(f"attempt {record['attempt']}: {size}", width, "    ")
    for path in paths[:_CHANGED_SHOWN]:
        yield fit(f"    • {clean(path)}", width)
    if record["changed_files"] > _CHANGED_SHOWN:
        yield f"    … and {record['changed_files'] - _CHANGED_SHOWN:,} more"


def _parts(record: Record, width: int) -> Iterator[str]:
    lines = [line for line in clean_block(record["parts_failed"]).splitlines() if line.strip()]
    for line in lines[:_PARTS_LINES_MAX]:
        yield paint(fit(f"    │ {line}", width), "quiet")
    if len(lines) > _PARTS_LINES_MAX:
        yield paint(f"    │ … {len(lines) - _PARTS_LINES_MAX} more lines: --json has all", "quiet")


def _unsaid(record: Record, name: str) -> list[str]:
    """Return the items of a section that no earlier section has told; JSON keeps them all."""
    earlier = {"errors": "tried", "questions": "unclear"}.get(name)
    return [item for item in record[name] if earlier is None or not any(item in said for said in record[earlier])]
