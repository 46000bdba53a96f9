"""The attempts under way, and the workspaces they hold."""

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass

from noface.core.attempt import AttemptOrder, AttemptReport
from noface.core.overrun import Overrun
from noface.loop.context import RunContext
from noface.loop.workshop import Progress

_ENDED_AT_ONCE = ("workspace", "agent")
"""In these phases a stop ends an attempt; in the others it is being judged, which is soon done."""


@dataclass(frozen=True, slots=True)
class AttemptEnded:
    """Message to the loop: an attempt's future is done."""

    token: str


@dataclass(slots=True)
class Running:
    """An attempt under way and the phase it was last seen in. `over` is why it was ended for money."""

    order: AttemptOrder
    future: "Future[AttemptReport]"
    phase: str = "workspace"
    cancelled: bool = False
    over: Overrun | None = None

    @property
    def endable(self) -> bool:
        """True while it is at work and nobody has ended it."""
        return self.phase in _ENDED_AT_ONCE and not self.cancelled


class Workers:
    """Starts and stops attempts. Slots are numbers; who takes one gives it back."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._running: dict[str, Running] = {}
        self._free = list(range(context.settings.workers))

    def __iter__(self) -> Iterator[Running]:
        return iter(tuple(self._running.values()))

    def __len__(self) -> int:
        return len(self._running)

    @property
    def free(self) -> int:
        """How many more can start."""
        return len(self._free)

    @property
    def issues(self) -> frozenset[str]:
        """The issues being worked on."""
        return frozenset(running.order.issue.id for running in self._running.values())

    @property
    def models(self) -> frozenset[str]:
        """The models at work."""
        return frozenset(running.order.model.name for running in self._running.values())

    def model_of(self, issue_id: str) -> str | None:
        """Return the model at work on an issue."""
        orders = (running.order for running in self._running.values())
        return next((order.model.name for order in orders if order.issue.id == issue_id), None)

    def take_slot(self) -> int:
        """Return a free slot, which is then taken."""
        return self._free.pop(0)

    def give_slot(self, slot: int) -> None:
        """Make a slot free again."""
        self._free.append(slot)

    def submit(self, order: AttemptOrder) -> None:
        """Start an order in its slot."""
        if order.slot in self._free:
            self._free.remove(order.slot)
        future = self._context.executor.submit(order)
        self._running[order.token] = Running(order, future)
        future.add_done_callback(lambda _: self._context.inbox.put(AttemptEnded(order.token)))

    def ended(self, token: str) -> Running:
        """Take an attempt that has ended off the list; its slot is free."""
        running = self._running.pop(token)
        self.give_slot(running.order.slot)
        return running

    def saw(self, progress: Progress) -> None:
        """Remember the phase an attempt is in."""
        for running in self._running.values():
            if running.order.issue.id == progress.issue_id:
                running.phase = progress.phase

    def end(self, issue_id: str, over: Overrun) -> None:
        """End the attempt that is at work on an issue for money, unless it is being judged already."""
        for running in self._running.values():
            if running.order.issue.id == issue_id and running.endable:
                running.cancelled, running.over = True, over
                self._context.executor.cancel(running.order.token, urgent=False)

    def stop(self, *, everything: bool, urgent: bool) -> None:
        """End the attempts that are at work, or all of them."""
        for running in self._running.values():
            wanted = everything or urgent or running.phase in _ENDED_AT_ONCE
            if wanted and (urgent or not running.cancelled):
                running.cancelled = True
                self._context.executor.cancel(running.order.token, urgent=urgent)
