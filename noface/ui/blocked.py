"""`noface blocked`: for each issue that waits for a person what is asked, what happened, and what they can do.

Scripts read the document: add keys, never rename.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from noface.store.records import IssueRow
from noface.ui.page import paint, quoted
from noface.ui.schema import Like, Words
from noface.ui.text import clean, count, fit, hanging

_KIND = "noface.model.taxonomy.FailureKind"

_LISTS = ("tried", "errors", "unclear", "next_steps", "questions", "options", "commands")


class Tried(NamedTuple):
    """Something that was tried."""

    strategy: Annotated[str, "What."]
    result: Annotated[str, "What came of it."]


class Resources(NamedTuple):
    """What it took."""

    attempts_by_model: Annotated[dict[str, Annotated[int, "How many."]], "How many attempts each model made."]
    questions_by_model: Annotated[dict[str, Annotated[int, "How many."]], "How many questions each model was asked."]
    cost_usd: Annotated[float | None, "Dollars; null where nobody said."]
    tokens_in: Annotated[int | None, "Tokens read; null where nobody said."]
    tokens_out: Annotated[int | None, "Tokens written; null where nobody said."]


class GivenUp(NamedTuple):
    """What recovery did before it gave up; null where it never began."""

    id: Annotated[str, "The issue's id."]
    title: Annotated[str, "The issue's title."]
    status: Annotated[str, Words(("failed",)), "What became of it."]
    failure_kind: Annotated[str, Words(_KIND), "What it ended with."]
    failure_reason: Annotated[str, "Why noface gave up."]
    attempts_made: Annotated[int, "How many attempts were made."]
    attempts_charged: Annotated[int, "How many of them count against its limit."]
    last_error: Annotated[str | None, "What went wrong last."]
    recovery_attempted: Annotated[tuple[Tried, ...], "What was tried, oldest first."]
    recommendation: Annotated[str, "What a person could do."]
    resources: Resources


@dataclass(frozen=True, slots=True, kw_only=True)
class _Common:
    id: Annotated[str, "Its id."]
    title: Annotated[str, "Its title."]
    status: str
    kind: str
    summary: Annotated[str, "What happened, in a sentence or two."]
    question: Annotated[str, "What a person is asked."]
    tried: Annotated[tuple[str, ...], "What was tried, oldest first."]
    errors: Annotated[tuple[str, ...], "What went wrong, each thing once, the newest last."]
    unclear: Annotated[tuple[str, ...], "What workers asked or missed."]
    next_steps: Annotated[tuple[str, ...], "What to do first."]
    questions: Annotated[tuple[str, ...], "What workers asked."]
    options: Annotated[tuple[str, ...], "What a person can do."]
    commands: Annotated[tuple[str, ...], "The command for each of `options`."]
    parts_failed: Annotated[str, "Where it was divided: what became of the parts that could not be done. Else empty."]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockedIssue(_Common):
    """An issue that is blocked."""

    status: Annotated[str, Words(("blocked",)), "Where it stands."]
    kind: Annotated[str, Words(_KIND), "What its last attempt ended with."]
    report: Annotated[Mapping[str, Any] | None, Like(("noface.ui.blocked.GivenUp",))]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest(_Common):
    """An issue that waits for approval."""

    status: Annotated[str, Words(("approval",)), "Where it stands."]
    kind: Annotated[str, Words(_KIND, ("PASSED",)), "What its last attempt ended with."]
    wants: Annotated[str, Words("noface.model.actions.ApprovalKind"), "What is to be approved."]
    attempt: Annotated[int, "The attempt it is about; 0 where there is none."]
    branch: Annotated[str | None, "The branch with its work."]
    paths: Annotated[tuple[str, ...], "The paths that it would be allowed to change as well."]
    changed: Annotated[tuple[str, ...], "The paths that the attempt changed, the first hundred."]
    changed_files: Annotated[int, "How many files it changed."]
    changed_lines: Annotated[int, "How many lines it added and deleted."]


Waiting = BlockedIssue | ApprovalRequest
"""An issue that needs a person."""


class Held(NamedTuple):
    """An issue."""

    id: Annotated[str, "Its id."]
    title: Annotated[str, "Its title."]
    reason: Annotated[str, "What is in the way, and what to do about it."]


class BlockedDocument(NamedTuple):
    """The issues that need a person, the blocked ones before those that wait for approval."""

    blocked: Annotated[tuple[Annotated[Waiting, "An issue that needs a person."], ...], "The issues."]
    held: Annotated[
        tuple[Held, ...], "Issues whose work passed and cannot land, since something of yours is in the way."
    ]


def blocked_document(waiting: Iterable[IssueRow], held: Iterable[IssueRow]) -> BlockedDocument:
    """Return the document of `noface blocked`; `held` is work that passed and cannot land."""
    ordered = sorted(waiting, key=lambda row: row.status == "approval")
    return BlockedDocument(
        tuple(waiting_of(row) for row in ordered), tuple(Held(row.id, row.title, row.reason) for row in held)
    )


def waiting_of(row: IssueRow) -> Waiting:
    """Return what a person needs to know of an issue that is blocked, or waits for approval (N13, L10)."""
    block = row.block or {}
    common: dict[str, Any] = {
        "id": row.id,
        "title": row.title,
        "status": row.status,
        "kind": str(block.get("kind", "UNKNOWN")),
        "summary": str(block.get("summary") or row.reason),
        "question": str(block.get("question", "")),
        **{name: _texts(block, name) for name in _LISTS},
        "parts_failed": str(block.get("parts_failed", "")),
    }
    if row.status != "approval":
        return BlockedIssue(**common, report=block.get("report"))
    return ApprovalRequest(
        **common,
        wants=str(block.get("wants", "")),
        attempt=block.get("attempt", 0),
        branch=row.branch,
        paths=_texts(block, "paths"),
        changed=_texts(block, "changed"),
        changed_files=block.get("changed_files", 0),
        changed_lines=block.get("changed_lines", 0),
    )


def _texts(block: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(str(item) for item in block.get(name, ()))


_SECTIONS = (("tried", "Tried"), ("errors", "Errors"), ("unclear", "Unclear"), ("questions", "Questions"))
_EARLIER = {"errors": "tried", "questions": "unclear"}
"""The section that may have told already what another one holds."""
_CHANGED_SHOWN = 10
_PARTS_LINES_MAX = 30


def blocked_page(document: BlockedDocument, width: int) -> list[str]:
    """Return the lines of the page."""
    if not document.blocked and not document.held:
        return ["Nothing is blocked."]
    blocked = [record for record in document.blocked if isinstance(record, BlockedIssue)]
    waiting = [record for record in document.blocked if isinstance(record, ApprovalRequest)]
    lines: list[str] = []
    if blocked:
        lines.append(paint(f"{count(len(blocked), 'issue')} {'needs' if len(blocked) == 1 else 'need'} you.", "title"))
    for record in blocked:
        lines += ["", *_heading(record, width), *block_lines(record, width)]
    if waiting:
        verb = "waits" if len(waiting) == 1 else "wait"
        between = [""] if blocked else []
        lines += [*between, paint(f"{count(len(waiting), 'issue')} {verb} for your approval.", "title")]
    for approval in waiting:
        lines += ["", *_heading(approval, width), *block_lines(approval, width)]
    if document.held:
        heading = paint(f"{count(len(document.held), 'issue')} cannot land.", "title")
        lines += [*([""] if document.blocked else []), heading]
    for held in document.held:
        lines += ["", *hanging(held.title, width, f"{clean(held.id)}  ")]
        lines += [*hanging(held.reason, width, "  "), "  Once that is out of the way: noface run"]
    return lines


def block_lines(record: Waiting, width: int, leave_out: tuple[str, ...] = ()) -> Iterator[str]:
    """Return what is told of one issue, without its name; `leave_out` are keys told elsewhere."""
    yield from hanging(record.summary, width, "  ")
    if record.question:
        yield from _section("The question", hanging(record.question, width, "    "))
    yield from _section("What it changes", _changed(record, width))
    for name, title in _SECTIONS:
        items = [] if name in leave_out else _unsaid(record, name)
        yield from _section(title, (row for item in items for row in hanging(item, width, "    • ")))
    yield from _section("What became of its parts", quoted(record.parts_failed, width, "    ", _PARTS_LINES_MAX))
    yield from _ways(record, width)
    steps = [step for step in record.next_steps if not any(command in step for command in record.commands)]
    yield from _section("What to do", (row for step in steps for row in hanging(step, width, "    • ")))


def _heading(record: Waiting, width: int) -> Iterator[str]:
    """Return the line that names the issue."""
    for line in hanging(record.title, width, f"{record.id}  "):
        yield paint(line, record.status)


def _section(title: str, lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    shown = list(lines)
    if shown:
        yield ""
        yield f"  {paint(title, 'title')}"
        yield from shown


def _ways(record: Waiting, width: int) -> Iterator[str]:
    """Return the options, each above the command that carries it out; commands stay whole, for copying."""
    options, commands = record.options, record.commands
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


def _changed(record: Waiting, width: int) -> Iterator[str]:
    """Return what the attempt changed that waits for approval, and what it would be allowed."""
    if not isinstance(record, ApprovalRequest):
        return
    if record.paths:
        yield from hanging(f"asks to change as well: {', '.join(record.paths)}", width, "    ")
    paths = record.changed
    if not paths:
        return
    size = f"{count(record.changed_files, 'file')}, {count(record.changed_lines, 'line')}"
    yield from hanging(f"attempt {record.attempt}: {size}", width, "    ")
    for path in paths[:_CHANGED_SHOWN]:
        yield fit(f"    • {clean(path)}", width)
    if record.changed_files > _CHANGED_SHOWN:
        yield f"    … and {record.changed_files - _CHANGED_SHOWN:,} more"


def _unsaid(record: Waiting, name: str) -> list[str]:
    """Return the items of a section that no earlier section has told; JSON keeps them all."""
    items = {"tried": record.tried, "errors": record.errors, "unclear": record.unclear, "questions": record.questions}
    earlier = items[_EARLIER[name]] if name in _EARLIER else ()
    return [item for item in items[name] if not any(item in other for other in earlier)]
