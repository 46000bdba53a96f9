"""What other programs and noface agree on beside the pages: a worker's order and report, and an error of a command."""

from noface.model.attempt import AttemptOrder
from noface.prompts.answers.forms import schema_of
from noface.ui.schema import VERSION, Schema, described, first, keys

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


def order_schema() -> Schema:
    means = "What a worker is to do. The folder it is started in is the workspace; it edits the files there."
    return first(AttemptOrder) | {"description": means}


def error_schema() -> Schema:
    """Return the schema of what a command with `--json` prints if it fails; `cli/main.py` makes it."""
    error = keys(
        "The error.",
        message=described("string", "What is wrong."),
        hint=described("string", "What to do about it; may be empty."),
        code=described("integer", "The exit code.") | {"minimum": 1},
    )
    return keys("Why a command failed. The exit code of the command is `code`.", schema=VERSION, error=error)
