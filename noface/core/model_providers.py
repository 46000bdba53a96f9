"""Whose keys a model needs: agents that can reach many providers get the keys of the one their model is at."""

import re
from collections.abc import Mapping

from noface.data import table


def providers_of(agent: str, model: str, given: Mapping[str, str]) -> frozenset[str] | None:
    """Return the providers that an agent reaches with a model; None where that cannot be told: it may be any.

    `given` is its environment: Claude Code is told by a variable to reach its models through a cloud.
    """
    known = table("agents").get(agent, {})
    if "provider" in known:
        elsewhere = known.get("elsewhere", {})
        return frozenset(
            {known["provider"], *(elsewhere[name] for name in elsewhere if given.get(name, "0") not in ("", "0"))}
        )
    providers = table("providers")
    name = model.lower()
    head, slash, _ = name.partition("/")
    found: str | None
    if slash:
        aliases = (
            provider for pattern, provider in providers["before_the_slash"].items() if re.fullmatch(pattern, head)
        )
        found = head if head in providers["variables"] else next(aliases, None)
    else:
        found = next((p for pattern, p in providers["families"].items() if re.match(pattern, name)), None)
    return frozenset({found}) if found is not None else None


def is_anothers(variable: str, providers: frozenset[str] | None) -> bool:
    """Tell whether a variable belongs to a provider that is none of these.

    GitHub's are pushed with, too: they are another's unless the model is known to be there.
    """
    starts = table("providers")["variables"]
    if providers is None:
        return variable.startswith(tuple(starts["github"]))
    owners = {provider for provider in starts if variable.startswith(tuple(starts[provider]))}
    return bool(owners) and not owners & providers
