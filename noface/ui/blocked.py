"""`noface blocked`: for each issue that waits for a person what is asked, what happened, and what they can do.

The overview tells in a line what each needs, those together for which a person has to do the same; the page of one
issue tells all. Scripts read the document: add keys, never rename.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from noface.data import table
from noface.model.description import AnyOf, OneOf
from noface.model.quoting import quoted as in_quotes
from noface.store.records import IssueRow

_KIND = "noface.model.taxonomy.FailureKind"

_LISTS = ("tried", "tried_in_short", "errors", "unclear", "next_steps", "questions", "options", "commands")


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
    status: Annotated[str, OneOf(("failed",)), "What became of it."]
    failure_kind: Annotated[str, OneOf(_KIND), "What it ended with."]
    failure_reason: Annotated[str, "Why noface gave up."]
    attempts_made: Annotated[int, "How many attempts were made."]
    attempts_charged: Annotated[int, "How many of them count against its limit."]
    last_error: Annotated[str | None, "What went wrong last."]
    recovery_attempted: Annotated[tuple[Tried, ...], "What was tried, oldest first."]
    recommendation: Annotated[str, "What a person could do."]
    resources: Resources
    subtask_failures: Annotated[
        tuple[dict[str, Any], ...], "For each part that failed its request, error, depth and partial output."
    ]


class Failing(NamedTuple):
    """What a gate has found on its newest work; null where no gate failed."""

    attempt: Annotated[int, "The attempt."]
    kind: Annotated[str, OneOf(_KIND), "Why it failed."]
    gate: Annotated[str, "The gate."]
    command: Annotated[str, "Its command; empty where that is not known."]
    tests: Annotated[tuple[str, ...], "The tests that fail, the first thirty."]
    more_tests: Annotated[int, "How many more fail."]
    message: Annotated[str, "What went wrong."]
    location: Annotated[str | None, "Where."]
    lines: Annotated[tuple[str, ...], "The lines that decided."]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Common:
    id: Annotated[str, "Its id."]
    title: Annotated[str, "Its title."]
    status: str
    kind: str
    task: Annotated[str, "What a person has to do, in words that issues share which need the same."]
    detail: Annotated[str, "What it is about, in a line."]
    reason: Annotated[str, "Why it waits."]
    model: Annotated[str, "The entry of [models] of its last attempt; empty without one."]
    summary: Annotated[str, "What happened, in a sentence or two."]
    question: Annotated[str, "What a person is asked."]
    tried: Annotated[tuple[str, ...], "What was tried, oldest first."]
    tried_in_short: Annotated[tuple[str, ...], "The same, attempts in a row that ended alike told once."]
    failing: Annotated[Mapping[str, Any] | None, AnyOf(("noface.ui.blocked.Failing",))]
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

    status: Annotated[str, OneOf(("blocked",)), "Where it stands."]
    kind: Annotated[str, OneOf(_KIND), "What its last attempt ended with."]
    report: Annotated[Mapping[str, Any] | None, AnyOf(("noface.ui.blocked.GivenUp",))]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest(_Common):
    """An issue that waits for approval."""

    status: Annotated[str, OneOf(("approval",)), "Where it stands."]
    kind: Annotated[str, OneOf(_KIND, ("PASSED",)), "What its last attempt ended with."]
    wants: Annotated[str, OneOf("noface.model.actions.ApprovalKind"), "What is to be approved."]
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


class Task(NamedTuple):
    """Something that a person has to do."""

    task: Annotated[str, "What, as a heading."]
    ids: Annotated[tuple[str, ...], "The issues that need it."]
    kinds: Annotated[tuple[str, ...], "What their last attempts ended with."]


class BlockedDocument(NamedTuple):
    """The issues that need a person, the blocked ones before those that wait for approval."""

    blocked: Annotated[tuple[Annotated[Waiting, "An issue that needs a person."], ...], "The issues."]
    held: Annotated[
        tuple[Held, ...], "Issues whose work passed and cannot land, since something of yours is in the way."
    ]
    tasks: Annotated[tuple[Annotated[Task, "Something to do."], ...], "What there is to do, the quickest first."]


HasBranch = Callable[[str], bool]
"""Tells whether a branch is there still: a person may have removed it since it was named."""


def blocked_document(
    waiting: Iterable[IssueRow], held: Iterable[IssueRow], has_branch: HasBranch = bool
) -> BlockedDocument:
    """Return the document of `noface blocked`; `held` is work that passed and cannot land."""
    ordered = sorted(waiting, key=lambda row: row.status == "approval")
    records = tuple(waiting_of(row, has_branch) for row in ordered)
    in_the_way = tuple(Held(row.id, row.title, row.reason) for row in held)
    return BlockedDocument(records, in_the_way, _tasks(records, in_the_way))


def waiting_of(row: IssueRow, has_branch: HasBranch = bool) -> Waiting:
    """Return what a person needs to know of an issue that is blocked, or waits for approval (N13, L10)."""
    block, branch = row.block or {}, row.branch
    if branch is not None and not has_branch(branch):
        block, branch = _without_branch(block, branch), None
    common: dict[str, Any] = {
        "id": row.id,
        "title": row.title,
        "status": row.status,
        "kind": str(block.get("kind", "UNKNOWN")),
        "task": _task(row.status, block),
        "detail": _detail(row, block),
        "reason": row.reason,
        "model": str(block.get("model") or row.model or ""),
        "summary": str(block.get("summary") or row.reason),
        "question": str(block.get("question", "")),
        **{name: _texts(block, name) for name in _LISTS},
        "failing": block.get("failing"),
        "parts_failed": str(block.get("parts_failed", "")),
    }
    if row.status != "approval":
        return BlockedIssue(**common, report=block.get("report"))
    return ApprovalRequest(
        **common,
        wants=str(block.get("wants", "")),
        attempt=block.get("attempt", 0),
        branch=branch,
        paths=_texts(block, "paths"),
        changed=_texts(block, "changed"),
        changed_files=block.get("changed_files", 0),
        changed_lines=block.get("changed_lines", 0),
    )


def _without_branch(block: Mapping[str, Any], branch: str) -> Mapping[str, Any]:
    """Return a block without what names a branch that is gone: a command that is copied has to work."""
    named = re.compile(rf"(?<![\w/-]){re.escape(branch)}(?![\w/-])")
    options, commands, steps = (_texts(block, name) for name in ("options", "commands", "next_steps"))
    if len(options) == len(commands):
        ways = [way for way in zip(options, commands, strict=True) if not named.search(way[1])]
        options, commands = tuple(option for option, _ in ways), tuple(command for _, command in ways)
    steps = tuple(step for step in steps if not named.search(step))
    return {**block, "options": options, "commands": commands, "next_steps": steps}


def _texts(block: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(str(item) for item in block.get(name, ()))


_QUICK = ("transient", "environment")
"""Categories of failures that a person mends for several issues at once."""
_ASKED = ("correctable", "context_gap", "complexity", "no_progress", "unknown")
"""Those where what a worker asked is what a person has to answer."""
_OF_APPROVALS = {
    "landing": "Approve or reject work that passed",
    "paths": "Allow more paths, or refuse",
    "contract": "Decide whether a test is wrong",
    "going_on": "Say whether to go on",
    "done": "Say whether it is done already",
    "complete": "Say whether anything is missing",
}
_OF_HELD = "Clear the way for work that passed, then run again"
_DETAIL_CHARS_MAX = 300


def _task(status: str, block: Mapping[str, Any]) -> str:
    """Return what a person has to do; data/kinds.toml has the words where the block has none of its own."""
    if status == "approval":
        return _OF_APPROVALS.get(str(block.get("wants", "")), "Approve or reject")
    if block.get("task"):
        return str(block["task"])
    kinds = table("kinds")
    kind = kinds.get(str(block.get("kind", "")), kinds["UNKNOWN"])
    if block.get("questions") and kind["category"] in _ASKED:
        kind = kinds["AGENT_CONFUSION"]
    elif _nothing_more(block):
        kind = kinds[block["failing"]["kind"]]
    model = str(block.get("model") or "its model")
    return str(kind["task"]).format(model=model, agent=_agent(block.get("agent"), model))


def _agent(agent: object, model: str) -> str:
    """Return what a person calls the program of a model; "command" is the name of no program."""
    if agent == "command":
        return f"the command of {model}"
    return str(agent or f"the agent of {model}")


def _nothing_more(block: Mapping[str, Any]) -> bool:
    """Tell whether the workers changed nothing more though a gate fails: that is what a person has to look at."""
    return bool(block.get("kind") == "NO_DIFF" and block.get("failing"))


_HOW_IT_ENDED = re.compile(r"^(tests were weakened: |the worker ended with exit code \d{1,3}: (?=\S))")
"""What a line has no room for, since the heading above it says as much."""


def _detail(row: IssueRow, block: Mapping[str, Any]) -> str:
    """Return what an issue's line in the overview says beside its title."""
    questions, errors = _texts(block, "questions"), _texts(block, "errors")
    failing, kind = block.get("failing") or {}, str(block.get("kind", ""))
    if row.status == "approval":
        paths = _texts(block, "paths")
        return f"also {', '.join(paths)}" if paths else row.reason.removeprefix("passed; ")
    if block.get("limit"):
        return row.reason
    if questions and table("kinds").get(kind, {}).get("category") in _ASKED:
        more = f" (and {len(questions) - 1} more)" if len(questions) > 1 else ""
        return f"{in_quotes(questions[0], _DETAIL_CHARS_MAX)}{more}"
    if failing and (_nothing_more(block) or not errors or errors[-1].endswith(str(failing["message"]))):
        gate = f"{failing['gate']}: " if str(failing["gate"]).startswith("accept") else ""
        return f"{gate}{_without_path(str(failing['message']), failing['tests'])}"
    return _HOW_IT_ENDED.sub("", errors[-1].removeprefix(f"{kind}: ")) if errors else row.reason


