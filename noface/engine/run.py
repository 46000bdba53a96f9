"""One run on a page: settle what an earlier one left, check that work makes sense, the loop, the last word."""

import os
from contextlib import suppress
from functools import partial

from noface.engine.context import RunContext
from noface.engine.engine import Engine
from noface.engine.faults import Faults, OwnFaultError, twice
from noface.engine.ground import follow, settle_following, take_ground
from noface.engine.landing.commits import message_note, settle_signing
from noface.engine.main_holds import compare_with_main
from noface.engine.outages import ask_again, lift_blocks
from noface.engine.parts import Elsewhere
from noface.engine.planner import RunResult
from noface.engine.preflight import announce_tests, preflight
from noface.engine.readiness import checkout_findings
from noface.engine.recover import recover
from noface.engine.retention import tidy_up
from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_FAILURE, EXIT_INTERRUPTED, BaselineRedError, LockLostError
from noface.model.attempt import AttemptOrder
from noface.model.gate import GateResult, gates_at_once
from noface.model.quoting import some
from noface.model.request import NOTHING_ASKED
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.process.command import Canceller
from noface.process.failpoints import hit
from noface.store.overview import HOSTS

_GLOBS_MAX = 3


def run_session(context: RunContext, cancel: Canceller, elsewhere: Elsewhere) -> RunResult:
    """Settle what an earlier run left, check that work makes sense, and work. The caller holds the lock."""
    journal, clock, faults = context.journal, context.clock, Faults(context)
    journal.run_started(clock.now(), os.getpid())
    if context.reader.fact(HOSTS):
        journal.fact(HOSTS, "")  # those of this run have yet to be seen
    try:
        with elsewhere.held(context, cancel):
            resumed = twice(faults, "the checks before a run", partial(_prepared, context, cancel, elsewhere))
            exit_code, why = Engine(context, elsewhere.stations, faults).run(resumed)
        with suppress(OwnFaultError):  # told already; what is left is tidied up after the next run
            twice(faults, "tidying up", partial(tidy_up, context))
        only = context.settings.only_issues
        for row in context.reader.issues() if exit_code == EXIT_ATTENTION and not context.settings.once else ():
            if row.present and row.status == IssueStatus.BLOCKED and (not only or row.id in only):
                reason = f"blocked: {row.reason}; no independent work remains"
                journal.person_asked(clock.now(), row.id, reason, row.block or NOTHING_ASKED)
    except BaseException as error:
        _record_failure(context, error)
        raise
    journal.run_ended(clock.now(), exit_code, why)
    return exit_code, why


def _prepared(context: RunContext, cancel: Canceller, elsewhere: Elsewhere) -> tuple[AttemptOrder, ...]:
    hit("run_started")
    resumed = recover(context)
    settle_following(context)
    decided = take_ground(context, cancel)
    compare_with_main(context)
    _tell_settings(context)
    elsewhere.check(context, cancel)
    landing = context.settings.config.landing.mode.name.lower().replace("_", "-")
    context.announce("preflight", None, {"main": context.env.plumbing.repository.main_name, "landing": landing})
    results = preflight(context, cancel)
    announce_tests(context, results)
    _remember(context, results)
    follow(context, decided)
    external = tuple(kind.value for kind in FailureKind if kind.category.external)
    lift_blocks(context, external, "its cause lay outside it; tried again")
    ask_again(context)
    return resumed


def _tell_settings(context: RunContext) -> None:
    sandbox, plumbing = context.env.sandbox, context.env.plumbing
    if sandbox.kind != "none" or sandbox.problem:
        context.announce("sandbox", None, {"kind": sandbox.kind, "version": sandbox.version, "why": sandbox.problem})
    if known := (*context.settings.idle, *filter(None, (settle_signing(context), message_note(context)))):
        context.announce("idle_settings", None, {"what": list(known)})
    notes = [one for one in checkout_findings(plumbing, plumbing.main()) if one.exit_code == EXIT_DONE]
    if notes:
        context.announce("checkout_lacks", None, {"what": [f"{one.text} ({one.fix})" for one in notes]})
    allowed = context.env.diff_limits.test_keys
    more = f", {some(allowed, _GLOBS_MAX)} ([limits] test_keys)" if allowed else ""
    context.announce("keys_unseen", None, {"files": list(allowed), "more": more})


def _record_failure(context: RunContext, error: BaseException) -> None:
    code = EXIT_INTERRUPTED if isinstance(error, KeyboardInterrupt) else getattr(error, "exit_code", EXIT_FAILURE)
    if not isinstance(error, LockLostError):  # then the database may be another's
        context.keep_hold()  # if that is lost, it is why
        why = str(error).splitlines()[0] if str(error) else "interrupted"
        if isinstance(error, BaselineRedError):
            context.log_event("main_red", None, text=str(error))
        context.journal.run_ended(context.clock.now(), code, why)


def _remember(context: RunContext, results: tuple[GateResult, ...]) -> None:
    given, cores = context.settings.config.run.gates_at_once, os.cpu_count() or 1
    context.env.turns.limit = given or gates_at_once(results, cores)
    for result in results:
        if result.failure is None:
            context.env.memory.remember(context.env.key(result.tree, result.gate), result)
