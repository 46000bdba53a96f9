"""Says once what somebody else than noface changed in the repository while attempts were at work."""

from noface.core.attempt import AttemptOrder
from noface.git.survey import Outside, differences, look_outside, main_moved
from noface.loop.context import RunContext

_SHORT = 12


class OutsideChanges:
    """Compares the repository at the ends of attempts with how it was; for the loop's thread only."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._last: Outside | None = None

    def begins(self, *, alone: bool) -> None:
        """Take the repository as it is for known, where no attempt was at work before this one."""
        if alone or self._last is None:
            self._last = look_outside(self._context.shop.plumbing)

    def ended(self, order: AttemptOrder) -> tuple[str, ...]:
        """Return, and announce, what was changed since the last look; each change is told for one attempt."""
        context, plumbing = self._context, self._context.shop.plumbing
        before, now = self._last, look_outside(plumbing)
        self._last = now
        if before is None:
            return ()
        main = plumbing.repository.main
        found = [
            f"{what} while attempt {order.number} was at work, not by noface" for what in differences(before, now, main)
        ]
        old, new = before.refs.get(main), now.refs.get(main)
        if old is not None and new is not None and main_moved(plumbing, old, new, context.reader.landed_commits()):
            span = f"{old[:_SHORT]}..{new[:_SHORT]}"
            found.insert(
                0,
                f"main moved from {old[:_SHORT]} to {new[:_SHORT]} while attempt {order.number} was at work,"
                f" not by noface: git log {span}",
            )
        if found:
            context.journal.event(
                context.clock.now(), "repository_changed", order.issue.id, number=order.number, what=found
            )
        return tuple(found)
