"""The rules of the ladder in [retry] (N11, L14), and how its two spellings become one.

A ladder is either made of `default_model` and `escalation_model`, or written out as [[retry.ladder]]. It never falls
in tier. Like all rules, these look at raw tables and stay silent where validation speaks already.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from noface.config.lines import Path
from noface.config.presets import DEFAULT_MODEL, with_presets
from noface.config.problems import Problem
from noface.config.tables import table_of, tables_of


def with_default_model(data: Mapping[str, Any]) -> dict[str, Any]:
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
        yield Problem(("retry", "ladder"), "an empty ladder answers nothing; remove it or add a rung")
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
    if "escalation_model" in retry:
        yield Problem(
            ("retry", "escalation_model"),
            "[[retry.ladder]] replaces it; remove escalation_model, or the ladder to have two models",
        )
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
            path: Path = ("retry", "ladder", index, "model")
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
