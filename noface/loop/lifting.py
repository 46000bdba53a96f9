"""Gives issues back that were blocked for a cause outside them, once that cause is gone."""

import json
import sqlite3
from collections.abc import Collection

from noface.core.actions import Block
from noface.core.taxonomy import Category, FailureKind, IssueStatus
from noface.loop.context import RunContext
from noface.loop.perform import decide, history

_OF_A_PROVIDER = tuple(kind.value for kind in FailureKind if kind.category is Category.TRANSIENT)


def lift_blocks(context: RunContext, kinds: Collection[str], why: str) -> None:
    """Give back the issues that were blocked for one of `kinds`. Their counters start again (N14)."""
    for row in _blocked(context, kinds):
        context.journal.unblocked(context.clock.now(), row["id"], "", why)


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
    """Close a model's circuit breaker: its provider has answered. Who was blocked for that may try again (N1).

    Once an issue and run: two issues must not give each other back for ever while a provider answers now and then.
    """
    if model not in context.reader.waits():
        return
    context.journal.wait_over(model)
    for row in _blocked(context, _OF_A_PROVIDER):
        if row["model"] == model and row["id"] not in context.given_back:
            context.given_back.add(row["id"])
            context.journal.unblocked(context.clock.now(), row["id"], "", f"{model} answers again; tried again")


def _blocked(context: RunContext, kinds: Collection[str]) -> list[sqlite3.Row]:
    rows = (row for row in context.reader.issues() if row["status"] == IssueStatus.BLOCKED and row["present"])
    return [row for row in rows if _told(row["block"], "kind") in kinds]


def _told(block: str | None, key: str) -> str:
    return str(json.loads(block).get(key, "")) if block else ""
