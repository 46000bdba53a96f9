"""Before a worker is paid: can its work be proposed, and which pull requests are open already? Only reads."""

from noface.attempt.environment import landing_message
from noface.engine.context import RunContext
from noface.engine.landing.commits import trailers
from noface.errors import ForgeAwayError, ForgeError, RemoteError, UsageError
from noface.forge.github import Forge
from noface.git.refs import branch_name
from noface.process.command import Canceller
from noface.remote.taking_over import learn

_HOW = '[landing] how = "pull-request"'


def check_publishing(context: RunContext, cancel: Canceller) -> None:
    """See that work can be pushed and proposed; learn of pull requests that a lost database knew.

    If the other side does not answer, the run goes on. Raises UsageError and ForgeError.
    """
    if not context.settings.config.landing.by_pull_request:
        return
    remote, forge = context.remote, context.forge
    if remote is None or forge is None:
        raise UsageError(
            f"{_HOW}: this repository has no git remote to push to.",
            "Add it: git remote add origin git@github.com:OWNER/NAME.git; or leave `how` out, and work lands on main.",
        )
    try:
        forge.check_access()
        _check_rules(context, forge)
        learn(context, remote, forge, cancel)
    except ForgeAwayError as error:
        context.forge_away = error
        context.log_event("forge_away", None, until=error.until, reason=error.message)
    except RemoteError as error:
        if not error.passing:
            raise
        context.log_event("forge_away", None, until=context.clock.now(), reason=error.message)


def _check_rules(context: RunContext, forge: Forge) -> None:
    """Raise ForgeError if the repository's rules refuse each push; what they may refuse only is told."""
    issues = context.tracker.backlog().issues
    branch = branch_name(issues[0].id if issues else "1")
    messages = tuple(landing_message(issue, 1, trailers=trailers(context)) for issue in issues)
    context.linear_branches = forge.wants_linear(branch)
    signed = context.settings.config.landing.sign
    refusals = forge.refusals(branch, context.env.plumbing.repository.identity.email, messages)
    refusals = tuple(each for each in refusals if not (signed and each.kind == "required_signatures"))
    if certain := next((each for each in refusals if each.certain), None):
        raise ForgeError(f"What noface would push to {branch} is refused: {certain.text}.", certain.advice)
    if refusals:
        context.announce(
            "rules_may_refuse", None, {"reason": " ".join(f"{each.text}. {each.advice}" for each in refusals)}
        )
