"""The rules of noface.toml that span several keys.

They look at the raw tables rather than at validated models, so that what they find is reported together with
every wrong value. So each must bear any type anywhere and stay silent where validation speaks already.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from noface.config.gate_rules import gate_rule_problems
from noface.config.keys import did_you_mean
from noface.config.ladder_rules import ladder_problems
from noface.config.lines import Path
from noface.config.presets import with_presets
from noface.config.problems import Problem
from noface.config.retry import Roles
from noface.config.tables import table_of, tables_of
from noface.config.values import NAME_EXPECTED, is_name
from noface.config.workers import HINT_CONDITIONS, FailureHint
from noface.core.taxonomy import FailureKind, Strategy

_PRICES = ("usd_per_mtok_in", "usd_per_mtok_out")


def find_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with `data`, the tables of noface.toml as tomllib gave them."""
    yield from _unique_names(data, "gates", "gate")
    yield from _unique_names(data, "gate_rules", "rule")
    yield from gate_rule_problems(data)
    yield from _canaries(data)
    yield from _models(data)
    yield from _default_model(data)
    yield from _named_models(data)
    yield from ladder_problems(data)
    yield from _strategies(data)
    yield from _hint_conditions(data)
    yield from _sandbox(data)


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


def _canaries(data: Mapping[str, Any]) -> Iterator[Problem]:
    for index, gate in enumerate(tables_of(data.get("gates"))):
        if gate.get("canary") is False and not gate.get("canary_reason"):
            yield Problem(
                ("gates", index, "canary"),
                "a gate that stays green with broken sources proves nothing about them; say in canary_reason why this"
                " one rightly does",
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
        for price, other in itertools.permutations(_PRICES):
            if price in entry and other not in entry:
                yield Problem(("models", name, other), f"missing; {price} alone prices nothing")


def _named_models(data: Mapping[str, Any]) -> Iterator[Problem]:
    known = with_presets(table_of(data.get("models")))
    for path, name in _names_of_models(data):
        if isinstance(name, str) and name not in known:
            listed = ", ".join(sorted(known))
            yield Problem(path, f'no model is called "{name}"; {did_you_mean(name, known)} (there are: {listed})')


def _names_of_models(data: Mapping[str, Any]) -> Iterator[tuple[Path, object]]:
    retry = table_of(data.get("retry"))
    for key in ("default_model", "escalation_model"):
        yield ("retry", key), retry.get(key)
    for index, rung in enumerate(tables_of(retry.get("ladder"))):
        yield ("retry", "ladder", index, "model"), rung.get("model")
    roles = table_of(data.get("roles"))
    for role in Roles.model_fields:
        yield ("roles", role), roles.get(role)


def _strategies(data: Mapping[str, Any]) -> Iterator[Problem]:
    for kind, strategy in table_of(table_of(data.get("retry")).get("strategies")).items():
        known = FailureKind.__members__.get(kind)
        if known is not None and strategy in [*Strategy] and strategy not in known.allowed:
            sensible = ", ".join(known.allowed)
            yield Problem(
                ("retry", "strategies", kind), f'"{strategy}" is no answer to {kind}; expected one of: {sensible}'
            )


def _hint_conditions(data: Mapping[str, Any]) -> Iterator[Problem]:
    for index, hint in enumerate(tables_of(data.get("failure_hints"))):
        # A misspelt condition is named as an unknown key; it needs no second mention.
        if not hint.keys() <= FailureHint.model_fields.keys():
            continue
        if not any(hint.get(condition, "") != "" for condition in HINT_CONDITIONS):
            yield Problem(
                ("failure_hints", index),
                f"when does this hint apply? expected one or more of {', '.join(HINT_CONDITIONS)}",
            )


def _sandbox(data: Mapping[str, Any]) -> Iterator[Problem]:
    sandbox = table_of(data.get("sandbox"))
    if sandbox.get("wrap") and sandbox.get("kind") == "bubblewrap":
        yield Problem(
            ("sandbox", "wrap"),
            'it takes the place of the sandbox, so kind = "bubblewrap" cannot hold beside it: leave one of them out',
        )
