"""Starts an agent's program with its own settings in the place of the person's.

`python -m noface.extras.own_settings PLAN PROGRAM…` makes a folder with what the person has configured of their login,
provider and models, and nothing else of theirs: no hooks, plugins, MCP servers, skills, memory, instructions. It leads
the program there and then becomes the program. Of what the project has it reads the names of its hooks and MCP servers,
to switch them off. PLAN is a JSON object:

agent     "gemini" or "opencode"
folder    the folder to make
settings  "user" (the person's settings act; nothing is made but a writable folder of OpenCode's), "project" or "none"
given     the variables that `[models.NAME] env` sets: what a person wrote there stands
rules     (OpenCode) what its tools may do, as `permission` of the agent that works
worker    (OpenCode) the name of that agent
no_mcp    (OpenCode) whether the project's MCP servers are switched off
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from noface.data import table
from noface.model.access import Settings
from noface.model.worker_run import ModelSpec

Json = dict[str, Any]

_SETTINGS_BYTES_MAX = 8 << 20
_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])')
_RELATIVE_FILE = re.compile(r"\{file:(?![/~])")

_GEMINI_CONFIG_EXIT = 52
_HAS_ITS_PACKAGE = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
"""Where this is not said, OpenCode installs its package for plug-ins into the folder, in each run."""
_OPENCODE_FILES = ("config.json", "opencode.json", "opencode.jsonc")


class UnreadableSettingsError(Exception):
    """Settings that cannot be read: without them the login might be another."""


def main() -> None:
    """Make the folder and become the program."""
    plan, *command = json.loads(sys.argv[1]), *sys.argv[2:]
    env = dict(os.environ)
    try:
        env |= gemini(plan, env) if plan["agent"] == "gemini" else opencode(plan, env)
    except (UnreadableSettingsError, OSError) as problem:
        _refuse(plan["agent"], str(problem))
    os.execvpe(command[0], command, env)  # noqa: S606  # the program that noface starts


def started(model: ModelSpec, folder: str, argv: Sequence[str], **plan: object) -> tuple[str, ...]:
    if model.settings is Settings.USER and model.agent != "opencode" and not any(plan.values()):
        return tuple(argv)
    given = [name for name, _ in model.env]
    whole = {"agent": model.agent, "folder": folder, "settings": model.settings.value, "given": given, **plan}
    return (sys.executable, "-P", "-m", "noface.extras.own_settings", json.dumps(whole), *argv)


def gemini(plan: Json, env: dict[str, str]) -> dict[str, str]:
    """Make a home for Gemini CLI; return the variables that lead there."""
    person = Path(env.get("GEMINI_CLI_HOME") or env.get("HOME", "/"), ".gemini")
    folder = _fresh(Path(plan["folder"])) / ".gemini"
    folder.mkdir()
    words = table("agents")["gemini"]["access"]
    for name in set(words["dropped"]) - set(plan["given"]):
        env.pop(name, None)
    for name in words["folders"]:
        (person / name).mkdir(parents=True, exist_ok=True)
    for name in (*words["linked"], *words["folders"]):
        # Links and no copies: what is renewed here is renewed for the person.
        if (person / name).exists():
            (folder / name).symlink_to(person / name)
    settings = kept(read_settings(person / "settings.json"), words["kept"])
    names = sorted({*hook_names(read_settings(Path(".gemini/settings.json"), lenient=True))})
    settings["hooksConfig"] = {"enabled": False, "disabled": names}
    if plan["settings"] == "none":
        settings.setdefault("security", {})["folderTrust"] = {"enabled": False}
    (folder / "settings.json").write_text(json.dumps(settings), "utf-8")
    trusts = {"GEMINI_CLI_TRUST_WORKSPACE": "false"} if plan["settings"] == "none" else {}
    return {"GEMINI_CLI_HOME": str(folder.parent), **trusts}


def hook_names(settings: Json) -> Iterator[str]:
    """Yield what Gemini CLI calls the hooks in its settings: their names, or else their commands."""
    hooks = settings.get("hooks")
    for entries in hooks.values() if isinstance(hooks, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            for hook in _list(entry, "hooks"):
                for name in (hook.get("name"), hook.get("command")) if isinstance(hook, dict) else ():
                    if isinstance(name, str):
                        yield from (name, os.path.expandvars(name))


def opencode(plan: Json, env: dict[str, str]) -> dict[str, str]:
    """Make a configuration folder for OpenCode; return the variables that lead there, with noface's own rules."""
    given, person = set(plan["given"]), plan["settings"] == "user"
    changed = _opencode_writable(plan, env) if person else _opencode_folder(plan, env)
    content = parsed(env.get("OPENCODE_CONFIG_CONTENT") or "{}", "OPENCODE_CONFIG_CONTENT")
    if not person and "OPENCODE_CONFIG_CONTENT" not in given:
        content = kept(content, table("agents")["opencode"]["access"]["kept"])
    if plan["rules"]:
        content = merged(content, {"agent": {plan["worker"]: {"mode": "primary", "permission": plan["rules"]}}})
    if plan["no_mcp"]:
        places = [Path(folder, name) for folder in ("", ".opencode") for name in _OPENCODE_FILES[1:]]
        servers = [read_settings(place, lenient=True).get("mcp") for place in places]
        names = {name for named in servers if isinstance(named, dict) for name in named}
        content = merged(content, {"mcp": {name: {"enabled": False} for name in names}})
    return changed | ({"OPENCODE_CONFIG_CONTENT": json.dumps(content)} if content else {})


