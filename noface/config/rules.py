"""The rules of noface.toml that span several keys.

They look at the raw tables rather than at validated models, so that what they find is reported together with
every wrong value. So each must bear any type anywhere and stay silent where validation speaks already.

A ladder is either made of `default_model` and `escalation_model`, or written out as [[retry.ladder]]. It never falls
in tier.
"""

import itertools
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from noface.config.access_rules import access_problems
from noface.config.lines import KeyPath, table_of, tables_of
from noface.config.model_sections import HINT_CONDITIONS, ROLES, FailureHint
from noface.config.presets import DEFAULT_MODEL, with_presets
from noface.config.problems import Problem, did_you_mean
from noface.config.values import NAME_EXPECTED, is_name
from noface.data.trackers import TRACKERS
from noface.model.command_line import PLACEHOLDERS, unknown_placeholders
from noface.model.taxonomy import FailureKind, Strategy


def with_default_model(data: Mapping[str, object]) -> dict[str, object]:
    """Return the tables with [retry] default_model filled in where it may be left out.

    Without a [retry] it is the only one of [models], or the preset; with [[retry.ladder]] it is the first rung's. A
    ladder that is faulty is named by a rule or by validation, and needs no second problem.
    """
    if "retry" not in data:
        return {**data, "retry": {"default_model": next(iter(table_of(data.get("models"))), DEFAULT_MODEL)}}
    retry = data["retry"]
    if not isinstance(retry, Mapping) or "ladder" not in retry or "default_model" in retry:
        return dict(data)
    first = next((rung.get("model") for rung in tables_of(retry["ladder"])), None)
    model = first if isinstance(first, str) else DEFAULT_MODEL
    return {**data, "retry": {**retry, "default_model": model}}


def ladder_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with the ladder as a whole."""
    retry = table_of(data.get("retry"))
    known = with_presets(table_of(data.get("models")))
    if "ladder" not in retry:
        yield from _escalation(retry, known)
        return
    if retry["ladder"] == []:
        yield Problem(("retry", "ladder"), "the ladder is empty; remove it or add a step")
        return
    rungs = tables_of(retry["ladder"])
    yield from _spelt_twice(retry, rungs)
    yield from _falling(rungs, known)


def _escalation(retry: Mapping[str, Any], known: Mapping[str, object]) -> Iterator[Problem]:
    default, escalation = retry.get("default_model"), retry.get("escalation_model")
    low, high = _tier(known, default), _tier(known, escalation)
    if low is not None and high is not None and high < low:
        yield Problem(
            ("retry", "escalation_model"),
            f'"{escalation}" has tier {high}, below tier {low} of default_model "{default}"; expected {low} or more',
        )


def _spelt_twice(retry: Mapping[str, Any], rungs: list[Mapping[str, Any]]) -> Iterator[Problem]:
    default = retry.get("default_model")
    first = rungs[0].get("model") if rungs else None
    if isinstance(default, str) and isinstance(first, str) and default != first:
        yield Problem(
            ("retry", "default_model"), f'[[retry.ladder]] begins with "{first}"; remove default_model, or write that'
        )


def _falling(rungs: list[Mapping[str, Any]], known: Mapping[str, object]) -> Iterator[Problem]:
    tiers = [(index, rung.get("model"), _tier(known, rung.get("model"))) for index, rung in enumerate(rungs)]
    sound = [(index, model, tier) for index, model, tier in tiers if tier is not None]
    for (_, lower, before), (index, model, tier) in pairwise(sound):
        if tier < before:
            path: KeyPath = ("retry", "ladder", index, "model")
            yield Problem(
                path,
                f'"{model}" has tier {tier}, below tier {before} of "{lower}" before it; '
                "a ladder goes up, never down: change their order, or the tiers in [models]",
            )


def _tier(models: Mapping[str, object], name: object) -> int | None:
    if not isinstance(name, str) or name not in models:
        return None
    tier = table_of(models[name]).get("tier", 1)
    return tier if isinstance(tier, int) else None


_SECONDS_MAX = 0.2
_TIMES = 40
_CHARACTERS_MAX = 20


def gate_rule_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the rules whose pattern does not match their example, or can take for ever."""
    for index, rule in enumerate(tables_of(data.get("gate_rules"))):
        pattern, example = rule.get("pattern"), rule.get("example")
        if not isinstance(pattern, str) or not isinstance(example, str) or not pattern.strip() or not example.strip():
            continue
        message = _fault(pattern, example)
        if message:
            yield Problem(("gate_rules", index, "pattern"), message)


def _fault(pattern: str, example: str) -> str:
    """Return what is wrong with a pattern; nothing if it is no expression at all, which its own check reports."""
    import regex

    try:
        compiled = regex.compile(pattern, flags=regex.MULTILINE)
    except regex.error:
        return ""
    try:
        if compiled.search(example, timeout=_SECONDS_MAX) is None:
            return "expected a pattern that matches the rule's own example, and it does not"
        if compiled.search("", timeout=_SECONDS_MAX) is not None:
            return "expected a pattern that needs some text; it matches an empty line, so it would name every failure"
        for text in _trying(example):
            compiled.search(text, timeout=_SECONDS_MAX)
    except TimeoutError:
        return (
            "it can take for ever: text like its example, only longer, keeps it busy; expected no repetition within"
            " a repetition, such as (a+)+ or (a|aa)*"
        )
    return ""


def _trying(example: str) -> Iterator[str]:
    """Yield texts that are nearly like the example, on which a pattern that tries every way never ends."""
    yield example * _TIMES + "\0"
    for character in dict.fromkeys(example[:_CHARACTERS_MAX]):
        yield character * _TIMES * 2 + "\0"


_PRICES = ("usd_per_mtok_in", "usd_per_mtok_out")


