"""Turns records into the rows that the journal writes."""

import json
from collections.abc import Sequence

from noface.integrity.rubbish import generated
from noface.model.attempt import AttemptReport, Interrupted, Judged, NotStarted, Snapshot
from noface.model.codec import encode, view
from noface.model.gate import GateResult
from noface.model.worker_run import Usage
from noface.store.records import GateRun

_CHANGED_MAX = 2000
_SESSION_CHARS_MAX = 200


def dumps(value: object) -> str:
    """Return compact JSON in ASCII: file names that are not UTF-8 survive as escapes."""
    return json.dumps(encode(value), separators=(",", ":"))


def outcome_row(at: float, report: AttemptReport, *, charged: bool, notes: tuple[str, ...]) -> dict[str, object]:
    """Return the columns of an attempt that its end sets."""
    failure = None if isinstance(report, Interrupted) else report.failure
    ran = None if isinstance(report, NotStarted) else report
    worker, usage = ran.worker if ran else None, ran.agent.usage if ran and ran.agent else Usage()
    return {
        "finished_at": at,
        "outcome": report.outcome,
        "charged": charged,
        "patch_hash": ran.patch_hash if ran else "",
        "signature": failure.signature if failure else "",
        "failure": dumps(failure) if failure else None,
        "notes": dumps(notes),
        "report": dumps(worker) if worker else None,
        "record": None,
        "doubts": dumps(report.doubts if isinstance(report, Judged) else ()),
        **_work(ran.snapshot if ran else None),
        **_score(ran.gates if ran else ()),
        "cost_usd": usage.cost_usd,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "session_id": (usage.session_id or "")[:_SESSION_CHARS_MAX] or None,
        **({"resumed": dumps(ran.agent.resumed)} if ran and ran.agent and ran.agent.resumed else {}),
    }


def _work(snapshot: Snapshot | None) -> dict[str, object]:
    changes = snapshot.changes if snapshot else ()
    made = generated([change.path for change in changes])  # the last to be named, and nobody's lines
    changes = tuple(sorted(changes, key=lambda change: change.path in made))
    return {
        "commit_id": snapshot.commit if snapshot else None,
        "candidate": snapshot.candidate if snapshot else None,
        "changed": dumps([change.path for change in changes[:_CHANGED_MAX]]),
        "lines": sum((change.added or 0) + (change.deleted or 0) for change in changes if change.path not in made),
    }


def _score(gates: Sequence[GateResult]) -> dict[str, object]:
    hard = [result for result in gates if result.gate.hard]
    failing = {test for result in hard for test in result.failing_tests}
    unnamed = sum(not result.passed and not result.failing_tests for result in hard)
    return {
        "gates_passed": sum(result.passed for result in hard),
        "failing_tests": len(failing) + unnamed if gates else None,
        "gates": dumps(
            [
                view(
                    GateRun,
                    result,
                    name=result.gate.name,
                    hard=result.gate.hard,
                    seconds=round(result.seconds, 3),
                    kind=result.failure.kind if result.failure else None,
                )
                for result in gates
            ]
        ),
    }
