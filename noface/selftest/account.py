"""The document of a selftest: what each variant recovered, at what cost, and what did not go as it should. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from noface.selftest.score import Result
from noface.selftest.settings import Variant

Record = dict[str, Any]
LEFT_OUT = {"BASELINE_RED": "it stops a run before any work"}
"""Kinds without scenarios, and why."""


def document(found: Mapping[Variant, Sequence[Result]], seconds: float) -> Record:
    """Return the document: `kinds` and `totals` count, `scenarios` tell each, `troubles` what noface got wrong.

    `ok` is True where noface recovered all that can be, and stopped in time with the rest.
    """
    own = found[Variant.NOFACE]
    troubles = [trouble for result in own if (trouble := _trouble(result)) is not None]
    kinds = tuple(dict.fromkeys(result.scenario.kind for result in own))
    return {
        "ok": not troubles,
        "seconds": round(seconds, 1),
        "variants": [variant.value for variant in found],
        "kinds": [{"kind": kind, **_counted(found, kind)} for kind in kinds],
        "totals": _counted(found, None),
        "asked": sum(result.asked for result in own),
        "troubles": troubles,
        "left_out": dict(LEFT_OUT),
        "scenarios": [_told(found, place) for place in range(len(own))],
    }


def _counted(found: Mapping[Variant, Sequence[Result]], kind: str | None) -> Record:
    """Count the scenarios of a kind (None: of all): those that can be recovered, and apart the hopeless ones."""
    counts: Record = {"recoverable": 0, "recovered": {}, "runs": {}, "hopeless": 0, "stopped": {}, "stopped_runs": {}}
    for variant, results in found.items():
        of_kind = [result for result in results if kind in (None, result.scenario.kind)]
        hopeful = [result for result in of_kind if not result.scenario.hopeless]
        hopeless = [result for result in of_kind if result.scenario.hopeless]
        counts["recoverable"], counts["hopeless"] = len(hopeful), len(hopeless)
        counts["recovered"][variant.value] = sum(result.good for result in hopeful)
        counts["runs"][variant.value] = sum(result.cost for result in hopeful)
        counts["stopped"][variant.value] = sum(result.good for result in hopeless)
        counts["stopped_runs"][variant.value] = sum(result.cost for result in hopeless)
    return counts


def _trouble(result: Result) -> Record | None:
    scenario = result.scenario
    if result.good and result.provoked:
        return None
    if result.good:
        what = f"it was to fail as {scenario.kind} at first"
    elif result.status == "merged":
        what = f"it was merged, but main lacks its {result.missing}"
    elif scenario.hopeless:
        what = f"it was to end blocked after at most {scenario.runs_max} runs"
    else:
        what = "it was not recovered"
    return {"id": scenario.id, "what": what, **_result(result), "carries": scenario.carries}


def _told(found: Mapping[Variant, Sequence[Result]], place: int) -> Record:
    scenario = found[Variant.NOFACE][place].scenario
    return {
        "id": scenario.id,
        "kind": scenario.kind,
        "carries": scenario.carries,
        "hopeless": scenario.hopeless,
        "results": {variant.value: _result(results[place]) for variant, results in found.items()},
    }


def _result(result: Result) -> Record:
    return {
        "good": result.good,
        "status": result.status,
        "reason": result.reason,
        "outcomes": list(result.outcomes),
        "asked": result.asked,
    }