def find_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with `data`, the tables of noface.toml as tomllib gave them."""
    yield from _unique_names(data, "gates", "gate")
    yield from _unique_names(data, "gate_rules", "rule")
    yield from gate_rule_problems(data)
    yield from _models(data)
    yield from _default_model(data)
    yield from _named_models(data)
    yield from ladder_problems(data)
    yield from _strategies(data)
    yield from _hint_conditions(data)
    yield from _sandbox(data)
    yield from access_problems(with_default_model(data))
    yield from _remote(data)
    executor = table_of(data.get("executor"))
    if table_of(data.get("run")).get("workers") == 0 and not (executor.get("hosts") or executor.get("address")):
        yield Problem(("run", "workers"), "expected 1 or more: no host of [executor] would do the work")


def _default_model(data: Mapping[str, Any]) -> Iterator[Problem]:
    names = tuple(table_of(data.get("models")))
    if "retry" not in data and len(names) > 1:
        quoted = " or ".join(f'"{name}"' for name in names)
        yield Problem(
            ("models", names[1]),
            f"more than one model, and nothing says which comes first; add [retry] with default_model = {quoted}",
        )


def _unique_names(data: Mapping[str, Any], section: str, what: str) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, entry in enumerate(tables_of(data.get(section))):
        name = entry.get("name")
        if isinstance(name, str) and first.setdefault(name, index) != index:
            yield Problem(
                (section, index, "name"), f'expected a unique name; "{name}" is {what} {first[name] + 1} already'
            )


def _models(data: Mapping[str, Any]) -> Iterator[Problem]:
    merged = with_presets(table_of(data.get("models")))
    for name, model in merged.items():
        if not is_name(name):
            yield Problem(("models", name), f"expected {NAME_EXPECTED}")
        entry = table_of(model)
        command = entry.get("command", "")
        if entry.get("agent") == "command" and isinstance(command, str) and not command.strip():
            yield Problem(("models", name, "command"), 'missing; agent "command" needs the shell command to run')
        if entry.get("agent") == "command" and isinstance(command, str):
            yield from _placeholders(name, command)
        for price, other in itertools.permutations(_PRICES):
            if price in entry and other not in entry:
                yield Problem(("models", name, other), f"missing; needed together with {price}")


def _placeholders(model: str, command: str) -> Iterator[Problem]:
    for name in unknown_placeholders(command):
        meant = f"{did_you_mean(name, PLACEHOLDERS)}; what the shell is to see stands in single quotes"
        yield Problem(("models", model, "command"), f"unknown placeholder {{{name}}}; {meant}")


def _named_models(data: Mapping[str, Any]) -> Iterator[Problem]:
    known = with_presets(table_of(data.get("models")))
    for path, name in _names_of_models(data):
        if isinstance(name, str) and name not in known:
            listed = ", ".join(sorted(known))
            yield Problem(path, f'no model is called "{name}"; {did_you_mean(name, known)} (there are: {listed})')


def _names_of_models(data: Mapping[str, Any]) -> Iterator[tuple[KeyPath, object]]:
    retry = table_of(data.get("retry"))
    for key in ("default_model", "escalation_model"):
        yield ("retry", key), retry.get(key)
    for index, rung in enumerate(tables_of(retry.get("ladder"))):
        yield ("retry", "ladder", index, "model"), rung.get("model")
    roles = table_of(data.get("roles"))
    for role in ROLES:
        yield ("roles", role), roles.get(role)


def _strategies(data: Mapping[str, Any]) -> Iterator[Problem]:
    for kind, strategy in table_of(table_of(data.get("retry")).get("strategies")).items():
        known = FailureKind.__members__.get(kind)
        if known is not None and strategy in [*Strategy] and strategy not in known.allowed:
            sensible = ", ".join(known.allowed)
            yield Problem(
                ("retry", "strategies", kind), f'"{strategy}" is not a strategy for {kind}; expected one of: {sensible}'
            )


def _hint_conditions(data: Mapping[str, Any]) -> Iterator[Problem]:
    for index, hint in enumerate(tables_of(data.get("failure_hints"))):
        # A misspelt condition is named as an unknown key; it needs no second mention.
        if not hint.keys() <= FailureHint.model_fields.keys():
            continue
        if not any(hint.get(condition, "") != "" for condition in HINT_CONDITIONS):
            yield Problem(
                ("failure_hints", index),
                f"a hint needs one or more conditions: {', '.join(HINT_CONDITIONS)}",
            )


def _sandbox(data: Mapping[str, Any]) -> Iterator[Problem]:
    sandbox = table_of(data.get("sandbox"))
    if sandbox.get("wrap") and sandbox.get("kind") == "bubblewrap":
        yield Problem(
            ("sandbox", "wrap"),
            'wrap replaces the sandbox and cannot be used with kind = "bubblewrap"; remove one of them',
        )


def _remote(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield keys about what leaves the machine that contradict each other: one reading would send what nobody asked."""
    landing, tracker = table_of(data.get("landing")), table_of(data.get("tracker"))
    how, kind = landing.get("how", "merge"), tracker.get("kind")
    if how == "pull-request" and landing.get("push") is True:
        yield Problem(
            ("landing", "push"),
            'with how = "pull-request" main is never pushed; remove push, or write how = "merge" to push main itself',
        )
    if how == "merge" and landing.get("auto_merge") is True:
        yield Problem(
            ("landing", "auto_merge"),
            'with how = "merge" there is no pull request; remove it, or write how = "pull-request"',
        )
    entry = TRACKERS.get(kind) if isinstance(kind, str) else None
    if entry is not None and entry.remote and "path" in tracker:
        yield Problem(("tracker", "path"), f'kind = "{kind}" reads no files of the repository; remove path, or kind')
