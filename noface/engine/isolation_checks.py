"""Checks whether gates judge the workspace, and whether sandbox or environment keep from them what they need.

The canary: with broken sources a gate must turn red, or an installed copy would be tested in place of the change.
A red gate runs outside the sandbox only while main is a person's alone: later gates run agents' code.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from noface.attempt.environment import LANDING_SLOT, Scope, Setup
from noface.attempt.gating import main_task, run_gates
from noface.attempt.isolation import checkouts, gate_variables, home_of
from noface.attempt.prepare import Preparation, forget_setup
from noface.attempt.worker.out_of_reach import closed_places, unseen_places
from noface.engine.context import RunContext
from noface.git.landings import has_landings
from noface.git.plumbing import Plumbing, store_text
from noface.integrity.judges import broken, sources
from noface.integrity.named_files import run_scripts
from noface.model.failure import Failure
from noface.model.gate import GateKind, GateResult, GateSpec, gate_key
from noface.process.environment import gate_environment
from noface.process.supervise import Canceller
from noface.secrets.environment import kept_from_gates

_FACT = "isolated"
_REMEMBERED_MAX = 200


def leaks(context: RunContext, green: tuple[GateSpec, ...], cancel: Canceller) -> tuple[GateSpec, ...]:
    """Return which hard test gates, `green` on main, stay green with main's sources broken; asked once a gate."""
    env = context.env
    isolated_keys = tuple(json.loads(context.reader.fact(_FACT) or "[]"))
    asked = (gate for gate in green if gate.kind is GateKind.TEST and gate.hard and not gate.leaky)
    keys = {gate: _key(gate, env.fingerprint(gate)) for gate in asked}
    unknown = [gate for gate, key in keys.items() if gate.canary and key not in isolated_keys]
    tree = _canary(context) if unknown else ""
    if not tree:
        return ()
    context.announce("canary", None, {"gates": [gate.name for gate in unknown]})
    red = _red(context, tree, tuple(unknown), cancel)
    new_keys = [keys[gate] for gate in unknown if gate in red]
    context.journal.fact(_FACT, json.dumps([*isolated_keys, *new_keys][-_REMEMBERED_MAX:]))
    return tuple(gate for gate in unknown if gate not in red)


def isolated(fact: str | None, gate: GateSpec, fingerprint: str) -> bool:
    return _key(gate, fingerprint) in json.loads(fact or "[]")


def _key(gate: GateSpec, fingerprint: str) -> str:
    return gate_key("canary", gate, fingerprint)[:20]


def _canary(context: RunContext) -> str:
    env, plumbing = context.env, context.env.plumbing
    main = plumbing.main()
    commands = tuple(gate.command for gate in context.settings.gates)
    kept = (*context.settings.protected, *env.setup.inputs, *run_scripts((*commands, env.setup.command)))
    on_main = plumbing.entries(main, sources(plumbing.paths(main), kept))
    texts = {text: store_text(plumbing, text) for text in {broken(path) for path in on_main}}
    entries = {path: (mode, texts[broken(path)]) for path, (mode, _) in on_main.items() if mode.startswith("100")}
    return plumbing.tree_with(main, entries) if entries else ""


def _red(context: RunContext, tree: str, gates: tuple[GateSpec, ...], cancel: Canceller) -> set[GateSpec]:
    builds = tuple(gate for gate in context.settings.gates if gate.kind is GateKind.BUILD)
    task = replace(main_task(context.env, "baseline/canary"), tree=tree, steady=False)
    gated = run_gates(context.quiet_scope(cancel), task, (*builds, *gates), anew=True)
    if gated is None:
        raise KeyboardInterrupt
    return set(gates) - {result.gate for result in gated.results if result.failure is None}


_NAMES_SHOWN_MAX = 12
_ALL = ("*",)


@dataclass(frozen=True, slots=True)
class Lack:
    """What a gate may need to be green on main: variables that it does not get, or to run outside the sandbox.

    `closed` are folders that it could not write, `unseen` places of the home that it did not see.
    """

    variables: tuple[str, ...] = ()
    sandbox: bool = False
    closed: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    def remedy(self, *, setup: bool = False) -> str:
        """Say which keys give it what it lacks; those of setup stand in [project]."""
        prefix, table = ("setup_", "[project]") if setup else ("", "its [[gates]] entry")
        named = ", ".join(f'"{name}"' for name in self.variables[:_NAMES_SHOWN_MAX])
        environment = f"add {prefix}env_pass = [{named}] to {table}" if named else ""
        named_places = {"write": self.closed, "show": self.unseen}
        lists = {key: ", ".join(f'"{place}"' for place in places) for key, places in named_places.items() if places}
        keys = " and ".join(f"{key} = [{each}]" for key, each in lists.items()) or 'show, write or services = ["…"]'
        outside = f"set {keys} in [sandbox]" + ("" if setup else f', or sandbox = "none" in {table}')
        return ", or ".join(part for part in (environment, outside if self.sandbox else "") if part)


