"""Gives issues back that were blocked for a cause outside them, once that cause is gone."""

import json
from collections.abc import Collection

from noface.core.actions import Block
from noface.core.taxonomy import Category, FailureKind, IssueStatus
from noface.loop.context import RunContext
from noface.loop.perform import decide, history

_OF_A_PROVIDER = tuple(kind.value for kind in FailureKind if kind.category is Category.TRANSIENT)


def lift_blocks(context: RunContext, kinds: Collection[str], why: str, model: str | None = None) -> int:
    """Give back the issues that were blocked for one of `kinds`, and for `model`'s sake where one is named.

    Returns how many they were. Their counters start again (N14).
    """
    lifted = 0
    for row in context.reader.issues():
        blocked = row["status"] == IssueStatus.BLOCKED and row["present"]
        if blocked and _told(row["block"], "kind") in kinds and model in (None, row["model"]):
            context.journal.unblocked(context.clock.now(), row["id"], "", why)
            lifted += 1
    return lifted


def lift_raised(context: RunContext) -> None:
    """Give back the issues whose money was spent, where they may spend more by now; what they spent stays counted."""
    for row in context.reader.issues():
        if row["status"] != IssueStatus.BLOCKED or not row["present"] or not _told(row["block"], "limit"):
            continue
        issue = next((each for each in context.issues if each.id == row["id"]), None)
        if issue is not None and not isinstance(decide(context, history(context, issue)), Block):
            reason = f"{_told(row['block'], 'limit')} of [retry] was raised"
            context.journal.status(context.clock.now(), issue.id, IssueStatus.READY, reason)


def answers_again(context: RunContext, model: str) -> None:
    """Close a model's circuit breaker: its provider has answered. Who was blocked for that may try again (N1)."""
    if model in context.reader.waits():
        context.journal.wait_over(model)
        lift_blocks(context, _OF_A_PROVIDER, f"{model} answers again; tried again", model)


def _told(block: str | None, key: str) -> str:
    return str(json.loads(block).get(key, "")) if block else ""
