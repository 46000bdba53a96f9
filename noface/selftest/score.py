"""What each variant made of the scenarios, from the events of `noface run --json`: lines in, a document out. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from noface.selftest.project import ATTEMPTS_MAX, Variant
from noface.selftest.scenario import Scenario, whole_id

LEFT_OUT = {"BASELINE_RED": "it stops a run before any work"}
"""Kinds without scenarios, and why."""
_ENDS = {
    "issue_merged": "merged",
    "issue_blocked": "blocked",
    "issue_approval": "approval",
    "issue_skipped": "skipped",
}
_GOES_ON = frozenset({"issue_ready", "issue_running", "issue_waiting", "issue_landing", "issue_review", "issue_epic"})


@dataclass(slots=True)
class Progress:
    """What the events say of a scenario: how it stands, its worker runs with those of its parts, questions.

    `outcomes` are by issue and number of the attempt, in the order of their ends.
    """

    status: str = "open"
    reason: str = ""
    outcomes: dict[tuple[str, object], str] = field(default_factory=dict)
    asked: int = 0


class RunLog:
    """Collects the events of a run, line by line."""

    def __init__(self) -> None:
        self.progress: dict[str, Progress] = {}
        self.why = ""

    @property
    def runs(self) -> int:
        """How many worker runs have ended."""
        return sum(len(one.outcomes) for one in self.progress.values())

    def settled(self, scenarios: Iterable[Scenario]) -> int:
        """Return how many of these have come to an end, for now."""
        return sum(self.progress[one.id].status != "open" for one in scenarios if one.id in self.progress)

    def add(self, line: str) -> None:
        """Take a line of the run's output; what is no event is passed over."""
        try:
            event = json.loads(line)
        except ValueError:
            return
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            self._event(event["event"], event)

    def _event(self, kind: str, event: Mapping[str, Any]) -> None:
        if kind == "run_ended":
            self.why = str(event.get("why", ""))
        issue = event.get("issue")
        if not isinstance(issue, str):
            return
        progress = self.progress.setdefault(whole_id(issue), Progress())
        match kind:
            case "attempt_finished" | "attempt_overruled":
                progress.outcomes[issue, event.get("number")] = str(event.get("outcome", ""))
            case "asked":
                progress.asked += 1
            case _ if issue == whole_id(issue) and kind in _ENDS:
                progress.status, progress.reason = _ENDS[kind], str(event.get("reason", ""))
            case _ if issue == whole_id(issue) and kind in _GOES_ON:
                progress.status = "open"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a scenario in a variant. `outcomes` are those of its worker runs, in the order of their ends.

    `missing` names what its answer lacks on main, "" if it is complete: no status is believed without it.
    """

    scenario: Scenario
    status: str
    reason: str
    outcomes: tuple[str, ...]
    asked: int
    missing: str = ""

    @property
    def good(self) -> bool:
        """True if it was recovered; of a hopeless one, if it was handed to a person within its limit."""
        if self.scenario.hopeless:
            return self.status in ("blocked", "approval") and len(self.outcomes) <= self.scenario.runs_max
        return self.status == "merged" and not self.missing

    @property
    def cost(self) -> int:
        """The worker runs it took; what was not recovered has cost all that it may."""
        runs = len(self.outcomes)
        if self.good or self.scenario.hopeless:
            return runs
        return max(runs, self.scenario.max_attempts or ATTEMPTS_MAX)

    @property
    def provoked(self) -> bool:
        """True if the first failure was classified as it was meant.

        No attempt ends as NO_PROGRESS itself; and work that waits for a person may have passed.
        """
        first = next((outcome for outcome in self.outcomes if outcome != "PASSED"), "")
        return self.scenario.kind in ("NO_PROGRESS", first) or (self.scenario.hopeless and not first)

    @property
    def trouble(self) -> str:
        """What went wrong, "" if all is well."""
        if self.good:
            return "" if self.provoked else f"it was to fail as {self.scenario.kind} at first"
        if self.status == "merged":
            return f"it was merged, but main lacks its {self.missing}"
        if self.scenario.hopeless:
            return f"it was to end blocked after at most {self.scenario.runs_max} runs"
        return "it was not recovered"

    @property
    def document(self) -> dict[str, Any]:
        """The part that is the same wherever a result is shown."""
        return {
            "good": self.good,
            "status": self.status,
            "reason": self.reason,
            "outcomes": list(self.outcomes),
            "asked": self.asked,
        }


def results(log: RunLog, scenarios: Iterable[Scenario], missing: Mapping[str, str]) -> tuple[Result, ...]:
    """Return what became of the scenarios that count; `missing` tells by id what the answers on main lack."""
    pairs = ((one, log.progress.get(one.id, Progress())) for one in scenarios if not one.support)
    return tuple(
        Result(one, it.status, it.reason, tuple(it.outcomes.values()), it.asked, missing.get(one.id, ""))
        for one, it in pairs
    )


def document(by_variant: Mapping[Variant, Sequence[Result]], seconds: float) -> dict[str, Any]:
    """Return the document: `kinds` and `totals` count, `scenarios` tell each, `troubles` what noface got wrong.

    `ok` is True if noface recovered all that can be, and stopped in time with the rest.
    """
    own = by_variant[Variant.NOFACE]
    troubles = [
        {"id": one.scenario.id, "what": one.trouble, **one.document, "carries": one.scenario.carries}
        for one in own
        if one.trouble
    ]
    kinds = dict.fromkeys(one.scenario.kind for one in own)
    return {
        "ok": not troubles,
        "seconds": round(seconds, 1),
        "variants": [variant.value for variant in by_variant],
        "kinds": [{"kind": kind, **_counts(by_variant, kind)} for kind in kinds],
        "totals": _counts(by_variant, None),
        "asked": sum(one.asked for one in own),
        "troubles": troubles,
        "left_out": dict(LEFT_OUT),
        "scenarios": [
            {
                "id": one.scenario.id,
                "kind": one.scenario.kind,
                "carries": one.scenario.carries,
                "hopeless": one.scenario.hopeless,
                "results": {variant.value: every[place].document for variant, every in by_variant.items()},
            }
            for place, one in enumerate(own)
        ],
    }


_COUNTED = ((False, "recoverable", "recovered", "runs"), (True, "hopeless", "stopped", "stopped_runs"))
"""Whether the scenarios are hopeless, and the keys of how many there are, how many went well, and their runs."""


def _counts(by_variant: Mapping[Variant, Sequence[Result]], kind: str | None) -> dict[str, Any]:
    """Count the scenarios of a kind (None: of all): those that can be recovered, and apart the hopeless ones."""
    counts: dict[str, Any] = {}
    for hopeless, total, good, cost in _COUNTED:
        counted = {
            variant.value: [
                one for one in every if kind in (None, one.scenario.kind) and one.scenario.hopeless is hopeless
            ]
            for variant, every in by_variant.items()
        }
        counts[total] = len(counted[Variant.NOFACE.value])
        counts[good] = {variant: sum(one.good for one in every) for variant, every in counted.items()}
        counts[cost] = {variant: sum(one.cost for one in every) for variant, every in counted.items()}
    return counts
