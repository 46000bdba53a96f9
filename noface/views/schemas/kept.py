"""The schemas of what is kept of an attempt's steps, and of a failure in the pattern's terms (P2, P4, P10).

`core/partial.py` and `core/task_failure.py` make them.
"""

from noface.core.prompt_data import EarlierForm
from noface.core.taxonomy import Category, FailureKind, Reason
from noface.views.schemas.parts import (
    Schema,
    integer,
    listed,
    names,
    number,
    or_null,
    record,
    text,
    texts,
    truth,
    with_optional,
    word,
)


def steps() -> Schema:
    """Return the schema of what each step of an attempt left."""
    return record("What each step of the attempt left; null where nothing was kept.", **_steps())


def task_failure() -> Schema:
    """Return the schema of a failure with all that is known of it."""
    failed = record(
        "A failure.",
        type=word("Its type.", ("TASK_FAILURE",)),
        reason=word("Why.", names(Reason)),
        message=text("What went wrong."),
        details=_details(),
    )
    exhausted = record(
        "Something ran out.",
        type=word("Its type.", ("RESOURCE_EXHAUSTION",)),
        resource=word("What ran out.", ("turns", "context", "output", "budget")),
        usage=or_null(number("How much was used; null where nobody said.")),
        limit=or_null(number("How much there was; null where nobody said.")),
        message=text("What went wrong."),
        details=_details(),
    )
    return {"description": "The failure with all that is known of it; null without one.", "oneOf": [failed, exhausted]}


def _steps() -> dict[str, Schema]:
    notes = {
        "description": "What is to be noted of it: exit code, seconds, tokens, and the like.",
        "type": "object",
        "additionalProperties": {"type": ["string", "number", "boolean"]},
    }
    step = record(
        "A step.",
        step_index=integer("Its number, from 0."),
        name=text("Its name."),
        status=word("What came of it.", ("completed", "failed")),
    )
    step = with_optional(step, notes=notes, content=text("What it put out, with accumulation_format full_output."))
    return {
        "failed_step": or_null(integer("The first step that failed; null where none did.")),
        "total_steps": integer("How many there were."),
        "accumulation_format": word("How much is kept of each.", names(EarlierForm)),
        "partial_results": listed("The steps, in order.", step),
        "truncated": truth("Whether something was cut."),
    }


def _details() -> Schema:
    metrics = {
        "description": "What it took: seconds, cost_usd, tokens_in, tokens_out, as far as they are known.",
        "type": "object",
        "propertyNames": {"enum": ["seconds", "cost_usd", "tokens_in", "tokens_out"]},
        "additionalProperties": number("How much."),
    }
    details = record(
        "What is known of it.",
        kind=word("Why.", names(FailureKind)),
        category=word("The category of the kind.", names(Category)),
        rule=text("The rule that recognised it."),
        location=or_null(text("Where.")),
        gate=or_null(text("The gate that failed.")),
        violations=texts("The lines that decided."),
        failing_tests=texts("The tests that failed."),
        questions=texts("What the worker asked."),
        partial_context=text("The lines of the output that tell most, cut at a limit."),
        metrics=metrics,
    )
    return with_optional(details, **_steps())
