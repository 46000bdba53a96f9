"""The environment programs are started in, made from noface's own by the rules of `core.environment_rules`."""

import hashlib
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


def gate_environment(env_pass: tuple[str, ...] = (), extra: Iterable[tuple[str, str]] = ()) -> Variables:
    """Return the whole environment of a gate or of setup: what every program needs, what `env_pass` names, `extra`."""
    return tuple((rules.for_gates(os.environ, env_pass) | dict(extra)).items())


def without_places(
    environment: Variables, folders: tuple[str, ...], kept: tuple[str, ...], env_pass: tuple[str, ...] = ()
) -> Variables:
    """Return an environment that does not lead into `folders`; see `core.environment_rules.without_places`."""
    return tuple(rules.without_places(dict(environment), folders, kept, env_pass).items())


def passed_digest(env_pass: Iterable[str]) -> str:
    """Return a digest of the variables that `env_pass` names, so that a gate's result counts for these values only."""
    named = sorted((name, value) for name, value in os.environ.items() if rules.fits(name, tuple(env_pass)))
    return hashlib.sha256(repr(named).encode("utf-8", "surrogateescape")).hexdigest() if named else ""


def boxed(environment: Variables, kept: Iterable[str] = ()) -> Variables:
    """Return an environment as it is in a sandbox, where /tmp is private and caches lie below the home.

    `kept` are the names that a person has given a value themselves.
    """
    own = set(kept)
    left_out = {name for name in _OUTSIDE if name not in own}
    told = {name: value for name, value in environment if name not in left_out}
    return tuple((told | {name: "/tmp" for name in _TEMPORARY if name not in own}).items())  # noqa: S108 - it is private


_OUTSIDE = ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME")
_TEMPORARY = ("TMPDIR", "TMP", "TEMP")
