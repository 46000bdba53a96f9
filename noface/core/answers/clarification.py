"""A planner's answers to what a worker asked, and the files that answer it (K3)."""

from collections.abc import Mapping
from typing import Any

from noface.core.answers.form import AnswerForm, answer_schema, path_list, paths, sections, text
from noface.core.history import Advice, Topic

_ANSWERS_MAX = 20
_QUESTION_CHARS_MAX = 1_000

EXAMPLE = {
    "answers": [{"question": "Which date format is meant?", "answer": "ISO 8601, as in docs/dates.md."}],
    "files": ["docs/dates.md", "src/dates.py"],
    "summary": "Dates are ISO 8601 everywhere; parse them with the function that is there.",
}
SCHEMA = answer_schema(
    "clarification",
    {
        "answers": {
            "type": "array",
            "maxItems": _ANSWERS_MAX,
            "items": {
                "type": "object",
                "properties": {"question": text(_QUESTION_CHARS_MAX), "answer": text(blank=False)},
                "required": ["question", "answer"],
                "additionalProperties": False,
            },
        },
        "files": paths(),
        "summary": text(blank=False),
    },
    ("answers", "summary"),
    EXAMPLE,
)


def read(value: Mapping[str, Any], *, after: int, epoch: int, model: str) -> Advice:
    """Return the clarification as advice; `paths` are the files it names."""
    answers = [pair for item in value["answers"] for pair in (("Q", item["question"]), ("A", item["answer"]))]
    return Advice(
        Topic.CLARIFICATION,
        after,
        epoch=epoch,
        model=model,
        text=sections(("Summary", value["summary"]), *answers),
        paths=path_list(value, "files"),
    )


FORM = AnswerForm("clarification", SCHEMA, EXAMPLE, read)
