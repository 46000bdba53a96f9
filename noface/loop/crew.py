"""All that works for a run at the same time: workers, checks, questions, epics, and the merge queue."""

from dataclasses import dataclass

from noface.core.overrun import Overrun
from noface.loop.accept_checks import AcceptChecks
from noface.loop.consultations import Consultations
from noface.loop.context import RunContext
from noface.loop.epics import Epics
from noface.loop.landing import MergeQueue
from noface.loop.workers import Workers


@dataclass(frozen=True, slots=True)
class UnderWay:
    """A model at work on an issue."""

    issue_id: str
    model: str
    think: bool = False


class Crew:
    """Whom the conductor sets to work; they share the workers' slots."""

    def __init__(self, context: RunContext) -> None:
        self.workers = Workers(context)
        self.checks = AcceptChecks(context)
        self.questions = Consultations(context)
        self.epics = Epics(context)
        self.landing = MergeQueue(context)

    @property
    def issues(self) -> frozenset[str]:
        """The issues that somebody is at work on; landing is not work on an issue."""
        return frozenset().union(*(each.issues for each in (self.workers, self.checks, self.questions, self.epics)))

    @property
    def models(self) -> frozenset[str]:
        """The models that are at work."""
        return frozenset(self.workers.models | self.questions.models)

    def idle(self, *, draining: bool) -> bool:
        """Tell whether nobody is at work. While `draining` what merely waits to land counts as nothing."""
        landing = self.landing.working if draining else self.landing.busy
        return not self.issues and not len(self.workers) and not landing

    def stop(self, *, everything: bool, urgent: bool) -> None:
        """End what is under way; what is being judged or landed may finish, unless it is `urgent` or `everything`."""
        self.checks.stop(urgent=urgent)
        self.questions.stop(urgent=urgent)
        self.epics.stop(urgent=urgent)
        self.workers.stop(everything=everything, urgent=urgent)
        if urgent or everything:
            self.landing.stop(urgent=urgent)

    @property
    def paid(self) -> tuple[UnderWay, ...]:
        """What costs money and can be ended; what is judged or landed goes on."""
        orders = (running.order for running in self.workers if running.endable)
        attempts = (UnderWay(order.issue.id, order.model.name, think=order.think) for order in orders)
        return (*attempts, *(UnderWay(each.issue.id, each.model.name) for each in self.questions.endable))

    def end(self, issue_id: str, over: Overrun) -> None:
        """End what costs money on an issue, because it did."""
        self.workers.end(issue_id, over)
        self.questions.end(issue_id, over)

    def close(self) -> None:
        """End everything at once and let go of what it held."""
        self.workers.stop(everything=True, urgent=True)
        self.landing.stop(urgent=True)
        for each in (self.checks, self.questions, self.epics, self.landing):
            each.close()
