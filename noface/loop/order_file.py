"""The order as workers read it: the JSON file `$NOFACE_ORDER_FILE`, schema 1."""

from typing import Any

from noface.core.attempt import AttemptOrder
from noface.core.codec import encode


def order_document(order: AttemptOrder) -> dict[str, Any]:
    """Return the document: issue, gates, accept commands, earlier failures, commits."""
    issue = order.issue
    return {
        "schema": 1,
        "run_id": order.run_id,
        "attempt": order.number,
        "role": order.role,
        "think": order.think,
        "issue": {
            "id": issue.id,
            "title": issue.title,
            "body": issue.body,
            "priority": issue.priority,
            "labels": list(issue.labels),
            "depends_on": list(issue.depends_on),
            "paths": list(issue.paths),
            "accept": list(issue.accept),
        },
        "model": {
            "name": order.model.name,
            "agent": order.model.agent,
            "model": order.model.model,
            "tier": order.model.tier,
        },
        "gates": [
            {"name": g.name, "command": g.command, "kind": g.kind.value, "hard": g.hard, "timeout_s": g.timeout_s}
            for g in order.gates
            if not g.accept
        ],
        "accept": list(issue.accept),
        "earlier": [encode(failure) for failure in order.earlier],
        "protected": list(order.protected),
        "may_change": list(order.may_change),
        "main": order.main,
        "start": order.start,
    }
