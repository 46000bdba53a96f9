"""What other programs and noface agree on beside the pages: a worker's order and report, and an error of a command.

`attempt/environment.py` makes the order.
"""

from typing import Annotated, TypedDict

from noface.agents.base import WORKER
from noface.model.description import Minimum, OneOf
from noface.model.failure import PriorFailure
from noface.model.gate import GateKind
from noface.model.history import Topic
from noface.prompts.answers.forms import schema_of
from noface.ui.schema import Schema, first


class OrderedIssue(TypedDict):
    """The issue. Its words come from whoever writes issues."""

    id: Annotated[str, "Its id."]
    title: Annotated[str, "Its title."]
    body: Annotated[str, "What is asked for, in Markdown."]
    priority: Annotated[int, "0 is most urgent."]
    labels: Annotated[tuple[str, ...], "Its labels."]
    depends_on: Annotated[tuple[str, ...], "Ids of issues that had to be merged first."]
    paths: Annotated[tuple[str, ...], "Paths and globs: nothing else may be changed. Empty: no such limit."]
    accept: Annotated[tuple[str, ...], "Commands that show that it is done: red on main before, green afterwards."]


class OrderedModel(TypedDict):
    """The entry [models.NAME] of noface.toml that does the work."""

    name: Annotated[str, "Its name."]
    agent: Annotated[str, "The agent that runs it."]
    model: Annotated[str, "The model's name as the agent knows it; may be empty."]
    tier: Annotated[int, "Its tier; higher is stronger."]


class OrderedGate(TypedDict):
    """A command that is run by bash at the top of a clean checkout of the work."""

    name: Annotated[str, "Its name."]
    command: Annotated[str, "The command."]
    kind: Annotated[str, OneOf(GateKind), "What it checks."]
    hard: Annotated[bool, "Whether it must pass; otherwise it is only reported."]
    timeout_s: Annotated[float, "After this many seconds it is ended."]


class Order(TypedDict):
    """What a worker is to do. The folder it is started in is the workspace; it edits the files there."""

    run_id: Annotated[str, "The run of noface."]
    attempt: Annotated[int, "The number of this attempt at the issue, from 1; of a question, the attempt it is about."]
    role: Annotated[
        str,
        OneOf((WORKER, *Topic, "init")),
        "What is wanted: work, an answer to a question of this topic, or gates for `noface init`.",
    ]
    think: Annotated[bool, "Whether extended thinking is asked for."]
    issue: OrderedIssue
    model: OrderedModel
    gates: Annotated[
        tuple[OrderedGate, ...], "The project's gates, in the order they run afterwards; none for a question."
    ]
    accept: Annotated[tuple[str, ...], "Commands that must pass for this issue as well: those of `issue`."]
    earlier: Annotated[
        tuple[PriorFailure, ...], "The attempts at this issue that failed, oldest first; none for a question."
    ]
    protected: Annotated[tuple[str, ...], "Paths and globs: changes of these files are undone before the gates run."]
    may_change: Annotated[tuple[str, ...], "Paths and globs: changes of these files stay, though they are protected."]
    main: Annotated[
        str, "The commit of main when the order was made, as a full object id; empty where a model is only tried."
    ]
    start: Annotated[
        str, "The commit whose files the workspace holds: main, or the best work so far merged with it; or empty."
    ]


class Failed(TypedDict):
    """The error."""

    message: Annotated[str, "What is wrong."]
    hint: Annotated[str, "What to do about it; may be empty."]
    code: Annotated[int, Minimum(1), "The exit code."]


class Error(TypedDict):
    """Why a command failed. The exit code of the command is `code`."""

    error: Failed


_REPORT = (
    "What a worker says of its work, as a JSON object in its last message; of a command, at the end of its standard "
    "output. The last such object counts, one in a ```json fence before others. It may be left out. What a worker "
    "says never makes work pass: the gates decide."
)
_REPORTED = {
    "status": "done: finished; partial: it ran out of room or turns, a smaller step is ordered next; "
    "blocked: it cannot go on, `blocked_reason` says why.",
    "summary": "What was done, or what stops it.",
    "confidence": "How sure it is that the work is right, from 0 to 1. A reviewer may be asked where it is low.",
    "risks": "What could be wrong with the work.",
    "gaps": "What was missing to do it well: shown to a person.",
    "questions": "What must be answered before it can go on.",
    "blocked_reason": "boundary_violation: it must change what it may not; contract_change: a test or an interface is "
    "wrong; dependency_issue: other issues must be done first, `needs` names them; unclear: see `questions`.",
    "needs": "Ids of the issues that must be merged first.",
    "left": "What of the issue is not done, each thing by itself. Where there is any, the work is partial.",
}


def report_schema() -> Schema:
    """Return the schema of a worker's report: the one that reports are checked by, with what each key is for."""
    schema = schema_of("report")
    properties = {key: {"description": _REPORTED[key], **rule} for key, rule in schema["properties"].items()}
    return {**schema, "description": _REPORT, "properties": properties}


def error_schema() -> Schema:
    """Return the schema of what a command with `--json` prints if it fails; `cli/main.py` makes it."""
    return first(Error)
