"""What proves a landing (law 1), and the name under which a gate's result on a tree is remembered."""

import hashlib
import json
from collections.abc import Iterable

from noface.core.gate import GateResult, GateSpec


def gate_key(tree: str, gate: GateSpec, environment: str) -> str:
    """Return the memo key of a gate on a tree: tree, the gate's definition, and what its environment depends on.

    Retries are part of the definition: what passed at the second try is not proved for one who allows only one.
    """
    definition = [gate.name, gate.command, gate.kind, gate.timeout_s, gate.report, environment, gate.retries]
    definition += [gate.env_pass, gate.boxed, gate.network, gate.fixes, gate.leaky]
    return hashlib.sha256(json.dumps([tree, definition]).encode()).hexdigest()


def all_hard_passed(gates: Iterable[GateSpec], results: Iterable[GateResult]) -> bool:
    """Tell whether every hard gate has a result and each of these passed."""
    told = tuple(results)
    passed = {result.gate for result in told if result.passed}
    return all(gate in passed for gate in gates if gate.hard) and worst(told) is None


def worst(results: Iterable[GateResult]) -> GateResult | None:
    """Return the failed hard gate to tell first: the first that failed, in the order the gates ran."""
    return next((result for result in results if result.gate.hard and not result.passed), None)
