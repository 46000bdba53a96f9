"""Which of noface's environment variables go to agents, and which to gates.

Agents run unwatched and talk to the network, so they get what is named here and nothing else: what every program
needs; how to reach the network; where compilers and package managers are, but none of their passwords; the variables
of their own program, but no keys of providers other than their model's; what `[models.X] env_pass` names.

What would mislead whoever inherits it goes to nobody: git's own variables (a hook's GIT_DIR points into the person's
repository), noface's, pytest's, a surrounding make's or agent's session. Gates (and `[project] setup`) run code that
an agent wrote, so they get the first three and what `env_pass` names.
"""

import fnmatch
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from noface.data import table
from noface.model.worker_run import ModelSpec
from noface.secrets.rules import is_secret_name

_WITHHELD = ("never", "sessions", "misleading")
"""What nobody inherits unless a person names it, or not even then."""


@cache
def _listed(*lists: str) -> tuple[str, ...]:
    return tuple(pattern for name in lists for pattern in table("environment")[name])


def _forced() -> dict[str, str]:
    forced: dict[str, str] = table("environment")["forced"]
    return forced


def for_agents(given: Mapping[str, str], own: Iterable[str], model: ModelSpec) -> dict[str, str]:
    """Return what an agent gets of noface's environment `given`, before `[models.X] env` is added.

    `own` are its adapter's patterns. What only a toolchain's pattern names is left out if it is named like a secret.
    """
    own = tuple(own)
    providers = providers_of(model.agent, model.model, {**given, **dict(model.env)})
    passed = {name for name in given if fits(name, model.env_pass) and not fits(name, _listed("never"))}
    inherited = {
        name for name in given if _for_agent(name, own) and not (is_secret_name(name) and is_anothers(name, providers))
    }
    return {name: value for name, value in given.items() if name in passed or name in inherited} | _forced()


def for_gates(given: Mapping[str, str], env_pass: tuple[str, ...] = ()) -> dict[str, str]:
    return {name: value for name, value in given.items() if _for_gate(name, env_pass)} | _forced()


def kept_from_gates(given: Mapping[str, str], env_pass: tuple[str, ...] = ()) -> tuple[str, ...]:
    names = (name for name in given if not _for_gate(name, env_pass) and name not in _forced())
    return tuple(sorted(name for name in names if not fits(name, _listed(*_WITHHELD))))


def without_places(
    given: Mapping[str, str], folders: tuple[str, ...], kept: tuple[str, ...], env_pass: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return variables without what leads into `folders`, but not into `kept` below them, nor what `env_pass` names."""
    left = {}
    for name, value in given.items():
        if not any(folder in value for folder in folders) or fits(name, env_pass):
            left[name] = value
            continue
        parts = value.split(":")
        stay = [part for part in parts if not _leads_into(part, folders) or _leads_into(part, kept)]
        if len(stay) == len(parts) or (len(parts) > 1 and any(stay)):
            left[name] = ":".join(stay)
    return left


def _leads_into(text: str, folders: tuple[str, ...]) -> bool:
    return any(re.search(rf"(?<![\w.-]){re.escape(folder)}(?![\w.-])", text) for folder in folders)


def _for_agent(name: str, own: tuple[str, ...]) -> bool:
    if fits(name, _listed(*_WITHHELD)):
        return False
    if fits(name, own) or fits(name, _listed("basics", "network")):
        return True
    return fits(name, _listed("toolchains")) and not is_secret_name(name)


def _for_gate(name: str, env_pass: tuple[str, ...]) -> bool:
    if fits(name, _listed("never")):
        return False
    return fits(name, env_pass) or _for_agent(name, ())


def fits(name: str, patterns: tuple[str, ...]) -> bool:
    return _any_of(patterns).match(name) is not None


@lru_cache(maxsize=64)
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, patterns)) or r"(?!)")


def providers_of(agent: str, model: str, given: Mapping[str, str]) -> frozenset[str] | None:
    """Return the providers that an agent, by its environment `given`, reaches with a model; None if it may be any."""
    known = table("agents").get(agent, {})
    if "provider" in known:
        elsewhere = known.get("elsewhere", {})
        return frozenset(
            {known["provider"], *(elsewhere[name] for name in elsewhere if given.get(name, "0") not in ("", "0"))}
        )
    providers = table("providers")
    name = model.lower()
    head, slash, _ = name.partition("/")
    one: str | None
    if slash:
        aliases = (
            provider for pattern, provider in providers["before_the_slash"].items() if re.fullmatch(pattern, head)
        )
        one = head if head in providers["variables"] else next(aliases, None)
    else:
        one = next((p for pattern, p in providers["families"].items() if re.match(pattern, name)), None)
    return frozenset({one}) if one is not None else None


def is_anothers(variable: str, providers: frozenset[str] | None) -> bool:
    """True if a variable is of a provider that is none of these, as GitHub's are if these are not known."""
    starts = table("providers")["variables"]
    if providers is None:
        return variable.startswith(tuple(starts["github"]))
    owners = {provider for provider in starts if variable.startswith(tuple(starts[provider]))}
    return bool(owners) and not owners & providers
