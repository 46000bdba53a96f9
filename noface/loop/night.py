"""One run from lock to last word: recover, preflight, loop. What `noface run` does once its parts are there."""

import os

from noface.core.taxonomy import FailureKind
from noface.errors import EXIT_FAILURE, EXIT_INTERRUPTED
from noface.loop.context import RunContext
from noface.loop.engine import Engine, RunResult
from noface.loop.landing import release_merged
from noface.loop.lifting import lift_blocks
from noface.loop.preflight import preflight
from noface.loop.recover import recover
from noface.loop.upgrade import tell_new_rules
from noface.system.failpoints import hit
from noface.system.supervise import Canceller


def work(context: RunContext, cancel: Canceller) -> RunResult:
    """Settle what a former run left, check that work makes sense, and work. The caller holds the lock.

    Raises what `preflight` raises; then nothing was started.
    """
    used_before = context.reader.last_run() is not None
    context.journal.run_started(context.clock.now(), os.getpid())
    hit("run_started")
    resumed = recover(context)
    try:
        sandbox = context.shop.sandbox
        if sandbox.told:
            context.announce(
                "sandbox", None, {"kind": sandbox.kind, "version": sandbox.version, "why": sandbox.problem}
            )
        tell_new_rules(context, used_before=used_before)
        context.announce("preflight", None, {"main": context.shop.plumbing.repository.main_name})
        found = preflight(context, cancel)
        context.known = found.known
        for result in found.results:
            key = context.shop.key(result.tree, result.gate)
            if result.tests_run:
                context.shop.seen.counts[result.gate.command] = result.tests_run
            if result.failure is None:
                context.memo[key] = result
        external = tuple(kind.value for kind in FailureKind if kind.category.external)
        lift_blocks(context, external, "its cause lay outside it; tried again")
        ended = Engine(context).run(resumed)
        release_merged(context)
    except BaseException as error:
        code = EXIT_INTERRUPTED if isinstance(error, KeyboardInterrupt) else getattr(error, "exit_code", EXIT_FAILURE)
        context.journal.run_ended(
            context.clock.now(), code, str(error).splitlines()[0] if str(error) else "interrupted"
        )
        raise
    context.journal.run_ended(context.clock.now(), ended.exit_code, ended.why)
    return ended
