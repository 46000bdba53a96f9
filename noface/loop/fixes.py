"""Takes what a gate with `fixes` wrote into the work: a formatter's or a linter's own changes, gated anew."""

from dataclasses import replace

from noface.core.attempt import AttemptOrder, AttemptReport
from noface.core.failure import Failure
from noface.core.gate import GateSpec
from noface.core.quoting import some
from noface.core.taxonomy import FailureKind
from noface.git.plumbing import make_and_hold
from noface.git.refs import hold_ref
from noface.loop.gating import Gated, gate_tree
from noface.loop.messages import attempt_message
from noface.loop.workshop import Tell, Workshop
from noface.system.supervise import Canceller

_SHOWN_MAX = 10


def with_fixes(
    order: AttemptOrder, shop: Workshop, report: AttemptReport, main: str, gated: Gated, cancel: Canceller, tell: Tell
) -> tuple[AttemptReport, Gated | None]:
    """Take what a gate with `fixes` wrote into the work, and gate the result; once, and in files of the change only."""
    gate = gated.results[-1].gate
    plumbing = shop.plumbing
    allowed = {change.path for change in plumbing.diff(main, gated.tree).changes}
    written = tuple(change.path for change in plumbing.diff(gated.tree, gated.fixed).changes)
    others = tuple(path for path in written if path not in allowed)
    if others:
        return report, replace(gated, failure=_not_its_own(gate, others))
    snapshot = report.snapshot
    assert snapshot is not None  # noqa: S101 - gated work has one
    before, message = snapshot.candidate, attempt_message(order, "")
    commit = make_and_hold(
        plumbing,
        hold_ref(order.issue.id, str(order.number)),
        order.start,
        lambda: plumbing.commit_tree(gated.fixed, (before,), message),
        str,
    )
    changes = plumbing.diff(main, gated.fixed).changes
    snapshot = replace(snapshot, candidate=commit, candidate_tree=gated.fixed, changes=changes)
    note = f"the gate {gate.name} changed {some(written, _SHOWN_MAX)}; that became part of the work"
    report = replace(report, snapshot=snapshot, notes=(*report.notes, note))
    again = gate_tree(order, shop, gated.fixed, commit, main, cancel, tell, known=order.known_failures)
    if again is not None and again.fixed:
        return report, replace(again, failure=_never_done(gate, some(written, _SHOWN_MAX)))
    return report, again


def _not_its_own(gate: GateSpec, paths: tuple[str, ...]) -> Failure:
    message = (
        f"gate {gate.name}: it changed files that the work does not touch: {some(paths, _SHOWN_MAX)}."
        " Have main as this gate wants it first, or leave these files out of it"
    )
    return Failure(
        FailureKind.MISCONFIGURED,
        message,
        rule="gate-fixed-others",
        signature=f"gate-fixed-others:{','.join(paths)}",
        evidence=paths[:_SHOWN_MAX],
        gate=gate.name,
        charged=False,
    )


def _never_done(gate: GateSpec, written: str) -> Failure:
    return Failure(
        FailureKind.MISCONFIGURED,
        f"gate {gate.name}: it changed {written}, and run on the result a gate changes files again: it never ends",
        rule="gate-fixes-again",
        signature="gate-fixes-again",
        gate=gate.name,
        charged=False,
    )
