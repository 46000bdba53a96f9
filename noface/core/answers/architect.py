"""An architect's second thoughts on an approach that keeps failing (K5)."""

from collections.abc import Mapping
from typing import Any

from noface.core.answers.form import AnswerForm, answer_schema, listed, sections, strings, text, texts
from noface.core.history import Advice, Topic

_STEPS_MAX = 20
_STEP_CHARS_MAX = 1_000

EXAMPLE = {
    "assessment": "All attempts patched the parser, but the tokens it gets are wrong already.",
    "approach": "Correct the tokenizer; the parser can stay as it is.",
    "steps": ["Write a test of the tokenizer with the failing input.", "Make it pass.", "Run the parser's tests."],
}
SCHEMA = answer_schema(
    "architect",
    {
        "assessment": text(blank=False),
        "approach": text(blank=False),
        "steps": texts(_STEPS_MAX, _STEP_CHARS_MAX),
    },
    ("assessment", "approach"),
    EXAMPLE,
)


def read(value: Mapping[str, Any], *, after: int, epoch: int, model: str) -> Advice:
    """Return the new design as advice."""
    assessment = value["assessment"].strip()
    told = sections(
        ("Assessment", assessment),
        ("Approach", value["approach"]),
        ("Steps", listed(strings(value, "steps"))),
    )
    return Advice(Topic.ARCHITECT, after, epoch=epoch, model=model, cause=assessment, text=told)


FORM = AnswerForm("architect", SCHEMA, EXAMPLE, read)
