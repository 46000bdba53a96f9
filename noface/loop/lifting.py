"""Gives issues back that were blocked for a cause outside them, once that cause is gone."""

import json
from collections.abc import Collection

from noface.core.taxonomy import Category, FailureKind, IssueStatus
from noface.loop.context import RunContext

_OF_A_PROVIDER = tuple(kind.value for kind in FailureKind if kind.category is Category.TRANSIENT)


def lift_blocks(context: RunContext, kinds: Collection[str], why: str, model: str | None = None) -> int:
    """Give back the issues that were blocked for one of `kinds`, and for `model`'s sake where one is named.

    Returns how many they were. Their counters start again (N14).
    """
    lifted = 0
    for row in context.reader.issues():
        blocked = row["status"] == IssueStatus.BLOCKED and row["present"]
        if blocked and _kind(row["block"]) in kinds and model in (None, row["model"]):
            context.journal.unblocked(context.clock.now(), row["id"], "", why)
            lifted += 1
    return lifted


def answers_again(context: RunContext, model: str) -> None:
    """Close a model's circuit breaker: its provider has answered. Who was blocked for that may try again (N1)."""
    if model in context.reader.waits():
        context.journal.wait_over(model)
        lift_blocks(context, _OF_A_PROVIDER, f"{model} answers again; tried again", model)


def _kind(block: str | None) -> str:
    return str(json.loads(block).get("kind", "")) if block else ""
