"""The rules of noface.toml that span several keys.

They look at the raw tables rather than at validated models, so that what they find is reported together with
every wrong value. So each must bear any type anywhere and stay silent where validation speaks already.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from noface.config.lines import KeyPath, table_of, tables_of
from noface.config.model_sections import HINT_CONDITIONS, ROLES, FailureHint
from noface.config.presets import DEFAULT_MODEL, with_presets
from noface.config.problems import Problem, did_you_mean
from noface.config.values import NAME_EXPECTED, defaults_of, is_name
from noface.data import table
from noface.data.trackers import TRACKERS
from noface.model.access import Permissions, Settings, Tool
from noface.model.command_line import PLACEHOLDERS, unknown_placeholders
from noface.model.taxonomy import FailureKind, Strategy
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


_RULE_SECONDS_MAX = 0.2
_PRICES = ("usd_per_mtok_in", "usd_per_mtok_out")
_Models = Mapping[str, object]
"""The presets and [models], by name."""


def with_default_model(data: Mapping[str, object]) -> dict[str, object]:
    """Return the tables with [retry] default_model filled in where it may be left out.

    Without a [retry] it is the only one of [models], or the preset; with [[retry.ladder]] it is the first rung's.
    """
    if "retry" not in data:
        return {**data, "retry": {"default_model": next(iter(table_of(data.get("models"))), DEFAULT_MODEL)}}
    retry = data["retry"]
    if not isinstance(retry, Mapping) or "ladder" not in retry or "default_model" in retry:
        return dict(data)
    first = next((rung.get("model") for rung in tables_of(retry["ladder"])), None)
    model = first if isinstance(first, str) else DEFAULT_MODEL
    return {**data, "retry": {**retry, "default_model": model}}


def find_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with `data`, the tables of noface.toml as tomllib gave them."""
    models = with_presets(table_of(data.get("models")))
    yield from _unique_names(data, "gates", "gate")
    yield from _unique_names(data, "gate_rules", "rule")
    yield from _gate_rules(data)
    yield from _models(models)
    yield from _named_models(data, models)
    yield from _ladder(table_of(data.get("retry")), models)
    for kind, strategy in table_of(table_of(data.get("retry")).get("strategies")).items():
        known = FailureKind.__members__.get(kind)
        if known is not None and strategy in [*Strategy] and strategy not in known.allowed:
            sensible = ", ".join(known.allowed)
            yield Problem(
                ("retry", "strategies", kind), f'"{strategy}" is not a strategy for {kind}; expected one of: {sensible}'
            )
    yield from _hint_conditions(data)
    yield from _contradictions(data)
    yield from access_problems(with_default_model(data))


def _unique_names(data: Mapping[str, Any], section: str, what: str) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, entry in enumerate(tables_of(data.get(section))):
        name = entry.get("name")
        if isinstance(name, str) and first.setdefault(name, index) != index:
            yield Problem(
                (section, index, "name"), f'expected a unique name; "{name}" is {what} {first[name] + 1} already'
            )


def _gate_rules(data: Mapping[str, Any]) -> Iterator[Problem]:
    for index, rule in enumerate(tables_of(data.get("gate_rules"))):
        pattern, example = rule.get("pattern"), rule.get("example")
        if not isinstance(pattern, str) or not isinstance(example, str) or not pattern.strip() or not example.strip():
            continue
        import regex

        try:
            own, empty = (
                regex.search(pattern, text, flags=regex.MULTILINE, timeout=_RULE_SECONDS_MAX) for text in (example, "")
            )
        except regex.error:
            continue  # no expression at all, which its own check reports
        except TimeoutError:
            own = empty = None
        if own is None or empty is not None:
            wrong = "it does not" if own is None else "it matches an empty line, so it would name every failure"
            message = f"expected a pattern that matches the rule's own example, and needs some text; {wrong}"
            yield Problem(("gate_rules", index, "pattern"), message)


def _models(models: _Models) -> Iterator[Problem]:
    for name, model in models.items():
        if not is_name(name):
            yield Problem(("models", name), f"expected {NAME_EXPECTED}")
        entry = table_of(model)
        command = entry.get("command", "")
        if entry.get("agent") == "command" and isinstance(command, str):
            if not command.strip():
                yield Problem(("models", name, "command"), 'missing; agent "command" needs the shell command to run')
            for unknown in unknown_placeholders(command):
                meant = f"{did_you_mean(unknown, PLACEHOLDERS)}; what the shell is to see stands in single quotes"
                yield Problem(("models", name, "command"), f"unknown placeholder {{{unknown}}}; {meant}")
        for price, other in itertools.permutations(_PRICES):
            if price in entry and other not in entry:
                yield Problem(("models", name, other), f"missing; needed together with {price}")


