"""Counts how often noface died without a word while an issue was worked on, and blocks the issue that may be why.

An attempt can kill noface: by its process id, or by using up the memory. It would be repeated, and paid for, at every
start. A stop by signal is recorded and is no death, neither is one with the machine: that has another boot id then.
"""

from dataclasses import dataclass

from noface.core.actions import Block
from noface.core.issue import Issue
from noface.core.taxonomy import INTERRUPTED, FailureKind
from noface.loop.context import RunContext
from noface.loop.perform import block, history
from noface.store.reader import OpenAttempt

DEATHS_MAX = 2
_BOOT = "boot"


@dataclass(frozen=True, slots=True)
class LastEnd:
    """How the noface before this one ended: `unexplained` where it left work open and the machine ran on."""

    unexplained: bool


def note_boot(context: RunContext) -> LastEnd:
    """Remember this start of the machine; return whether the noface before died within the same one."""
    before = context.reader.fact(_BOOT)
    now = context.boot
    context.journal.fact(_BOOT, now)
    return LastEnd(bool(now) and before == now and context.reader.cut_off_before(context.run_id))


def count_death(context: RunContext, attempt: OpenAttempt, last: LastEnd) -> int:
    """Record a death of noface during an open attempt where it is unexplained; return how many in a row there are."""
    if not last.unexplained:
        return 0
    epoch = context.reader.state(attempt.issue_id).epoch
    deaths = context.reader.deaths(attempt.issue_id, epoch, _last_ended(context, attempt.issue_id)) + 1
    context.journal.event(
        context.clock.now(), "noface_died", attempt.issue_id, number=attempt.number, epoch=epoch, deaths=deaths
    )
    return deaths


def block_for_deaths(context: RunContext, attempt: OpenAttempt, issue: Issue | None, deaths: int) -> bool:
    """Block the issue of an attempt that noface died in too often; tell whether it did."""
    if deaths < DEATHS_MAX:
        return False
    told = history(context, issue or Issue(attempt.issue_id, attempt.issue_id))
    reason = (
        f"noface itself died {deaths} times, without a word and without a restart of the machine, while attempt"
        f" {attempt.number} was under way: it may kill noface, or use up the memory. Look at {attempt.directory} and at"
        f" the system's log (`journalctl -k`, `dmesg`: out of memory?); then `noface retry {attempt.issue_id}`"
    )
    block(context, told.issue, Block(FailureKind.AGENT_CRASH, reason), told)
    return True


def _last_ended(context: RunContext, issue_id: str) -> int:
    """Return the number of the newest attempt that came to an end of its own."""
    past = context.reader.past(issue_id)
    return max((one.number for one in past if one.outcome and one.outcome != INTERRUPTED), default=0)
