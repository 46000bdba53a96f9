"""Where attempts are carried out: here, unless a run has hosts (the room `hosts`)."""

from dataclasses import dataclass

from noface.attempt.attempt import Attempt
from noface.attempt.run import run_attempt
from noface.model.attempt import AttemptReport


@dataclass(slots=True)
class LocalExecutor:
    """Carries attempts out in this machine's workspaces, `here` of them."""

    here: int

    @property
    def slots(self) -> int:
        """How many attempts there can be at once, also if no slot is closed. The first `here` are of this machine."""
        return self.here

    def is_open(self, slot: int) -> bool:
        return slot < self.here

    def place(self, slot: int) -> str:
        """Return the host that a slot belongs to, "" for this machine."""
        del slot
        return ""

    def carry_out(self, attempt: Attempt) -> AttemptReport:
        """Carry an attempt out; raises as `run_attempt`."""
        return run_attempt(attempt)
