"""Which entries of [models] share a login: what refuses one of them refuses all of them. Pure; no value leaves here."""

import hashlib
import re
from collections.abc import Collection, Mapping
from typing import Any

from noface.data import table
from noface.model.worker_run import ModelSpec
from noface.secrets.environment import fits, providers_of
from noface.secrets.rules import is_secret_name

_HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
_LEADS_ELSEWHERE = re.compile(
    r"_(?:BASE_URL|API_BASE|ENDPOINT|PROFILE|HOST|PROJECT|REGION)\Z|_USE_(?:BEDROCK|VERTEX|FOUNDRY)\Z"
)
_DIGEST_CHARS = 16


def login_id(spec: ModelSpec) -> str:
    """Return what two entries have in common that use the same login: the agent, and all that leads it to a login.

    Those are its provider if the agent knows several, keys, folders, addresses, an argument that chooses a provider.
    """
    known = table("agents").get(spec.agent, {}).get("login", {})
    own = sorted(pair for pair in spec.env if _of_login(*pair, spec.agent, known))
    passed = sorted(name for name in spec.env_pass if _of_login(name, "", spec.agent, known))
    chosen = known.get("uncertain_argument", "")
    args = spec.args if chosen and any(chosen in argument for argument in spec.args) else ()
    asked = providers_of(spec.agent, spec.model, dict(spec.env)) or {spec.model.partition("/")[0]}
    facts = (sorted(asked) if known.get("by_provider") else [], own, passed, args, spec.command if not known else "")
    digest = hashlib.sha256(repr(facts).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{spec.agent}-{digest[:_DIGEST_CHARS]}"


def login_fix(spec: ModelSpec) -> str:
    """Return what gives a model's runs the login that they really use, "" for a command: that is its own matter."""
    known = table("agents").get(spec.agent, {}).get("login")
    if known is None:
        return ""
    keys = _keys(spec, known)
    own = [name for name in (*dict(spec.env), *spec.env_pass) if is_secret_name(name) and fits(name, keys)]
    if own:
        return f"correct {own[0]}, which [models.{spec.name}] names"
    chosen = known.get("uncertain_argument", "")
    leads = next((name for name, _ in spec.env if _LEADS_ELSEWHERE.search(name)), "")
    if leads or (chosen and any(chosen in argument for argument in spec.args)):
        return f"renew the login of the service to which [models.{spec.name}] {'env' if leads else 'args'} lead it"
    if not known.get("by_provider"):
        return str(known["fix"])
    return key_fix(spec.model, str(known.get("command", "")))


def payer(spec: ModelSpec, given: Collection[str]) -> str:
    """Say who pays for a model's runs, if the variables of these names reach its agent; "" if that cannot be known.

    A key comes before a login: with it each call is paid, whatever subscription there is.
    """
    known = table("agents").get(spec.agent, {}).get("login")
    if known is None:
        return ""
    key = next((name for name in _keys(spec, known) if name in given), "")
    if key:
        return f"a subscription ({key})" if "OAUTH" in key else f"each call is paid ({key})"
    return "its login: a subscription, or credit" if known.get("files") or known.get("keychain") else ""


def _keys(spec: ModelSpec, known: Mapping[str, Any]) -> tuple[str, ...]:
    return (*known.get("keys", ()), *(keys_of(spec.model) if known.get("by_provider") else ()))


def keys_of(model: str) -> tuple[str, ...]:
    providers = table("providers")
    provider, slash, _ = model.partition("/")
    if not slash:
        families = providers["key_families"]
        provider = next((families[family] for family in families if model.startswith(family)), "")
    return tuple(providers["keys"].get(provider, ()))


def key_fix(model: str, command: str) -> str:
    names = keys_of(model)
    ways = ([f"run `{command}`"] if command else []) + ([f"set {names[0]}"] if names else [])
    return ", or ".join(ways) or f"set the key of the provider of {model or 'its model'}"


def _of_login(name: str, value: str, agent: str, known: Mapping[str, Any]) -> bool:
    """True if a variable of an entry leads to a login; a number, as MAX_THINKING_TOKENS, turns nothing on."""
    if _LEADS_ELSEWHERE.search(name):
        return True
    homes = table("agents")[agent].get("homes", ()) if known else ()
    folders = (known.get("folder_variable"), *(home.get("variable") for home in homes))
    listed = name in (*_HOMES, *folders) or is_secret_name(name) or fits(name, tuple(known.get("keys", ())))
    return listed and not value.isdigit()
