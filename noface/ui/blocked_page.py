"""The pages of `noface blocked`: the overview, where each issue takes a line, and the page of one issue."""

from collections.abc import Iterator, Sequence

from noface.model.request import Failing, PersonRequest
from noface.store.records import IssueRow
from noface.ui.blocked import BlockedDocument, BlockedIssue, Task
from noface.ui.page import evidence_lines, paint, painted, quoted
from noface.ui.status import edited_since
from noface.ui.text import cells, clean, count, fit, hanging, pad

_ID_CELLS_MAX = 16
_TITLE_CELLS_MAX = 30
_LINES_MAX = 12
"""Issues of one heading that get a line each; of more the ids are told."""


def blocked_page(document: BlockedDocument, width: int, edited: Sequence[IssueRow] = ()) -> list[str]:
    """Return the overview, or the page of a single issue; `edited` were blocked before a person edited them."""
    issues = document.blocked
    if not issues:
        since = [line for row in edited for line in hanging(f"{clean(row.id)}  {edited_since(row)}", width, "  ")]
        return ["Nothing is blocked.", *(since and [*since, "", "Next: noface run"])]
    if len(issues) == 1:
        return issue_page(issues[0], width)
    id_cells = min(max(cells(clean(each.id)) for each in issues), _ID_CELLS_MAX)
    first = clean(document.tasks[0].ids[0])
    foot = f"One of them in full: noface blocked {first} · all again: noface retry --all"
    names = {"blocked": "blocked", "approval": "for approval", "held": "cannot land"}
    counts = {what: sum(issue.status == status for issue in document.blocked) for status, what in names.items()}
    numbers = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
    total = len(document.blocked)
    lines = painted(hanging(f"{count(total, 'issue')} need{'s' if total == 1 else ''} you: {numbers}", width), "title")
    for task in document.tasks:
        lines += _task_lines(task, document, id_cells, width)
    return [*lines, "", *painted(hanging(foot, width), "quiet")]


def issues_page(document: BlockedDocument, width: int) -> list[str]:
    pages = [issue_page(each, width) for each in document.blocked]
    return [line for number, each in enumerate(pages) for line in (*([""] * bool(number)), *each)]


def _task_lines(task: Task, document: BlockedDocument, id_cells: int, width: int) -> list[str]:
    issues = {issue.id: issue for issue in document.blocked}
    heading = f"{task.task}: {count(len(task.ids), 'issue')}"
    lines = painted(hanging(heading, width, "", "  "), "title")
    same = {issues[name].detail for name in task.ids}
    of_held = issues[task.ids[0]].status == "held"  # its reason names places, and is long
    shared = len(same) == 1 and (len(task.ids) > 1 or of_held)
    if shared:
        lines += painted(hanging(same.pop(), width, "  ", rows_max=2), "quiet")
    if len(task.ids) > _LINES_MAX:
        return [*lines, *hanging(", ".join(task.ids), width, "  ")]
    for name in task.ids:
        issue = issues[name]
        lines.append(_issue_line(name, issue.title, "" if shared else issue.detail, id_cells, width))
    return lines


def _issue_line(name: str, title: str, detail: str, id_cells: int, width: int) -> str:
    start = f"  {pad(clean(name), id_cells)}  "
    room = max(width - cells(start), 16)
    title = clean(title) or "(no title)"
    if not detail:
        return start + fit(title, room)
    title_cells = min(_TITLE_CELLS_MAX, room * 2 // 5)
    return f"{start}{pad(title, title_cells)}  {paint(fit(clean(detail), room - title_cells - 2), 'quiet')}"


_CHANGED_SHOWN = 10
_PARTS_LINES_MAX = 30
_TESTS_SHOWN = 10
_COMMAND_ROWS_MAX = 3
_ROLES = {"held": "blocked"}
_LOOK = "See "
"""What begins the steps that name a command to look with; the others say what question and options say."""


def issue_page(record: BlockedIssue, width: int) -> list[str]:
    title = painted(hanging(record.title, width, f"{clean(record.id)}  "), "title")
    return [*title, *block_lines(record, width)]


def block_lines(record: BlockedIssue, width: int, leave_out: tuple[str, ...] = ()) -> Iterator[str]:
    """Return what is told of one issue, without its name; `leave_out` are keys and commands told elsewhere."""
    request = record.request
    why = request.summary.partition(". Last: ")[0] if request.tried else request.summary
    yield from painted(hanging(why, width, "  "), _ROLES.get(record.status, record.status))
    if request.failing is not None and "failing" not in leave_out:
        yield from _section("What still fails", _still_failing(request.failing, width))
    if request.question:
        yield from _section("The question", hanging(request.question, width, "    "))
    yield from _section("What it changes", _changed(request, width))
    if "tried" not in leave_out:
        yield from _section("Tried", _items(request.tried, width))
    errors = [each for each in request.errors if not any(each in other for other in request.tried)]
    questions = [each for each in request.questions if not any(each in other for other in request.unclear)]
    if "errors" not in leave_out:
        yield from _section("Errors", _items(errors, width))
    yield from _section("Unclear", _items(request.unclear, width))
    yield from _section("Questions", _items(questions, width))
    yield from _section("What became of its parts", quoted(request.parts_failed, width, "    ", _PARTS_LINES_MAX))
    ways = zip(request.options, request.commands, strict=True)
    # A command stays whole, for copying.
    shown = [(*hanging(option, width, "    • "), f"        {clean(command)}") for option, command in ways]
    yield from _section("What you can do", [row for rows in shown for row in rows])
    looks = [step.removeprefix(_LOOK) for step in request.next_steps if step.startswith(_LOOK)]
    elsewhere = (*leave_out, *request.commands)
    looks = [look for look in looks if not any(look.endswith(f": {each}") for each in elsewhere)]
    yield from _section("What to look at", _items(looks, width))


def _still_failing(failing: Failing, width: int) -> Iterator[str]:
    command = f": {failing.command}" if failing.command else ""
    yield from hanging(f"{failing.gate}{command}", width, "    ", "      ", rows_max=_COMMAND_ROWS_MAX)
    for test in failing.tests[:_TESTS_SHOWN]:
        yield from hanging(f"fails: {test}", width, "    • ")
    more = len(failing.tests[_TESTS_SHOWN:]) + failing.more_tests
    if more:
        yield f"    … and {more:,} more"
    if failing.location:
        yield from hanging(f"at {failing.location}", width, "    ")
    yield from evidence_lines(failing.lines or [failing.message], "", width, "    ")


def _section(title: str, lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    rows = list(lines)
    if rows:
        yield ""
        yield f"  {paint(title, 'title')}"
        yield from rows


def _items(items: Sequence[str], width: int) -> Iterator[str]:
    for item in items:
        yield from hanging(item, width, "    • ")


def _changed(request: PersonRequest, width: int) -> Iterator[str]:
    if request.paths:
        yield from hanging(f"asks to change as well: {', '.join(request.paths)}", width, "    ")
    paths = request.changed
    if not paths:
        return
    size = f"{count(request.changed_files, 'file')}, {count(request.changed_lines, 'line')}"
    yield from hanging(f"attempt {request.attempt}: {size}", width, "    ")
    for path in paths[:_CHANGED_SHOWN]:
        yield fit(f"    • {clean(path)}", width)
    if request.changed_files > _CHANGED_SHOWN:
        yield f"    … and {request.changed_files - _CHANGED_SHOWN:,} more"
