"""What main's gates need of the network: a loopback of their own, unless main is green with more only.

A gate that shares the machine's network may judge the server of another workspace. What main needs is found by running
its red gates again, and remembered.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from noface.attempt.environment import SandboxRules
from noface.attempt.gating import Gating, Ran
from noface.engine.context import RunContext
from noface.gates.run import OTHERS_SERVER
from noface.model.access import Network
from noface.model.gate import GateSpec, gate_key

NETWORKS = "networks"
"""The fact that keeps what main's gates need."""


def with_known_networks(context: RunContext) -> tuple[GateSpec, ...]:
    needed = networks_of(context.reader.fact(NETWORKS))
    return tuple(needing(gate, needed, context.env.fingerprint(gate)) for gate in context.settings.gates)


def needing(gate: GateSpec, needed: Mapping[str, Network], fingerprint: str) -> GateSpec:
    known = needed.get(_key(gate, fingerprint)) if gate.network is Network.AUTO else None
    return replace(gate, network=known) if known is not None else gate


def networks_of(fact: str | None) -> dict[str, Network]:
    return {key: Network(network) for key, network in json.loads(fact or "{}").items()}


def _key(gate: GateSpec, fingerprint: str) -> str:
    return gate_key("network", gate, fingerprint)[:20]


def widened(
    context: RunContext, gating: Gating, gated: Ran, red_again: Callable[[Gating, Ran], Ran]
) -> tuple[Gating, Ran]:
    """Give gates that are red on main more of the network, step by step, as long as that makes them green."""
    asked = {gate.name for gate in gating.gates if gate.network is Network.AUTO and gate.boxed}
    steps = (*((Network.OWN,) if context.env.sandbox.connector else ()), Network.ON)
    if not context.env.sandbox.bubblewrap or gated.failure is not None:
        return gating, gated
    first, taken = {result.gate.name: result for result in gated.results}, dict.fromkeys(asked, 0)
    while wider := {
        each.gate.name: steps[taken[each.gate.name]]
        for each in gated.results
        if each.failure is not None and taken.get(each.gate.name, len(steps)) < len(steps)
    }:
        taken |= {name: taken[name] + 1 for name in wider}
        gates = (replace(each, network=wider.get(each.name, each.network)) for each in gating.gates)
        gating = replace(gating, gates=tuple(gates))
        # What may pass by itself is waited for once, with all that there is to be had.
        repeats = 0 if Network.OWN in wider.values() else gating.task.repeats
        again = red_again(replace(gating, task=replace(gating.task, repeats=repeats)), gated)
        if again.failure is not None:
            return gating, again
        first = {result.gate.name: result for result in again.results} | first
        gated = again
    failures = {result.gate.name: result.failure for result in gated.results if result.failure is not None}
    in_vain = {name for name, failure in failures.items() if name in asked and failure.rule != OTHERS_SERVER}
    gates = (replace(gate, network=Network.AUTO) if gate.name in in_vain else gate for gate in gating.gates)
    results = (first[each.gate.name] if each.gate.name in in_vain else each for each in gated.results)
    return replace(gating, gates=tuple(gates)), replace(gated, results=tuple(results))


def remember_networks(context: RunContext, gated: Ran) -> None:
    """Have the run's gates have from now on the network with which they are green, and remember that."""
    known, gates = networks_of(context.reader.fact(NETWORKS)), context.settings.gates
    green = {result.gate.name: result.gate.network for result in gated.results if result.failure is None}
    auto = {gate.name for gate in gates if gate.network is Network.AUTO}
    needed = {name: network for name, network in green.items() if name in auto and network is not Network.AUTO}
    new = {_key(gate, context.env.fingerprint(gate)): needed[gate.name] for gate in gates if gate.name in needed}
    gates = tuple(replace(gate, network=needed.get(gate.name, gate.network)) for gate in gates)
    context.settings = replace(context.settings, gates=gates)
    if not new.items() <= known.items():
        context.journal.fact(NETWORKS, json.dumps(known | new))


def tell_networks(context: RunContext) -> None:
    sandbox = context.env.sandbox
    wide = [gate for gate in context.settings.gates if gate.boxed and gate.network in (Network.OWN, Network.ON)]
    if sandbox.bubblewrap and wide:
        shared = [gate.name for gate in wide if shares(gate, sandbox)]
        led = [gate.name for gate in wide if gate.name not in shared]
        context.announce("networks", None, {"shared": shared, "led": led, "connector": sandbox.connector})


def shares(gate: GateSpec, sandbox: SandboxRules) -> bool:
    inside = bool(sandbox.bubblewrap) and gate.boxed
    return not inside or gate.network is Network.ON or (gate.network is Network.OWN and not sandbox.connector)