def _opencode_folder(plan: Json, env: dict[str, str]) -> dict[str, str]:
    home = Path(env.get("HOME", "/"))
    person = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    folder = _fresh(Path(plan["folder"]))
    config = folder / "config"
    _with_the_others(person, config)
    (folder / "home").mkdir()
    places = [person / "opencode" / name for name in _OPENCODE_FILES]
    places += [home / ".opencode" / name for name in _OPENCODE_FILES[1:]]
    given = set(plan["given"])
    if "OPENCODE_CONFIG" not in given and env.get("OPENCODE_CONFIG"):
        places.append(Path(env["OPENCODE_CONFIG"]))
    if "OPENCODE_CONFIG_DIR" not in given and env.get("OPENCODE_CONFIG_DIR"):
        places += [Path(env["OPENCODE_CONFIG_DIR"], name) for name in _OPENCODE_FILES[1:]]
    settings: Json = {}
    for place in places:
        settings = merged(settings, kept(read_settings(place), table("agents")["opencode"]["access"]["kept"]))
    (config / "opencode" / "opencode.json").write_text(json.dumps(settings), "utf-8")
    (config / "opencode" / "node_modules").mkdir()
    (config / "opencode" / "package-lock.json").write_text(json.dumps(_HAS_ITS_PACKAGE), "utf-8")
    for name in {"OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"} - given:
        env.pop(name, None)
    alone = {"XDG_CONFIG_HOME": str(config), "OPENCODE_TEST_HOME": str(folder / "home"), "OPENCODE_PURE": "1"}
    if plan["settings"] == "none":
        off = ("OPENCODE_DISABLE_PROJECT_CONFIG", "OPENCODE_DISABLE_CLAUDE_CODE", "OPENCODE_DISABLE_EXTERNAL_SKILLS")
        alone |= dict.fromkeys(off, "1")
    return alone


def _opencode_writable(plan: Json, env: dict[str, str]) -> dict[str, str]:
    """Lead OpenCode to a folder with all that the person's holds, if that is read-only, as in a sandbox.

    It writes a .gitignore into its folder, and does not start if it cannot.
    """
    person = Path(env.get("XDG_CONFIG_HOME") or Path(env.get("HOME", "/"), ".config"))
    if not (person / "opencode").is_dir() or os.access(person / "opencode", os.W_OK):
        return {}
    config = _fresh(Path(plan["folder"])) / "config"
    mirror_opencode(person, config)
    return {"XDG_CONFIG_HOME": str(config)}


def mirror_opencode(person: Path, config: Path) -> None:
    """Make a folder like the person's of all configurations, in which OpenCode's own is writable."""
    _with_the_others(person, config)
    for entry in (person / "opencode").iterdir():
        place = config / "opencode" / entry.name
        if entry.is_file():
            shutil.copy(entry, place)
        else:
            place.symlink_to(entry)


def _with_the_others(person: Path, config: Path) -> None:
    (config / "opencode").mkdir(parents=True)
    for entry in person.iterdir() if person.is_dir() else ():
        if entry.name != "opencode":
            (config / entry.name).symlink_to(entry)


def kept(settings: Json, paths: Sequence[Sequence[str]]) -> Json:
    """Return the settings with nothing but what lies at the paths."""
    result: Json = {}
    for path in paths:
        value: Any = settings
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            for key in reversed(path):
                value = {key: value}
            result = merged(result, value)
    return result


def merged(one: Json, other: Json) -> Json:
    """Return both, the other's values if both have one; what only the other has comes last."""
    result = dict(one)
    for key, value in other.items():
        before = result.get(key)
        result[key] = merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return result


def read_settings(path: Path, *, lenient: bool = False) -> Json:
    """Return the settings in a file, nothing without one; its own relative files stay what they are."""
    try:
        with path.open("rb") as file:
            text = file.read(_SETTINGS_BYTES_MAX).decode("utf-8-sig", "replace")
    except FileNotFoundError:
        return {}
    except OSError as problem:
        if lenient:
            return {}
        raise UnreadableSettingsError(f"{path}: {problem.strerror}") from problem
    # OpenCode reads {file:NAME} beside the settings, and these are read from another folder.
    text = _RELATIVE_FILE.sub(lambda _: f"{{file:{path.absolute().parent}/", text)
    try:
        return parsed(text, str(path))
    except UnreadableSettingsError:
        if lenient:
            return {}
        raise


def parsed(text: str, where: str) -> Json:
    """Return a JSON object that may have comments and trailing commas. Raises UnreadableSettingsError."""
    plain = _COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    plain = _TRAILING_COMMA.sub(lambda match: match[0] if match[0].startswith('"') else "", plain)
    try:
        value = json.loads(plain) if plain.strip() else {}
    except (ValueError, RecursionError) as problem:
        raise UnreadableSettingsError(f"{where} cannot be read: {problem}") from problem
    if not isinstance(value, dict):
        raise UnreadableSettingsError(f"{where} is no JSON object")
    return value


def _list(entry: object, key: str) -> list[Any]:
    value = entry.get(key) if isinstance(entry, dict) else None
    return value if isinstance(value, list) else []


def _fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    # The person's keys are copied into it.
    folder.mkdir(0o700, parents=True)
    return folder


def _refuse(agent: str, problem: str) -> NoReturn:
    if agent == "opencode":
        error = {"type": "error", "error": {"name": "UnknownError", "data": {"message": problem}}}
        sys.stdout.write(json.dumps(error) + "\n")
    sys.stderr.write(f"{problem}\n")
    sys.exit(_GEMINI_CONFIG_EXIT if agent == "gemini" else 1)


if __name__ == "__main__":
    main()
