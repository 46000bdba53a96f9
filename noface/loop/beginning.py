"""Begins what the policy wants for an issue that is due: a worker run, a question, or a decision carried out."""

from enum import Enum, auto
from typing import assert_never

from noface.core.actions import Action, Ask, AwaitIssues, Block, Land, RequestApproval, Run, Skip, WaitUntil
from noface.core.history import History
from noface.core.issue import Issue
from noface.git.refs import scratch_branch
from noface.loop.context import RunContext
from noface.loop.crew import Crew
from noface.loop.limits import RunLimits
from noface.loop.orders import make_order
from noface.loop.perform import decide, history, settle
from noface.loop.scratch import taken, wait_for_person
from noface.loop.workers import Workers
from noface.system.failpoints import hit


class Begun(Enum):
    """What was begun. ANSWERED: a question that noface answered itself. UNPAID: more than the run's budget pays for."""

    ATTEMPT = auto()
    QUESTION = auto()
    ANSWERED = auto()
    UNPAID = auto()
    NOTHING = auto()


def begin(context: RunContext, crew: Crew, issue: Issue, accept_failing: int | None, limits: RunLimits) -> Begun:
    """Do what comes next for an issue; a slot must be free."""
    told = history(context, issue)
    action = decide(context, told)
    match action:
        case Ask():
            if limits.refuses(issue.id, action):
                return Begun.UNPAID
            state = context.reader.state(issue.id)
            _record(context, told, action)
            if crew.questions.own(issue, action, state):
                return Begun.ANSWERED
            crew.questions.begin(issue, action, state, crew.workers.take_slot())
            return Begun.QUESTION
        case WaitUntil(provider=False, until=until) if until > context.clock.now():
            settle(context, crew.landing, issue)
            return Begun.NOTHING
        case Block() | Land() | Skip() | RequestApproval() | AwaitIssues():
            settle(context, crew.landing, issue)
            return Begun.NOTHING
        case Run() | WaitUntil():
            if limits.refuses(issue.id, action):
                return Begun.UNPAID
            if (why := taken(context, issue, told.attempts)) is not None:
                wait_for_person(context, told, why)
                return Begun.NOTHING
            _record(context, told, action)
            _attempt(context, issue, action, crew.workers, accept_failing)
            return Begun.ATTEMPT
        case _:
            assert_never(action)


def _record(context: RunContext, told: History, action: Action) -> None:
    """Write down what follows the last attempt where that is not what was written down at its end."""
    last = told.attempts[-1] if told.attempts else None
    if last is not None and last.answer != action.name and last.epoch == told.epoch:
        context.journal.action(context.clock.now(), told.issue.id, last.number, action)


def _attempt(
    context: RunContext, issue: Issue, action: Run | WaitUntil, workers: Workers, accept_failing: int | None
) -> None:
    state = context.reader.state(issue.id)
    slot = workers.take_slot()
    order, prompt_hash = make_order(context, issue, action, slot, state, accept_failing)
    branch = scratch_branch(issue.id).removeprefix("refs/heads/")
    context.journal.attempt_started(
        context.clock.now(), order, epoch=state.epoch, prompt_hash=prompt_hash, branch=branch
    )
    hit("attempt_started")
    workers.submit(order)
