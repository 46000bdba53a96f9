"""What a variant made of each scenario, from the events of `noface run --json`. Pure: lines in, records out."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from noface.selftest.scenario import Scenario, whole_id
from noface.selftest.settings import CAP

_ENDS = {
    "issue_merged": "merged",
    "issue_blocked": "blocked",
    "issue_approval": "approval",
    "approval_requested": "approval",
    "issue_skipped": "skipped",
}
_GOES_ON = frozenset({"issue_ready", "issue_running", "issue_waiting", "issue_landing", "issue_epic"})


@dataclass(slots=True)
class Record:
    """What has been heard of a scenario so far: how it stands, its worker runs with those of its parts, questions.

    `outcomes` are by issue and number of the attempt, in the order of their ends.
    """

    status: str = "open"
    reason: str = ""
    outcomes: dict[tuple[str, object], str] = field(default_factory=dict)
    asked: int = 0


class Heard:
    """Collects the events of a run, line by line."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.exit_code: int | None = None
        self.why = ""

    @property
    def runs(self) -> int:
        """How many worker runs have ended."""
        return sum(len(record.outcomes) for record in self.records.values())

    def settled(self, scenarios: Iterable[Scenario]) -> int:
        """Return how many of these have come to an end, for now."""
        return sum(self.records[one.id].status != "open" for one in scenarios if one.id in self.records)

    def line(self, line: str) -> None:
        """Take a line of the run's output; what is no event is passed over."""
        try:
            event = json.loads(line)
        except ValueError:
            return
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            self._event(event["event"], event)

    def _event(self, kind: str, event: Mapping[str, Any]) -> None:
        if kind == "run_ended":
            self.exit_code, self.why = event.get("exit_code"), str(event.get("why", ""))
        issue = event.get("issue")
        if not isinstance(issue, str):
            return
        record = self.records.setdefault(whole_id(issue), Record())
        match kind:
            case "attempt_finished" | "attempt_overruled":
                record.outcomes[issue, event.get("number")] = str(event.get("outcome", ""))
            case "asked":
                record.asked += 1
            case _ if issue == whole_id(issue) and kind in _ENDS:
                record.status, record.reason = _ENDS[kind], str(event.get("reason", ""))
            case _ if issue == whole_id(issue) and kind in _GOES_ON:
                record.status = "open"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a scenario in a variant. `outcomes` are those of its worker runs, in the order of their ends.

    `missing` names what its answer lacks on main, "" where it is complete: no status is believed without it.
    """

    scenario: Scenario
    status: str
    reason: str
    outcomes: tuple[str, ...]
    asked: int
    missing: str = ""

    @property
    def good(self) -> bool:
        """True where it was recovered; where nothing helps: where it was handed to a person within its limit."""
        if self.scenario.hopeless:
            return self.status in ("blocked", "approval") and len(self.outcomes) <= self.scenario.runs_max
        return self.status == "merged" and not self.missing

    @property
    def cost(self) -> int:
        """The worker runs it took; what was not recovered has cost all that it may."""
        runs = len(self.outcomes)
        if self.good or self.scenario.hopeless:
            return runs
        return max(runs, self.scenario.max_attempts or CAP)

    @property
    def provoked(self) -> bool:
        """True where the first failure was classified as it was meant.

        No attempt ends as NO_PROGRESS itself; and work that waits for a person may have passed.
        """
        first = next((outcome for outcome in self.outcomes if outcome != "PASSED"), "")
        return self.scenario.kind in ("NO_PROGRESS", first) or (self.scenario.hopeless and not first)


def results(heard: Heard, scenarios: tuple[Scenario, ...], missing: Mapping[str, str]) -> tuple[Result, ...]:
    """Return what became of the scenarios that count; `missing` tells by id what the answers on main lack."""
    found = []
    for scenario in scenarios:
        record = heard.records.get(scenario.id, Record())
        if not scenario.support:
            outcomes = tuple(record.outcomes.values())
            lacks = missing.get(scenario.id, "")
            found.append(Result(scenario, record.status, record.reason, outcomes, record.asked, lacks))
    return tuple(found)
