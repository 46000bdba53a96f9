"""Checks whether an agent can be held to what noface.toml asks of it (agents.toml): settings, tools, permissions."""

from collections.abc import Iterator, Mapping
from typing import Any

from noface.config.lines import KeyPath, table_of, tables_of
from noface.config.presets import with_presets
from noface.config.problems import Problem
from noface.config.values import defaults_of
from noface.data import table
from noface.model.access import Permissions, Settings, Tool
from noface.model.worker_run import ModelSpec

_SHORT = len("-x")
_WORDS = {"settings": Settings, "permissions": Permissions}
_CHANGES_NOTHING = "it works on issues, and could change nothing"
_UNCHOSEN = defaults_of(ModelSpec)
"""What is written where nobody chooses: it may stand there for an agent that noface cannot hold to anything."""


def access_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what the agents of the models cannot be held to."""
    models = with_presets(table_of(data.get("models")))
    for name, entry in table_of(data.get("models")).items():
        agent = _agent_of(models, name)
        asked = table_of(entry)
        for key in _WORDS:
            yield from _word(("models", name, key), agent, asked.get(key))
        yield from _tools(("models", name, "tools"), agent, asked.get("tools"))
        yield from _arguments(("models", name, "args"), agent, asked.get("args"))
    yield from _workers(data, models)


def _agent_of(models: Mapping[str, object], name: object) -> str:
    agent = table_of(models.get(name)).get("agent") if isinstance(name, str) else None
    return agent if isinstance(agent, str) and agent in table("agents") else ""


def _word(path: KeyPath, agent: str, word: object) -> Iterator[Problem]:
    key = str(path[-1])
    entry = table("agents").get(agent, {})
    able = (*entry.get(key, (_UNCHOSEN[key],)), *entry.get(f"{key}_boxed", ()))
    if not agent or word in able or word not in [*_WORDS[key]]:
        return
    listed = " or ".join(f'"{each}"' for each in able)
    yield Problem(path, f'{agent} cannot be held to "{word}"; expected {listed}')


def _workers(data: Mapping[str, Any], models: Mapping[str, object]) -> Iterator[Problem]:
    retry = table_of(data.get("retry"))
    rungs = (rung.get("model") for rung in tables_of(retry.get("ladder")))
    named = (retry.get("default_model"), retry.get("escalation_model"), *rungs)
    for name in dict.fromkeys(name for name in named if isinstance(name, str)):
        asked = table_of(models.get(name))
        if asked.get("permissions") == Permissions.READ_ONLY:
            yield Problem(("models", name, "permissions"), f"{_CHANGES_NOTHING}")
        tools = asked.get("tools")
        if isinstance(tools, list) and not {Tool.EDIT, Tool.RUN} & {each for each in tools if isinstance(each, str)}:
            yield Problem(("models", name, "tools"), f"{_CHANGES_NOTHING}; add edit or run")


def _tools(path: KeyPath, agent: str, tools: object) -> Iterator[Problem]:
    entry = table("agents").get(agent, {})
    if not agent or not isinstance(tools, list) or not all(each in [*Tool] for each in tools):
        return
    if "tools_fixed" not in entry:
        yield Problem(path, f"noface cannot choose the tools of agent {agent}; leave it out")
        return
    for absent in (each for each in tools if each in entry["tools_none"]):
        having = ", ".join(each for each in Tool if each not in entry["tools_none"])
        yield Problem(path, f'{agent} has no tools for "{absent}"; it has: {having}')
    for fixed in (each for each in entry["tools_fixed"] if each not in tools):
        yield Problem(path, f'"{fixed}" cannot be taken from {agent}; add it, or use another agent')


def _options(argument: object) -> Iterator[str]:
    """Yield what an argument may be: an option, one with its value attached, or a setting given to -c."""
    if not isinstance(argument, str):
        return
    yield argument.partition("=")[0]
    if len(argument) > _SHORT and argument[0] == "-" != argument[1]:
        yield argument[:_SHORT]
        yield argument[_SHORT:].partition("=")[0]


def _arguments(path: KeyPath, agent: str, arguments: object) -> Iterator[Problem]:
    owned = table("agents").get(agent, {}).get("owned_options", {})
    for index, argument in enumerate(arguments if isinstance(arguments, list) else ()):
        option = next((each for each in _options(argument) if each in owned), None)
        if option is not None:
            where = ".".join(str(part) for part in path[:-1])
            instead = f"use {owned[option]} of [{where}] instead" if owned[option] else "leave it out"
            yield Problem((*path, index), f"noface sets {option} itself; {instead}")