def _without_path(message: str, tests: Sequence[str]) -> str:
    """Return a message that begins with its test as it is in a line: with the test's own name."""
    test = next((test for test in tests if message.startswith(test)), "")
    return message.removeprefix(test[: test.rfind("::") + 2] if "::" in test else "").replace(": E ", ": ", 1)


def _tasks(records: Sequence[Waiting], held: Sequence[Held]) -> tuple[Task, ...]:
    """Return what there is to do: what helps several issues at once, then what takes a word, then what takes thought.

    Of tasks that are alike in that the one comes first that most issues need.
    """
    found: dict[tuple[int, str], list[tuple[str, str]]] = {}
    for record in records:
        found.setdefault((_rank(record), record.task), []).append((record.id, record.kind))
    if held:
        found[1, _OF_HELD] = [(each.id, "PASSED") for each in held]
    ordered = sorted(found.items(), key=lambda item: (item[0][0], -len(item[1])))
    return tuple(
        Task(task, tuple(name for name, _ in issues), tuple(dict.fromkeys(kind for _, kind in issues)))
        for (_, task), issues in ordered
    )


def _rank(record: Waiting) -> int:
    if isinstance(record, ApprovalRequest):
        return 2
    kinds = table("kinds")
    if kinds.get(record.kind, kinds["UNKNOWN"])["category"] in _QUICK:
        return 0
    return 2 if record.task == kinds["AGENT_CONFUSION"]["task"] else 3
