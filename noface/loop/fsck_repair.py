"""Carries out the repairs of a check: what a run does at its start, and what only a check sees."""

from collections.abc import Iterable

from noface.core.fsck_findings import Finding, Repair, RepairKind
from noface.errors import GitError
from noface.git.landing import landing, remove_own_ref_locks, settle_forgotten
from noface.git.private_git_dir import config_text, write_if_new
from noface.git.refs import ZERO, RefUpdate
from noface.loop.context import RunContext
from noface.loop.landing import release_merged
from noface.loop.recover import recover


def repair(context: RunContext, findings: Iterable[Finding]) -> None:
    """Repair what is safe. The caller holds the lock; nothing of a person's is touched.

    Attempts whose work only needs judging stay open: the next run judges them.
    """
    recover(context)
    settle_forgotten(context.shop.plumbing)
    release_merged(context)
    for each in findings:
        if each.repair is not None:
            _carry_out(context, each.repair)


def _carry_out(context: RunContext, asked: Repair) -> None:
    now, journal, plumbing = context.clock.now(), context.journal, context.shop.plumbing
    match asked.kind:
        case RepairKind.RECOVER | RepairKind.RELEASE:
            pass  # done for all of them at once
        case RepairKind.END_RUNS:
            journal.runs_cut_off(now)
        case RepairKind.MARK_MERGED:
            journal.merged(now, asked.subject, asked.oid)
        case RepairKind.HOLD:
            _hold(context, asked.subject, asked.oid)
        case RepairKind.RECOUNT:
            journal.recount(asked.subject)
        case RepairKind.UNLOCK:
            with landing(plumbing):  # so that no git of an earlier landing holds it
                remove_own_ref_locks(plumbing, asked.oid)
        case RepairKind.REWRITE_HUB:
            git_dir = plumbing.repository.private_git_dirs / asked.subject
            write_if_new(git_dir / "config", config_text(plumbing.repository))


def _hold(context: RunContext, ref: str, oid: str) -> None:
    """Make a ref; where there is one meanwhile it is left, and the next check tells of it."""
    try:
        context.shop.plumbing.refs.apply(RefUpdate(ref, oid, ZERO))
    except GitError:
        return
