"""`noface blocked`: for each issue that waits for a person what is asked, what happened, and what they can do."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, NamedTuple

from noface.data import table
from noface.model.description import Inline, OneOf
from noface.model.quoting import quoted as in_quotes
from noface.model.request import NOTHING_ASKED, PersonRequest
from noface.store.records import IssueRow


class BlockedIssue(NamedTuple):
    """An issue that needs a person: it is blocked, waits for a yes, or passed and cannot land."""

    id: Annotated[str, "Its id."]
    title: Annotated[str, "Its title."]
    status: Annotated[str, OneOf(("blocked", "approval", "held")), "Where it stands."]
    task: Annotated[str, "What a person has to do, in words that issues share which need the same."]
    detail: Annotated[str, "What it is about, in a line."]
    reason: Annotated[str, "Why it waits."]
    request: Annotated[PersonRequest, Inline]


class Task(NamedTuple):
    """Something that a person has to do."""

    task: Annotated[str, "What, as a heading."]
    ids: Annotated[tuple[str, ...], "The issues that need it."]
    kinds: Annotated[tuple[str, ...], "What their last attempts ended with."]


class BlockedDocument(NamedTuple):
    """The issues that need a person: the blocked ones, those that wait for approval, those that cannot land."""

    blocked: Annotated[tuple[Annotated[BlockedIssue, "An issue that needs a person."], ...], "The issues."]
    tasks: Annotated[tuple[Annotated[Task, "Something to do."], ...], "What there is to do, the quickest first."]


def blocked_document(waiting: Iterable[IssueRow], held: Iterable[IssueRow]) -> BlockedDocument:
    ordered = sorted(waiting, key=lambda row: row.status == "approval")
    issues = (*(waiting_of(row) for row in ordered), *map(_held, held))
    return BlockedDocument(issues, _tasks(issues))


def waiting_of(row: IssueRow) -> BlockedIssue:
    """Return what a person needs to know of an issue that is blocked, or waits for approval (N13, L10)."""
    request = row.block or NOTHING_ASKED
    told = replace(
        request,
        model=request.model or row.model or "",
        summary=request.summary or row.reason,
        branch=row.branch if row.status == "approval" else None,
    )
    return BlockedIssue(
        row.id, row.title, row.status, _task(row.status, request), _detail(row, request), row.reason, told
    )


def _held(row: IssueRow) -> BlockedIssue:
    request = PersonRequest(
        kind="PASSED",
        summary=f"cannot land: {row.reason}",
        options=("clear the way; the next run lands it by itself", "see the work first"),
        commands=("noface run", f"noface logs {row.id} --diff"),
    )
    return BlockedIssue(row.id, row.title, "held", _OF_HELD, row.reason, row.reason, request)


_QUICK = ("transient", "environment")
"""Categories of failures that a person mends for several issues at once."""
_ASKED = ("correctable", "context_gap", "complexity", "no_progress", "unknown")
"""Those where what a worker asked is what a person has to answer."""
_OF_HELD = "Clear the way for work that passed, then run again"
_DETAIL_CHARS_MAX = 300


def _task(status: str, request: PersonRequest) -> str:
    if request.task:
        return request.task
    if status == "approval":
        return str(table("requests").get(request.wants, {"task": "Approve or reject"})["task"])
    kinds = table("kinds")
    kind = kinds.get(request.kind, kinds["UNKNOWN"])
    if request.questions and kind["category"] in _ASKED:
        kind = kinds["AGENT_CONFUSION"]
    elif request.kind == "NO_DIFF" and request.failing is not None:
        kind = kinds[request.failing.kind]  # that they changed nothing more is not what a person has to look at
    model = request.model or "its model"
    agent = f"the command of {model}" if request.agent == "command" else request.agent or f"the agent of {model}"
    return str(kind["task"]).format(model=model, agent=agent)


def _detail(row: IssueRow, request: PersonRequest) -> str:
    questions, errors, failing, kind = request.questions, request.errors, request.failing, request.kind
    if row.status == "approval":
        of_paths = request.wants == "paths"
        return f"also {', '.join(request.paths)}" if of_paths else row.reason.removeprefix("passed; ")
    if request.limit:
        return row.reason
    if questions and table("kinds").get(kind, {}).get("category") in _ASKED:
        more = f" (and {len(questions) - 1} more)" if len(questions) > 1 else ""
        return f"{in_quotes(questions[0], _DETAIL_CHARS_MAX)}{more}"
    if failing is not None and (kind == "NO_DIFF" or not errors or errors[-1].endswith(failing.message)):
        gate = f"{failing.gate}: " if failing.gate.startswith("accept") else ""
        return f"{gate}{failing.message}"
    return errors[-1].removeprefix(f"{kind}: ") if errors else row.reason


def _tasks(issues: Sequence[BlockedIssue]) -> tuple[Task, ...]:
    by_task: dict[tuple[int, str], list[BlockedIssue]] = {}
    for issue in issues:
        by_task.setdefault((_rank(issue), issue.task), []).append(issue)
    ordered = sorted(by_task.items(), key=lambda item: (item[0][0], -len(item[1])))
    return tuple(
        Task(task, tuple(issue.id for issue in needing), tuple(dict.fromkeys(issue.request.kind for issue in needing)))
        for (_, task), needing in ordered
    )


def _rank(issue: BlockedIssue) -> int:
    if issue.status != "blocked":
        return 1 if issue.status == "held" else 2
    kinds = table("kinds")
    if kinds.get(issue.request.kind, kinds["UNKNOWN"])["category"] in _QUICK:
        return 0
    return 2 if issue.task == kinds["AGENT_CONFUSION"]["task"] else 3
