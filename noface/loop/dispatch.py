"""Begins what the policy wants for an issue that is due: a worker run, a question, or a decision carried out."""

from collections.abc import Callable
from enum import Enum, auto
from functools import partial
from typing import assert_never

from noface.core.actions import Action, Ask, AwaitIssues, Block, Land, RequestApproval, Run, Skip, WaitUntil
from noface.core.attempt import AttemptOrder, AttemptReport
from noface.core.history import History
from noface.core.issue import Issue
from noface.git.refs import scratch_branch
from noface.loop.advisors import Advisors
from noface.loop.attempt import run_attempt
from noface.loop.budget_guard import RunLimits
from noface.loop.context import RunContext
from noface.loop.jobs import Job, JobKind, Jobs
from noface.loop.landing import MergeQueue
from noface.loop.orders import make_order
from noface.loop.perform import apply_action, decide, history
from noface.loop.scratch import taken, wait_for_person
from noface.system.canceller import Canceller
from noface.system.failpoints import hit

AttemptEnded = Callable[[AttemptOrder, Job[AttemptReport]], None]


class Begun(Enum):
    """What was begun. ANSWERED: a question that noface answered itself. UNPAID: more than the run's budget pays for."""

    ATTEMPT = auto()
    QUESTION = auto()
    ANSWERED = auto()
    UNPAID = auto()
    NOTHING = auto()


class Dispatch:
    """Starts jobs on issues. `ended` is what the loop does with an attempt that has ended."""

    def __init__(
        self, context: RunContext, jobs: Jobs, landing: MergeQueue, limits: RunLimits, ended: AttemptEnded
    ) -> None:
        self._context = context
        self._jobs = jobs
        self._landing = landing
        self._limits = limits
        self._ended = ended
        self._advisors = Advisors(context, jobs)

    def begin(self, issue: Issue, accept_failing: int | None) -> Begun:
        """Do what comes next for an issue; a slot must be free."""
        context, limits = self._context, self._limits
        told = history(context, issue)
        action = decide(context, told)
        match action:
            case WaitUntil(provider=False, until=until) if until > context.clock.now():
                apply_action(context, self._landing, told, action)
                return Begun.NOTHING
            case Run() | WaitUntil() | Ask() if limits.refuses(issue.id, action):
                return Begun.UNPAID
            case Ask():
                self._record(told, action)
                if self._advisors.answer_itself(told, action):
                    return Begun.ANSWERED
                self._advisors.begin(told, action, context.reader.state(issue.id))
                return Begun.QUESTION
            case Run() | WaitUntil():
                if (why := taken(context, issue, told.attempts)) is not None:
                    wait_for_person(context, told, why)
                    return Begun.NOTHING
                self._record(told, action)
                self._attempt(told, action, accept_failing)
                return Begun.ATTEMPT
            case Block() | Land() | Skip() | RequestApproval() | AwaitIssues():
                apply_action(context, self._landing, told, action)
                return Begun.NOTHING
            case _:
                assert_never(action)

    def _record(self, told: History, action: Action) -> None:
        """Write down what follows the last attempt where that is not what was written down at its end."""
        last = told.attempts[-1] if told.attempts else None
        if last is not None and last.answer != action.name and last.epoch == told.epoch:
            self._context.journal.action(self._context.clock.now(), told.issue.id, last.number, action)

    def _attempt(self, told: History, action: Run | WaitUntil, accept_failing: int | None) -> None:
        context, issue = self._context, told.issue
        note = context.reader.state(issue.id).note
        order, prompt_hash = make_order(context, told, action, self._jobs.take_slot(), note, accept_failing)
        branch = scratch_branch(issue.id).removeprefix("refs/heads/")
        context.journal.attempt_started(
            context.clock.now(), order, epoch=told.epoch, prompt_hash=prompt_hash, branch=branch
        )
        hit("attempt_started")
        self.submit(order)

    def submit(self, order: AttemptOrder) -> None:
        """Start the attempt of an order, in its slot."""
        context, model = self._context, order.model.name

        def run(cancel: Canceller) -> AttemptReport:
            return run_attempt(order, context.shop, cancel, context.inbox.put)

        done = partial(self._ended, order)
        self._jobs.start(Job(JobKind.ATTEMPT, order.issue.id, run, done, order.slot, model, think=order.think))
