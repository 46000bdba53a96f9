"""Makes of a gate's command one that runs only some of its tests, if its runner can be told which (runners.toml)."""

import json
import re
import shlex
from collections.abc import Collection, Sequence
from typing import Any

from noface.data import table
from noface.integrity.inventory import base_number

ONLY_VARIABLE = "NOFACE_ONLY_TESTS"
"""What noface's reporters in pytest and unittest are told the tests by: a JSON list of ids."""
TESTS_MAX = 50
_SHELL = re.compile(r"[;&|<>`\n()]|\$\(")
_AND = re.compile(r"(?<!\s)\s++&&\s+")


def runs_alone(command: str, runners: Collection[str]) -> bool:
    """True if the command ends with its only call of the one runner: all of it is known if its tests are."""
    return _rule(command, runners) is not None


def narrowed(command: str, runners: Collection[str], tests: Sequence[str]) -> str | None:
    """Return the command that runs only these tests, by their ids; None if that cannot be said."""
    rule = _rule(command, runners)
    if rule is None or not tests or len(tests) > TESTS_MAX:
        return None
    if "arguments" not in rule:
        return f"export {ONLY_VARIABLE}={shlex.quote(json.dumps([base_number(test) for test in tests]))}; {command}"
    names = tuple(dict.fromkeys(_name(base_number(test), rule) for test in tests))
    if rule.get("top"):
        names = tuple(dict.fromkeys(name.partition("/")[0] for name in names))
    words: list[str] = []
    for word in [word for word in rule["arguments"] if word != "--" or "--" not in _words(command)]:
        words += names if word == "{names}" else [word.replace("{pattern}", _pattern(names))]
    return f"{command} {shlex.join(words)}"


def _rule(command: str, runners: Collection[str]) -> dict[str, Any] | None:
    rules = table("runners")["only"]
    name = next(iter(runners), "")
    if len(runners) != 1 or name not in rules:
        return None
    parts = _AND.split(command.strip())
    if any(_SHELL.search(part) for part in parts):
        return None
    calls = [_calls(part, rules[name]["words"]) for part in parts]
    return rules[name] if calls[-1] and not any(calls[:-1]) else None


def _calls(part: str, wanted: list[str]) -> bool:
    called = [word.rpartition("/")[2] for word in _words(part)]
    return any(called[at : at + len(wanted)] == wanted for at in range(len(called)))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _name(test: str, rule: dict[str, Any]) -> str:
    name = test.partition("::")[2] or test
    return name.replace(" > ", rule["join"]) if "join" in rule else name


def _pattern(names: Sequence[str]) -> str:
    escaped = (re.sub(r"[.*+?^${}()|[\]\\/]", r"\\\g<0>", name) for name in names)
    return f"^({'|'.join(escaped)})$"
