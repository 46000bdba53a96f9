"""What Claude Code may use and do in a run: noface's words as its options (seen with 2.1.330).

--setting-sources decides over all that a source has: hooks, MCP servers, skills, CLAUDE.md. Without the person's, the
login and provider of their settings.json are given back. `disableAllHooks` in --settings outranks the project's own.

--tools lists its own; MCP servers are another matter. Tools that schedule, wait in the background or ask a person are
off, and a command may take as long as any tool of the run. In its mode dontAsk only commands run that it knows to
write nothing. Its own sandbox bounds commands, acceptEdits its editing tools.
"""

import fnmatch
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from noface.agents.base import RunPlace
from noface.data import table
from noface.model.access import Permissions, Settings, Tool
from noface.model.json_record import JsonRecord, json_value
from noface.model.worker_run import ModelSpec

_SERVERS = ".mcp.json"
_FILE_BYTES_MAX = 1_000_000
_COMMAND_MS = 600_000
"""How long a command may take for which the model gives no time."""
_ENDED_BEFORE_S = 10.0
"""Claude Code ends a command, and the model is told, before noface would end the run for it."""
_SANDBOX = {
    "enabled": True,
    "autoAllowBashIfSandboxed": True,
    "allowUnsandboxedCommands": False,
    "failIfUnavailable": True,
}


def access_arguments(model: ModelSpec, place: RunPlace) -> Iterator[str]:
    """Yield the options for a model's settings, tools and permissions."""
    facts = _facts()
    if model.settings is not Settings.USER:
        yield f"--setting-sources={'project' if model.settings is Settings.PROJECT else ''}"
    workspace = Path(place.workspace)
    if model.settings is Settings.NONE or not model.may(Tool.MCP):
        yield "--strict-mcp-config"
    elif model.settings is Settings.PROJECT and any((folder / _SERVERS).exists() for folder in workspace.parents):
        yield "--strict-mcp-config"
        if _read(workspace / _SERVERS):
            yield f"--mcp-config={workspace / _SERVERS}"
    if model.tools is not None:
        yield from ("--tools", ",".join(name for tool in model.tools for name in facts["tools"][tool]))
    yield from ("--permission-mode", facts["modes"][model.permissions])
    if model.permissions is not Permissions.FULL:
        free = (Tool.READ, Tool.WEB, *((Tool.RUN,) if place.boxed else ()))
        # With "=", here and below: without it these options take every word that follows for a value.
        yield f"--allowedTools={','.join(name for tool in free for name in facts['tools'][tool])}"
    off = [*facts["off"]]
    if model.permissions is Permissions.READ_ONLY:
        loose = model.settings is Settings.USER and not place.boxed
        off += facts["tools"][Tool.EDIT] if model.may(Tool.EDIT) else ()
        off += facts["tools"][Tool.RUN] if model.may(Tool.RUN) and loose else ()
    yield f"--disallowedTools={','.join(off)}"
    if given := {**_settings(model, place), **_login(model)}:
        yield from ("--settings", json.dumps(given))


def access_variables(model: ModelSpec) -> Iterator[tuple[str, str]]:
    """Yield the environment for the same, with what the person's settings say of their provider."""
    yield from _facts()["variables"].items()
    longest_ms = int(max(model.timeout_s - _ENDED_BEFORE_S, 1.0) * 1000)
    yield "BASH_DEFAULT_TIMEOUT_MS", str(min(_COMMAND_MS, longest_ms))
    yield "BASH_MAX_TIMEOUT_MS", str(longest_ms)
    if model.settings is Settings.USER:
        return
    yield "CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"
    yield "ENABLE_CLAUDEAI_MCP_SERVERS", "false"  # of the person's account
    if model.settings is Settings.NONE:
        yield "CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1"
    patterns = (*table("agents")["claude"]["environment"], *_facts()["provider_variables"])
    for name, value in _persons_settings(model).inside("env").values.items():
        if isinstance(value, str) and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            yield name, value


def _facts() -> Mapping[str, Any]:
    facts: Mapping[str, Any] = table("agents")["claude"]["access"]
    return facts


def _settings(model: ModelSpec, place: RunPlace) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if model.settings is not Settings.USER:
        # It looks for instructions on the way up: a workspace below the home has the person's above it.
        above = [str(folder / name) for folder in Path(place.seen).parents for name in _facts()["instructions"]]
        given = {"disableAllHooks": True, "claudeMdExcludes": above}
    if model.permissions is Permissions.WORKSPACE and not place.boxed:
        # The folder differs from run to run: equal settings would share a file in /tmp, which the first to end removes.
        given["sandbox"] = {**_SANDBOX, "filesystem": {"denyWrite": [place.directory]}}
    return given


def _login(model: ModelSpec) -> dict[str, object]:
    if model.settings is Settings.USER:
        return {}
    own = _persons_settings(model).values
    return {name: own[name] for name in _facts()["login_settings"] if name in own}


def _persons_settings(model: ModelSpec) -> JsonRecord:
    env = {**os.environ, **dict(model.env)}
    home = Path(env.get("HOME") or "~").expanduser()
    return _read(Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "settings.json")


def _read(path: Path) -> JsonRecord:
    try:
        with path.open(encoding="utf-8") as file:
            return JsonRecord.of(json_value(file.read(_FILE_BYTES_MAX)))
    except (OSError, UnicodeDecodeError):
        return JsonRecord({})
