"""Says once, at the first run of a newer noface, what it refuses and an earlier one let pass, with the keys.

`RULES` is raised whenever a release refuses more than the one before.
"""

import os

from noface.core.environment_rules import kept_from_gates
from noface.core.gate import GateKind
from noface.core.patterns import matches_any
from noface.core.protection import always_protected
from noface.core.quoting import some
from noface.loop.context import RunContext

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
    passed = context.shop.passed
    kept = kept_from_gates(os.environ, passed)
    if not kept:
        return ""
    return f"gates no longer get {some(kept, _NAMES_SHOWN_MAX)}: [[gates]] env_pass names what they need of it"


def _sandbox(context: RunContext) -> str:
    if context.shop.sandbox.kind != "bubblewrap":
        return ""
    return 'workers and gates run in a sandbox: [sandbox] kind = "none" turns it off, `show` and `write` open it'


def _protected(context: RunContext) -> str:
    plumbing = context.shop.plumbing
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
