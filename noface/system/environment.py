"""The environment programs are started in, made from noface's own by the rules of `core.environment_rules`."""

import os
from collections.abc import Iterable

from noface.core import environment_rules as rules
from noface.core.worker_run import ModelSpec

Variables = tuple[tuple[str, str], ...]


def agent_environment(own: Iterable[str], model: ModelSpec, extra: Iterable[tuple[str, str]] = ()) -> Variables:
    """Return an agent's whole environment. `own` are its adapter's patterns; `extra` comes last, and may set anything.

    The model's `env` is left to the caller, who knows what else is set before and after it.
    """
    return tuple((rules.for_agents(os.environ, own, model) | dict(extra)).items())


def gate_environment(extra: Iterable[tuple[str, str]] = ()) -> Variables:
    """Return the whole environment of a gate or of setup: the person's without agents' keys, then `extra`."""
    return tuple((rules.for_gates(os.environ) | dict(extra)).items())
