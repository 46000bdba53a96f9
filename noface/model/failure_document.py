"""What is kept of an attempt's steps, and a failure as a document of the error handling pattern (P2, P4, P10)."""

from typing import Annotated, NotRequired, TypedDict

from noface.model.description import OneOf
from noface.model.taxonomy import Category, FailureKind, Reason

Note = str | float | bool


class ReportedStep(TypedDict):
    """A step."""

    step_index: Annotated[int, "Its number, from 0."]
    name: Annotated[str, "Its name."]
    status: Annotated[str, OneOf(("completed", "failed")), "What came of it."]
    notes: NotRequired[
        Annotated[dict[str, Note], "What is to be noted of it: exit code, seconds, tokens, and the like."]
    ]
    content: NotRequired[Annotated[str, "What it put out, with accumulation_format full_output."]]


class Steps(TypedDict):
    """What each step of the attempt left; null where nothing was kept."""

    failed_step: Annotated[int | None, "The first step that failed; null where none did."]
    total_steps: Annotated[int, "How many there were."]
    accumulation_format: Annotated[str, OneOf("noface.prompts.data.EarlierForm"), "How much is kept of each."]
    partial_results: Annotated[list[ReportedStep], "The steps, in order."]
    truncated: Annotated[bool, "Whether something was cut."]
    partial_output: NotRequired[Annotated[str, "The end of what the worker put out; missing in older attempts."]]


def last_output(partial: Steps | None) -> str:
    return partial.get("partial_output", "") if partial is not None else ""


class Details(TypedDict):
    """What is known of it."""

    kind: Annotated[str, OneOf(FailureKind), "Why."]
    category: Annotated[str, OneOf(Category), "The category of the kind."]
    rule: Annotated[str, "The rule that recognised it."]
    location: Annotated[str | None, "Where."]
    gate: Annotated[str | None, "The gate that failed."]
    violations: Annotated[list[str], "The lines that decided."]
    failing_tests: Annotated[list[str], "The tests that failed."]
    questions: Annotated[list[str], "What the worker asked."]
    gaps: Annotated[list[str], "Data that the worker needed and did not find."]
    partial_context: Annotated[str, "The lines of the output that tell most, cut at a limit."]
    metrics: Annotated[
        dict[Annotated[str, OneOf(("seconds", "cost_usd", "tokens_in", "tokens_out"))], Annotated[float, "How much."]],
        "What it took: seconds, cost_usd, tokens_in, tokens_out, as far as they are known.",
    ]
    failed_step: NotRequired[Annotated[int | None, "The first step that failed; null where none did."]]
    total_steps: NotRequired[Annotated[int, "How many there were."]]
    accumulation_format: NotRequired[
        Annotated[str, OneOf("noface.prompts.data.EarlierForm"), "How much is kept of each."]
    ]
    partial_results: NotRequired[Annotated[list[ReportedStep], "The steps, in order."]]
    truncated: NotRequired[Annotated[bool, "Whether something was cut."]]
    partial_output: NotRequired[Annotated[str, "The end of what the worker put out."]]
    expected_type: NotRequired[Annotated[str, "Of an answer in the wrong form: the type that was asked for."]]
    actual_type: NotRequired[
        Annotated[str, "The type that it has; `none`, `malformed` or `truncated` where it is no JSON."]
    ]
    original_output: NotRequired[Annotated[str, "The answer itself, cut at a limit."]]


class TaskFailure(TypedDict):
    """A failure, or what ran out."""

    type: Annotated[str, OneOf(("TASK_FAILURE", "RESOURCE_EXHAUSTION")), "Its type."]
    reason: NotRequired[Annotated[str, OneOf(Reason), "Why a task failed."]]
    resource: NotRequired[Annotated[str, OneOf(("turns", "context", "output", "budget", "memory")), "What ran out."]]
    usage: NotRequired[Annotated[float | None, "How much of it was used; null where nobody said."]]
    limit: NotRequired[Annotated[float | None, "How much of it there was; null where nobody said."]]
    message: Annotated[str, "What went wrong."]
    details: Details
