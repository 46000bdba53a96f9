"""A model's diagnosis of a failure: what caused it, and which of the five strategies answers it (S2, S3)."""

from collections.abc import Mapping
from typing import Any

from noface.core.answers.form import (
    NOT_BLANK,
    TEXT_CHARS_MAX,
    AnswerForm,
    answer_schema,
    listed,
    needs_also,
    sections,
    text,
)
from noface.core.history import Advice, Topic
from noface.core.taxonomy import DiagnosisStrategy

DELAY_S_MAX = 86_400.0
_CHANGES_MAX = 20
_OR_NULL = text() | {"type": ["string", "null"]}
_SAID = {**NOT_BLANK, "type": "string"}

EXAMPLE = {
    "cause": "The test imports parse_date from dates.py, but the function is called read_date there.",
    "recoverable": "yes",
    "strategy": DiagnosisStrategy.ALTERNATIVE.value,
    "alternative": "Keep read_date and add parse_date as a second name for it.",
    "confidence": 0.8,
}
SCHEMA = answer_schema(
    "diagnosis",
    {
        "cause": text(blank=False),
        "recoverable": {"type": "string", "enum": ["yes", "no", "maybe"]},
        "strategy": {"type": "string", "enum": [remedy.value for remedy in DiagnosisStrategy]},
        "alternative": _OR_NULL,
        "modified": {
            "type": ["object", "string", "null"],
            "additionalProperties": text(),
            "maxProperties": _CHANGES_MAX,
            "maxLength": TEXT_CHARS_MAX,
        },
        "skip_reason": _OR_NULL,
        "explanation": _OR_NULL,
        "delay_s": {"type": ["number", "null"], "minimum": 0, "maximum": DELAY_S_MAX},
        "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    },
    ("cause", "recoverable", "strategy"),
    EXAMPLE,
    allOf=[
        needs_also("strategy", DiagnosisStrategy.ALTERNATIVE, "alternative", _SAID),
        needs_also(
            "strategy",
            DiagnosisStrategy.MODIFIED,
            "modified",
            {**NOT_BLANK, "type": ["object", "string"], "minProperties": 1},
        ),
        needs_also("strategy", DiagnosisStrategy.SKIP, "skip_reason", _SAID),
    ],
)


def read(value: Mapping[str, Any], *, after: int, epoch: int, model: str) -> Advice:
    """Return the diagnosis as advice. The text is its proposal alone, so that the same one is known again (S5)."""
    strategy = DiagnosisStrategy(value["strategy"])
    delay = value.get("delay_s")
    return Advice(
        Topic.DIAGNOSIS,
        after,
        epoch=epoch,
        model=model,
        cause=value["cause"].strip(),
        recoverable=value["recoverable"],
        strategy=strategy.value,
        text=_proposal(strategy, value),
        delay_s=float(delay) if delay is not None and strategy is DiagnosisStrategy.SAME else None,
    )


def _proposal(strategy: DiagnosisStrategy, value: Mapping[str, Any]) -> str:
    match strategy:
        case DiagnosisStrategy.ALTERNATIVE:
            return sections(("Another approach", value["alternative"]))
        case DiagnosisStrategy.MODIFIED:
            changes = value["modified"]
            if isinstance(changes, str):
                return sections(("The same with a change", changes))
            pairs = tuple(f"{key.strip()}: {change.strip()}" for key, change in changes.items())
            return sections(("The same with these changes", listed(pairs)))
        case DiagnosisStrategy.SKIP:
            return sections(("Why it can be left undone", value["skip_reason"]))
        case DiagnosisStrategy.ESCALATE:
            return sections(("What is needed", value.get("explanation") or value.get("alternative") or ""))
        case DiagnosisStrategy.SAME:
            return ""


FORM = AnswerForm("diagnosis", SCHEMA, EXAMPLE, read)
