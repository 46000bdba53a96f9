"""The schema of a worker's report: the one by which noface reads it, with what each key is for.

A report is a JSON object anywhere in the worker's last message (of a command: at the end of its standard output),
best in a ```json fence; the last one counts. It decides nothing by itself: gates and files do (law 10).
"""

from noface.core.answers.report import SCHEMA
from noface.views.schemas.parts import Schema

DESCRIBES = "what a worker may say of its work at the end: JSON on standard output"

_DESCRIPTION = (
    "What a worker says of its work, as a JSON object in its last message; of a command, at the end of its standard "
    "output. The last such object counts, one in a ```json fence before others. It may be left out. What a worker "
    "says never makes work pass: the gates decide."
)
_MEANINGS = {
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
}


def schema() -> Schema:
    """Return the schema of a report; but for the descriptions it is the one that reports are checked by."""
    properties = {key: {"description": _MEANINGS[key], **rule} for key, rule in SCHEMA["properties"].items()}
    return {**SCHEMA, "description": _DESCRIPTION, "properties": properties}