def _named_models(data: Mapping[str, Any], models: _Models) -> Iterator[Problem]:
    own, retry, roles = tuple(table_of(data.get("models"))), table_of(data.get("retry")), table_of(data.get("roles"))
    if "retry" not in data and len(own) > 1:
        quoted = " or ".join(f'"{name}"' for name in own)
        yield Problem(
            ("models", own[1]),
            f"more than one model, and nothing says which comes first; add [retry] with default_model = {quoted}",
        )
    named = [*_worker_models(retry), *((("roles", role), roles.get(role)) for role in ROLES)]
    for path, name in named:
        if isinstance(name, str) and name not in models:
            listed = ", ".join(sorted(models))
            yield Problem(path, f'no model is called "{name}"; {did_you_mean(name, models)} (there are: {listed})')


def _worker_models(retry: Mapping[str, Any]) -> list[tuple[KeyPath, object]]:
    rungs = enumerate(tables_of(retry.get("ladder")))
    named: list[tuple[KeyPath, object]] = [
        (("retry", key), retry.get(key)) for key in ("default_model", "escalation_model")
    ]
    return [*named, *((("retry", "ladder", index, "model"), rung.get("model")) for index, rung in rungs)]


def _ladder(retry: Mapping[str, Any], models: _Models) -> Iterator[Problem]:
    if retry.get("ladder") == []:
        yield Problem(("retry", "ladder"), "the ladder is empty; remove it or add a step")
        return
    (_, default), *others = _worker_models(retry)
    rungs = others[1:]
    if rungs and isinstance(default, str) and isinstance(first := rungs[0][1], str) and default != first:
        yield Problem(
            ("retry", "default_model"), f'[[retry.ladder]] begins with "{first}"; remove default_model, or write that'
        )
    tiers = [(path, name, _tier(models, name)) for path, name in (rungs or _worker_models(retry))]
    sound = [(path, name, tier) for path, name, tier in tiers if tier is not None]
    for (_, lower, before), (path, name, tier) in itertools.pairwise(sound):
        if tier < before:
            yield Problem(
                path,
                f'"{name}" has tier {tier}, below tier {before} of "{lower}" before it; expected {before} or more: '
                "a ladder goes up, never down",
            )


def _tier(models: _Models, name: object) -> int | None:
    if not isinstance(name, str) or name not in models:
        return None
    tier = table_of(models[name]).get("tier", 1)
    return tier if isinstance(tier, int) else None


def _hint_conditions(data: Mapping[str, Any]) -> Iterator[Problem]:
    for index, hint in enumerate(tables_of(data.get("failure_hints"))):
        # A misspelt condition is named as an unknown key; it needs no second mention.
        known = hint.keys() <= FailureHint.model_fields.keys()
        if known and not any(hint.get(condition, "") != "" for condition in HINT_CONDITIONS):
            yield Problem(
                ("failure_hints", index), f"a hint needs one or more conditions: {', '.join(HINT_CONDITIONS)}"
            )


def _contradictions(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield keys that contradict each other: one reading would do, or send, what nobody asked for."""
    names = ("sandbox", "landing", "tracker", "executor", "run")
    sandbox, landing, tracker, executor, run = (table_of(data.get(name)) for name in names)
    how, kind = landing.get("how", "merge"), tracker.get("kind")
    if sandbox.get("wrap") and sandbox.get("kind") == "bubblewrap":
        wrong = 'wrap replaces the sandbox and cannot be used with kind = "bubblewrap"; remove one of them'
        yield Problem(("sandbox", "wrap"), wrong)
    if how == "pull-request" and landing.get("push") is True:
        wrong = 'with how = "pull-request" main is never pushed; remove push, or write how = "merge" to push main'
        yield Problem(("landing", "push"), wrong)
    if how == "merge" and landing.get("auto_merge") is True:
        wrong = 'with how = "merge" there is no pull request; remove it, or write how = "pull-request"'
        yield Problem(("landing", "auto_merge"), wrong)
    entry = TRACKERS.get(kind) if isinstance(kind, str) else None
    if entry is not None and entry.remote and "path" in tracker:
        yield Problem(("tracker", "path"), f'kind = "{kind}" reads no files of the repository; remove path, or kind')
    if run.get("workers") == 0 and not (executor.get("hosts") or executor.get("address")):
        yield Problem(("run", "workers"), "expected 1 or more: no host of [executor] would do the work")
    if executor.get("address") and not executor.get("certificates"):
        yield Problem(("executor", "address"), "it needs certificates, the folder with ca.pem, client.pem, client.key")
