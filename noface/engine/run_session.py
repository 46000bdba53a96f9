"""One run from lock to last word: recover, preflight, loop. What `noface run` does once its parts are there."""

import os

from noface.engine.context import RunContext
from noface.engine.dispatch import lift_blocks
from noface.engine.engine import Engine, RunResult
from noface.engine.landing import release_merged
from noface.engine.preflight import preflight
from noface.engine.recover import recover
from noface.errors import EXIT_FAILURE, EXIT_INTERRUPTED
from noface.model.gate import GateKind
from noface.model.patterns import matches_any
from noface.model.protection import always_protected
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind
from noface.process.failpoints import hit
from noface.process.supervise import Canceller
from noface.secrets.environment import kept_from_gates

RULES = "3"
_FACT = "rules"
_NAMES_SHOWN_MAX = 8


def tell_new_rules(context: RunContext, *, used_before: bool) -> None:
    """Announce what is refused from now on in this project; nothing where it was told, or never ran an older noface."""
    if context.reader.fact(_FACT) == RULES:
        return
    told = (_environment(context), _sandbox(context), _protected(context), _isolation(context), *_JUDGES)
    changes = [line for line in told if line]
    if used_before and changes:
        context.announce("rules_changed", None, {"what": changes})
    context.journal.fact(_FACT, RULES)


def _environment(context: RunContext) -> str:
    passed = context.env.passed
    kept = kept_from_gates(os.environ, passed)
    if not kept:
        return ""
    return f"gates no longer get {some(kept, _NAMES_SHOWN_MAX)}: [[gates]] env_pass names what they need of it"


def _sandbox(context: RunContext) -> str:
    if context.env.sandbox.kind != "bubblewrap":
        return ""
    return 'workers and gates run in a sandbox: [sandbox] kind = "none" turns it off, `show` and `write` open it'


def _protected(context: RunContext) -> str:
    plumbing = context.env.plumbing
    found = tuple(path for path in plumbing.paths(plumbing.main()) if matches_any(path, always_protected()))
    if not found:
        return ""
    return f"workers' edits of {some(found, _NAMES_SHOWN_MAX)} are undone: `may_change` in an issue's file allows them"


def _isolation(context: RunContext) -> str:
    gates = context.settings.gates
    if not any(gate.kind is GateKind.TEST and not gate.leaky for gate in gates):
        return ""
    return (
        "gates no longer see your checkout, and a test gate must fail on broken sources: [run] allow_leaky_gates lets"
        " others run"
    )


_JUDGES = (
    "a gate that changes files of the work fails: `fixes = true` in its [[gates]] entry makes that part of the work",
    "work that is green only with its own tests or settings does not land: `may_change` in an issue's file allows it",
)


def run_session(context: RunContext, cancel: Canceller) -> RunResult:
    """Settle what a former run left, check that run_session makes sense, and run_session. The caller holds the lock.

    Raises what `preflight` raises; then nothing was started.
    """
    used_before = context.reader.last_run() is not None
    context.journal.run_started(context.clock.now(), os.getpid())
    hit("run_started")
    resumed = recover(context)
    try:
        sandbox = context.env.sandbox
        if sandbox.told:
            context.announce(
                "sandbox", None, {"kind": sandbox.kind, "version": sandbox.version, "why": sandbox.problem}
            )
        tell_new_rules(context, used_before=used_before)
        context.announce("preflight", None, {"main": context.env.plumbing.repository.main_name})
        found = preflight(context, cancel)
        context.known = found.known
        for result in found.results:
            key = context.env.key(result.tree, result.gate)
            if result.tests_run:
                context.env.seen.counts[result.gate.command] = result.tests_run
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
