"""A reviewer's verdict on work whose gates pass: approve, ask for changes, or ask for a person (N2)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from noface.core.answers.form import AnswerForm, answer_schema, listed, needs_also, sections, text
from noface.core.history import Advice, Topic

POINTS_MAX = 30


class Verdict(StrEnum):
    """What a reviewer can decide."""

    APPROVE = "approve"
    REQUEST_CHANGES = "request_changes"
    NEEDS_HUMAN = "needs_human"


EXAMPLE = {
    "verdict": Verdict.REQUEST_CHANGES.value,
    "summary": "The discount is right, but an order without items now divides by zero.",
    "points": [
        {
            "file": "src/shop/order.py",
            "line": 41,
            "problem": "average() divides by the number of items, which can be 0.",
            "fix": "Return 0 for an order without items, and add a test for it.",
        }
    ],
}
_POINT = {
    "type": "object",
    "properties": {
        "file": text(300),
        "line": {"type": "integer", "minimum": 0, "maximum": 10_000_000},
        "problem": text(2_000, blank=False),
        "fix": text(2_000),
    },
    "required": ["problem"],
    "additionalProperties": False,
}
SCHEMA = answer_schema(
    "review",
    {
        "verdict": {"type": "string", "enum": [verdict.value for verdict in Verdict]},
        "summary": text(blank=False),
        "points": {"type": "array", "items": _POINT, "maxItems": POINTS_MAX},
    },
    ("verdict", "summary"),
    EXAMPLE,
    allOf=[needs_also("verdict", Verdict.REQUEST_CHANGES, "points", {"minItems": 1})],
)


def read(value: Mapping[str, Any], *, after: int, epoch: int, model: str) -> Advice:
    """Return the verdict as advice; `cause` is the summary, `text` the points."""
    points = tuple(_point(point) for point in value.get("points", ()))
    told = sections(("Verdict", value["verdict"]), ("Summary", value["summary"]), ("Points", listed(points)))
    verdict = Verdict(value["verdict"])
    return Advice(
        Topic.REVIEW, after, epoch=epoch, model=model, strategy=verdict.value, cause=value["summary"], text=told
    )


def _point(point: Mapping[str, Any]) -> str:
    place = point.get("file", "").strip()
    if place and point.get("line"):
        place = f"{place}:{point['line']}"
    fix = point.get("fix", "").strip()
    return f"{f'{place}: ' if place else ''}{point['problem'].strip()}{f' Fix: {fix}' if fix else ''}"


FORM = AnswerForm("review", SCHEMA, EXAMPLE, read)
