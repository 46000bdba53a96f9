"""What Codex CLI is told of settings, tools and permissions (each line seen to act with 0.169.0).

`--ignore-user-config` leaves out the person's config.toml; what belongs to login, provider and model is handed over by
`-c`, secrets by variables. A project's .codex/config.toml acts if its folder is trusted, so it is told that it may be.
AGENTS.md, roles and skills of the person's CODEX_HOME have no switch: skills are named one by one, the rest is kept out
by the sandbox. Rules about single commands never act.
"""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from noface.agents.base import RunPlace
from noface.data import table
from noface.model.access import Network, Permissions, Settings, Tool
from noface.model.worker_run import ModelSpec
from noface.process.files import read_regular

Variables = tuple[tuple[str, str], ...]

_FILE_BYTES_MAX = 1 << 20
_SKILLS_MAX = 500
_SECRET = "NOFACE_CODEX_SECRET_"  # noqa: S105 - the beginning of a variable's name


def permission_options(model: ModelSpec, place: RunPlace) -> tuple[tuple[str, ...], Variables]:
    """Return the arguments and variables that say how far it may write; noface's own sandbox holds that by itself.

    Codex's own starts nothing if CODEX_HOME lies below the folder for temporary files, so that is another one.
    """
    if model.permissions is Permissions.FULL or place.boxed:
        return ("--dangerously-bypass-approvals-and-sandbox",), ()
    temporary = Path(place.directory, "tmp")
    with suppress(OSError):
        temporary.mkdir(exist_ok=True)
    variables = (("TMPDIR", str(temporary)),)
    if model.permissions is Permissions.READ_ONLY:
        return ("-s", "read-only"), variables
    network = f"sandbox_workspace_write.network_access={_inline(model.network is not Network.OFF)}"
    return ("-s", "workspace-write", "-c", network, "-c", "sandbox_workspace_write.exclude_slash_tmp=true"), variables


def access_options(model: ModelSpec, place: RunPlace) -> tuple[tuple[str, ...], Variables]:
    """Return the arguments for what a run may use, and variables with the secrets among them."""
    home = _Home({**os.environ, **dict(model.env)})
    own = home.config()
    words = table("agents")["codex"]["access"]
    pairs: list[str] = list(words["headless"])
    variables: Variables = ()
    argv: tuple[str, ...] = ("--ignore-rules",)
    if model.settings is not Settings.USER and own is not None:
        argv += ("--ignore-user-config",)
        kept, variables = _kept(own)
        pairs += kept
    if model.settings is not Settings.USER:
        pairs += [f"features.{name}=false" for name in words["not_the_persons"]]
    if model.settings is Settings.NONE:
        pairs += ["project_doc_max_bytes=0", "skills.include_instructions=false"]
    else:
        pairs.append(f"projects={_inline({place.seen: {'trust_level': 'trusted'}})}")
    if model.settings is Settings.PROJECT and (skills := [*home.skills()]):
        pairs.append(f"skills.config={_inline([{'path': path, 'enabled': False} for path in skills])}")
    servers = _named(
        _parsed(read_regular(Path(place.workspace, ".codex", "config.toml"), _FILE_BYTES_MAX) or b"") or {}
    )
    servers += _named(own or {}) if model.settings is Settings.USER else ()
    pairs += _without_tools(model, servers)
    return (*argv, *(part for pair in pairs for part in ("-c", pair))), variables


def _without_tools(model: ModelSpec, servers: Sequence[str]) -> Iterator[str]:
    if not model.may(Tool.AGENTS):
        yield from ("agents.enabled=false", "features.multi_agent=false")
    if not model.may(Tool.WEB):
        yield 'web_search="disabled"'
    if not model.may(Tool.MCP):
        yield from ("features.plugins=false", "features.apps=false")
        yield from (f"mcp_servers.{name}.enabled=false" for name in servers)


class _Home:
    """What the person has of Codex's."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._person = environment.get("HOME", "")
        self._folder = environment.get("CODEX_HOME") or f"{self._person}/.codex"

    def config(self) -> dict[str, Any] | None:
        """Return config.toml, {} if there is none; None if Codex itself is to say what is wrong with it."""
        path = Path(self._folder, "config.toml")
        try:
            return _parsed(path.read_bytes()) if path.is_file() else {}
        except OSError:
            return None

    def skills(self) -> Iterator[str]:
        """Yield the files of the person's own skills, not of those that Codex brings along."""
        for folder in (Path(self._folder, "skills"), Path(self._person, ".agents", "skills")):
            if not folder.is_absolute():
                continue
            files = sorted(folder.glob("*/SKILL.md")) + sorted(folder.glob("*/*/SKILL.md"))
            yield from (str(path) for path in files[:_SKILLS_MAX] if ".system" not in path.parts)


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text.decode("utf-8"))
    except ValueError:
        return None


def _named(config: Mapping[str, Any]) -> tuple[str, ...]:
    servers = config.get("mcp_servers")
    return tuple(servers) if isinstance(servers, dict) else ()


def _kept(config: Mapping[str, Any]) -> tuple[list[str], Variables]:
    """Return what of the person's configuration acts in any case, and the variables that hold its secrets."""
    secrets: list[str] = []
    words = table("agents")["codex"]["access"]
    profile = config.get("profiles", {}).get(config.get("profile"), {})
    # A profile comes before what stands at the top, as it does in Codex.
    chosen = {name: value for name, value in {**config, **profile}.items() if name in words["kept"]}
    providers = chosen.get("model_providers")
    if isinstance(providers, dict):
        chosen["model_providers"] = {name: _without_secrets(each, secrets) for name, each in providers.items()}
    features = config.get("features")
    switched = features if isinstance(features, dict) else {}
    pairs = [f"{name}={_inline(value)}" for name, value in chosen.items()]
    pairs += [f"features.{name}={_inline(switched[name])}" for name in words["kept_features"] if name in switched]
    return pairs, tuple((f"{_SECRET}{number}", secret) for number, secret in enumerate(secrets))


def _without_secrets(provider: Any, secrets: list[str]) -> Any:
    """Return a provider that takes its token and its headers from variables; their values are added to `secrets`."""
    if not isinstance(provider, dict):
        return provider
    made = dict(provider)

    def hidden(value: str) -> str:
        secrets.append(value)
        return f"{_SECRET}{len(secrets) - 1}"

    token = made.pop("experimental_bearer_token", None)
    if isinstance(token, str):
        made["env_key"] = hidden(token)
    headers = made.pop("http_headers", None)
    if isinstance(headers, dict):
        by_variable = {name: hidden(value) for name, value in headers.items() if isinstance(value, str)}
        # A header that takes its value from a variable already stays as it is.
        made["env_http_headers"] = {**by_variable, **made.get("env_http_headers", {})}
    return made


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{json.dumps(name, ensure_ascii=False)}={_inline(each)}" for name, each in value.items())
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list):
        return "[" + ",".join(map(_inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool | int) else str(value)
