"""Tells a gate that is red on main from one that only lacks something that sandbox or environment keep from it.

Only main's own code is run outside like this, and only where a gate is red before any work was done.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from noface.core.environment_rules import kept_from_gates
from noface.core.gate import GateResult, GateSpec
from noface.loop.context import RunContext
from noface.loop.gating import Task, run_gates
from noface.loop.workshop import LANDING_SLOT
from noface.system.supervise import Canceller

_NAMES_SHOWN_MAX = 12


@dataclass(frozen=True, slots=True)
class Lack:
    """What a gate needs to be green on main: variables that it is not given, or to run outside the sandbox, or both."""

    variables: tuple[str, ...] = ()
    sandbox: bool = False

    def remedy(self) -> str:
        """Say which keys give it what it lacks."""
        named = ", ".join(f'"{name}"' for name in self.variables[:_NAMES_SHOWN_MAX])
        environment = f"env_pass = [{named}]" if named else ""
        outside = 'show = ["…"] or write = ["…"] in [sandbox], or sandbox = "none" in its [[gates]] entry'
        if not self.sandbox:
            return f"add {environment} to its [[gates]] entry"
        return f"add {environment} to its [[gates]] entry, and {outside}" if environment else f"set {outside}"


def lacks(context: RunContext, red: list[GateResult], cancel: Canceller) -> dict[str, Lack]:
    """Return what each of these gates, red on main, lacks; nothing for those that are red outside as well."""
    gates = context.settings.gates
    boxed = bool(context.shop.sandbox.bubblewrap or context.shop.sandbox.wrap)
    kept = {gate.name: kept_from_gates(os.environ, gate.env_pass) for gate in gates}
    suspects = {r.gate.name for r in red if (boxed and r.gate.boxed) or kept[r.gate.name]}
    if not suspects:
        return {}
    green = _green(context, tuple(_outside(gate) for gate in gates), "outside", cancel) & suspects
    if not green:
        return {}
    given = _green(context, tuple(_with_all(gate) for gate in gates), "all-variables", cancel)
    alone = (
        _green(context, tuple(replace(gate, boxed=False) for gate in gates), "no-sandbox", cancel) if boxed else set()
    )
    found = {}
    for gate in gates:
        if gate.name in green:
            variables = () if gate.name in alone else _telling(context, gate, kept[gate.name])
            found[gate.name] = Lack(variables, sandbox=gate.name not in given)
    return found


def _outside(gate: GateSpec) -> GateSpec:
    return replace(_with_all(gate), boxed=False)


def _with_all(gate: GateSpec) -> GateSpec:
    return replace(gate, env_pass=("*",))


def _green(context: RunContext, gates: tuple[GateSpec, ...], folder: str, cancel: Canceller) -> set[str]:
    plumbing = context.shop.plumbing
    main = plumbing.main()
    logs = Path(context.settings.attempts_dir).parent / "baseline" / folder
    task = Task("", 0, "baseline", LANDING_SLOT, plumbing.tree(main), main, main, logs)
    gated = run_gates(context.shop, task, gates, cancel, lambda _: None, None)
    return {result.gate.name for result in gated.results if result.failure is None} if gated is not None else set()


def _telling(context: RunContext, gate: GateSpec, kept: tuple[str, ...]) -> tuple[str, ...]:
    """Return the variables that the gate's command or main's files speak of; all of them where none does."""
    if not kept:
        return ()
    plumbing = context.shop.plumbing
    asked = [part for name in kept for part in ("-e", name)]
    told = plumbing.git.run("grep", "-hoIwF", *asked, plumbing.main(), "--").text.splitlines()
    named = tuple(name for name in kept if name in gate.command or name in set(told))
    return named or kept