def lacks(context: RunContext, red: list[GateResult], cancel: Canceller) -> dict[str, Lack]:
    """Return what each of these gates, red on main, lacks. If agents' code has landed, nothing is run."""
    if _holds_agents_code(context):
        return {}
    kept = {gate.name: kept_from_gates(os.environ, gate.env_pass) for gate in context.settings.gates}
    suspects = [r for r in red if (_boxes(context) and r.gate.boxed) or kept[r.gate.name]]
    inside = set[str]()
    if suspects:
        outside = _green(context, cancel, "outside", lambda gate: replace(gate, boxed=False, env_pass=_ALL))
        suspects = [result for result in suspects if result.gate.name in outside]
    if suspects:
        inside = _green(context, cancel, "all-variables", lambda gate: replace(gate, env_pass=_ALL))
    found = {}
    for gate, failure in ((each.gate, each.failure) for each in suspects):
        boxed = _boxes(context) and gate.boxed and gate.name not in inside
        found[gate.name] = _lack(context, gate.command, kept[gate.name], boxed, failure, gate.env_pass)
    return {name: lack for name, lack in found.items() if lack.variables or lack.sandbox}


def _lack(
    context: RunContext,
    command: str,
    kept: tuple[str, ...],
    boxed: bool,
    failure: Failure | None,
    env_pass: tuple[str, ...],
) -> Lack:
    lack = Lack(_named(context.env.plumbing, command, kept) or (() if boxed else kept), boxed)
    if not boxed or failure is None:
        return lack
    variables = dict(gate_environment(env_pass))
    return replace(lack, closed=closed_places(failure, variables), unseen=unseen_places(failure, variables))


def reach_out(context: RunContext, red: list[GateResult], cancel: Canceller) -> set[str]:
    """Return which gates, red on main, are green once they can read the person's checkout."""
    env, gates = context.env, context.settings.gates
    names = {result.gate.name for result in red if not result.gate.leaky}
    if not names or not checkouts(env.plumbing.repository, home_of(dict(os.environ))):
        return set()
    hidden = any(gate.boxed for gate in gates) and bool(env.sandbox.bubblewrap)
    given = ((gate_variables(env, gate.env_pass, "", leaky=leaky) for leaky in (False, True)) for gate in gates)
    if not (hidden or any(alone != leaky for alone, leaky in given)):
        return set()
    return names & _green(context, cancel, "checkout", lambda gate: replace(gate, leaky=True))


def setup_lacks(context: RunContext, failure: Failure, cancel: Canceller) -> Lack | None:
    """Return what `[project] setup`, which fails on main, lacks; None if it fails outside as well, or may not run."""
    setup = context.env.setup
    kept, boxed = kept_from_gates(os.environ, setup.env_pass), setup.boxed and _boxes(context)
    if _holds_agents_code(context) or not (boxed or kept):
        return None
    if not _sets_up(context, cancel, replace(setup, boxed=False, env_pass=_ALL)):
        return None
    boxed = boxed and not _sets_up(context, cancel, replace(setup, env_pass=_ALL))
    lack = _lack(context, setup.command, kept, boxed, failure, setup.env_pass)
    return lack if lack.variables or lack.sandbox else None


def _boxes(context: RunContext) -> bool:
    return bool(context.env.sandbox.bubblewrap or context.env.sandbox.wrap)


def _holds_agents_code(context: RunContext) -> bool:
    return has_landings(context.env.plumbing) or bool(context.reader.landed_commits())


def _sets_up(context: RunContext, cancel: Canceller, setup: Setup) -> bool:
    """True if this setup works on main. Nothing of it stays: gates get what setup makes in its box."""
    env = replace(context.env, setup=setup)
    slot, main = env.setup_slot(), env.plumbing.main()
    forget_setup(slot)
    try:
        return Preparation(Scope(env, cancel, lambda _: None), slot, "baseline").prepare(main) is None
    finally:
        forget_setup(slot)


def _green(context: RunContext, cancel: Canceller, folder: str, changed: Callable[[GateSpec], GateSpec]) -> set[str]:
    gates = tuple(changed(gate) for gate in context.settings.gates)
    task = replace(main_task(context.env, f"baseline/{folder}"), steady=False)
    scope, slot = context.quiet_scope(cancel), context.env.gate_slot(LANDING_SLOT)
    outside = bool(scope.env.address) and not all(gate.boxed for gate in gates)
    if outside:  # what setup makes in the sandbox names an address that is not there outside
        scope = replace(scope, env=replace(scope.env, address=""))
        forget_setup(slot)
    gated = run_gates(scope, task, gates)
    if outside:
        forget_setup(slot)
    return {result.gate.name for result in gated.results if result.failure is None} if gated is not None else set()


def _named(plumbing: Plumbing, command: str, kept: tuple[str, ...]) -> tuple[str, ...]:
    if not kept:
        return ()
    patterns = [part for name in kept for part in ("-e", name)]
    in_files = set(plumbing.git.run("grep", "-hoIwF", *patterns, plumbing.main(), "--").text.splitlines())
    return tuple(name for name in kept if name in command or name in in_files)
