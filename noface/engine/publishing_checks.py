"""Before a worker is paid: can its work be proposed, and which pull requests are open already? Only reads."""

from noface.engine.context import RunContext
from noface.engine.taking_over import learn
from noface.errors import ForgeAwayError, RemoteError, UsageError
from noface.process.command import Canceller

_HOW = '[landing] how = "pull-request"'


def check_publishing(context: RunContext, cancel: Canceller) -> None:
    """See that work can be pushed and proposed, where it is to be; learn of pull requests that a lost database knew.

    Where the other side does not answer, the run goes on: what it proves is published later. Raises UsageError where
    there is no remote, ForgeError where the token may not do what is needed.
    """
    if not context.settings.landing.pull_request:
        return
    remote, forge = context.remote, context.forge
    if remote is None or forge is None:
        raise UsageError(
            f"{_HOW}: this repository has no git remote to push to.",
            "Add it: git remote add origin git@github.com:OWNER/NAME.git; or leave `how` out, and work lands on main.",
        )
    try:
        forge.check_access()
        learn(context, remote, forge, cancel)
    except ForgeAwayError as error:
        context.forge_away = error.until, error.message
        context.log_event("forge_away", None, until=error.until, reason=error.message)
    except RemoteError as error:
        if not error.passing:
            raise
        context.log_event("forge_away", None, until=context.clock.now(), reason=error.message)
