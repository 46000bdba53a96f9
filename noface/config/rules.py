"""The rules of noface.toml that span several keys.

They look at the raw tables rather than at validated models, so that what they find is reported together with
every wrong value. So each must bear any type anywhere and stay silent where validation speaks already.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from noface.config.keys import did_you_mean
from noface.config.presets import DEFAULT_MODEL, with_presets
from noface.config.problems import Problem
from noface.config.values import NAME_EXPECTED, is_name
from noface.config.workers import HINT_CONDITIONS, FailureHint


def find_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with `data`, the tables of noface.toml as tomllib gave them."""
    yield from _gate_names(data)
    yield from _models(data)
    yield from _default_model(data)
    yield from _retry_models(data)
    yield from _hint_conditions(data)


def assumed_default_model(data: Mapping[str, Any]) -> str:
    """Return the model to begin with where there is no [retry]: the only one of [models], or the preset."""
    return next(iter(_table(data.get("models"))), DEFAULT_MODEL)


def _default_model(data: Mapping[str, Any]) -> Iterator[Problem]:
    names = tuple(_table(data.get("models")))
    if "retry" not in data and len(names) > 1:
        quoted = " or ".join(f'"{name}"' for name in names)
        yield Problem(
            ("models", names[1]),
            f"more than one model, and nothing says which comes first; add [retry] with default_model = {quoted}",
        )


def _gate_names(data: Mapping[str, Any]) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, gate in enumerate(_tables(data.get("gates"))):
        name = gate.get("name")
        if isinstance(name, str) and first.setdefault(name, index) != index:
            yield Problem(
                ("gates", index, "name"), f'expected a unique name; "{name}" is gate {first[name] + 1} already'
            )


def _models(data: Mapping[str, Any]) -> Iterator[Problem]:
    merged = with_presets(_table(data.get("models")))
    for name, model in merged.items():
        if not is_name(name):
            yield Problem(("models", name), f"expected {NAME_EXPECTED}")
        entry = _table(model)
        command = entry.get("command", "")
        if entry.get("agent") == "command" and isinstance(command, str) and not command.strip():
            yield Problem(("models", name, "command"), 'missing; agent "command" needs the shell command to run')


def _retry_models(data: Mapping[str, Any]) -> Iterator[Problem]:
    retry = _table(data.get("retry"))
    known = with_presets(_table(data.get("models")))
    for key in ("default_model", "escalation_model"):
        name = retry.get(key)
        if isinstance(name, str) and name not in known:
            listed = ", ".join(sorted(known))
            yield Problem(
                ("retry", key), f'no model is called "{name}"; {did_you_mean(name, known)} (there are: {listed})'
            )
    default, escalation = retry.get("default_model"), retry.get("escalation_model")
    low, high = _tier(known, default), _tier(known, escalation)
    if low is not None and high is not None and high < low:
        yield Problem(
            ("retry", "escalation_model"),
            f'"{escalation}" has tier {high}, below tier {low} of default_model "{default}"; expected {low} or more',
        )


def _tier(models: Mapping[str, object], name: object) -> int | None:
    if not isinstance(name, str) or name not in models:
        return None
    tier = _table(models[name]).get("tier", 1)
    return tier if isinstance(tier, int) else None


def _hint_conditions(data: Mapping[str, Any]) -> Iterator[Problem]:
    for index, hint in enumerate(_tables(data.get("failure_hints"))):
        # A misspelt condition is named as an unknown key; it needs no second mention.
        if not hint.keys() <= FailureHint.model_fields.keys():
            continue
        if not any(hint.get(condition, "") != "" for condition in HINT_CONDITIONS):
            yield Problem(
                ("failure_hints", index),
                f"when does this hint apply? expected one or more of {', '.join(HINT_CONDITIONS)}",
            )


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _tables(value: object) -> list[Mapping[str, Any]]:
    return [_table(item) for item in value] if isinstance(value, list) else []
