"""What waits to land, and what holds it up."""

from dataclasses import dataclass

from noface.git.fast_forward import Blocked
from noface.model.gate import Proof
from noface.model.issue import Issue

_HELD_RETRY_S, _HELD_PAUSE_S = 5.0, 300.0
"""Until what is held up is tried again, and how much later at most while others land."""
_PASSING_RETRY_S = 0.5
PATIENCE_S = 30.0
"""How long a run with nothing else to do waits for another git's lock before it ends with the issue in landing.

An editor's git, or a commit with slow hooks, holds one for seconds; a lock that stays longer usually has no holder.
"""


@dataclass(slots=True)
class QueueEntry:
    """A passed attempt that waits to land; `held` says what of the person's is in the way, until `not_before`.

    `passing_since` is set if such a thing usually goes by itself. `proof` is the attempt's own, for the main it began
    on; `mains` are where main stood when work began. `ready_at` is since when only a last look is missing.
    """

    issue: Issue
    number: int
    candidate: str
    proof: Proof | None = None
    not_before: float = 0.0
    held: str = ""
    cause: tuple[str, bool] = ("", False)
    passing_since: float | None = None
    mains: frozenset[str] = frozenset()
    ready_at: float | None = None
    holds: int = 0

    def due(self, now: float, *, rest: bool) -> bool:
        """True if it may be tried; what is held up is less and less often, where there is a `rest` to land."""
        is_held = self.held and self.passing_since is None and rest
        return self.not_before + (min(_HELD_PAUSE_S, 2.0**self.holds) if is_held else 0.0) <= now

    def hold_up(self, held: Blocked, now: float, until: float | None) -> bool:
        """Note that something is in the way, until it is tried again; tell whether that is news."""
        if not held.passing:
            self.passing_since = None
        elif self.passing_since is None:
            self.passing_since = now
        reason = held.reason + (f": {', '.join(held.paths)}" if held.paths else "")
        self.held, self.holds = self.held or reason, self.holds + 1
        self.not_before = until or now + (_PASSING_RETRY_S if held.passing else _HELD_RETRY_S)
        # The reason names the age of a lock: it is shown when the lock appears, and when it has stayed.
        cause = held.passing or reason, not self.worth_waiting(now)
        if self.cause == cause:
            return False
        self.cause, self.held = cause, reason
        return True

    def worth_waiting(self, now: float) -> bool:
        """True if a run should go on for this entry alone."""
        return not self.held or (self.passing_since is not None and now < self.passing_since + PATIENCE_S)
