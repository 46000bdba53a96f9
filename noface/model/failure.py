"""Why an attempt failed, as a record: what decided, where, and what the next prompt says of it."""

from dataclasses import dataclass
from typing import Annotated

from noface.model.description import Minimum, OneOf, Timestamp
from noface.model.quoting import in_dollars
from noface.model.taxonomy import Category, FailureKind

OF_PROJECT = "project:"
"""What the name of a rule begins with in verdicts where it is one of the project's `[[gate_rules]]`."""
UNCHANGED = "tree-unchanged"
"""The rule of an attempt that leaves its workspace as it was, and says nothing that explains it."""
ELSEWHERE = "worked-elsewhere"
"""The rule of one whose worker left its work beside the files of the workspace, such as in a stash."""
CHANGED_FILES = "gate-changed-files"
MESSAGE_REFUSED, ACCESS = "commit-message", "access-refused"
DISK_FULL = "disk-full"
DISK_SEEMS_FULL = "disk-seems-full"
"""The rule where a worker said so and there is room: the run stops where it says so again and again."""
SETUP_PASSING = "setup-failed-in-passing"
UNANSWERED = "agent-unanswered"
"""The rule of a run that was ended at a limit before anything came of its model. Silence alone proves no outage."""
OUT_OF_REACH = "out-of-reach"
TOOLS_DENIED = "tools-denied"
"""The rule of an agent that misses what its sandbox hides or makes read-only."""
OUTSIDE_CAUSE = "outside-cause"
"""The rule of a plain command whose final error may pass by itself."""
WORKER, REVIEWER, PERSON = "worker", "reviewer", "person"
"""Whose words an excerpt can be; what programs printed is nobody's."""
TOO_LARGE = "report-too-large"
"""The rule of a worker's report that wants the issue divided."""
MADE_UP = "made-up"
"""The rule of work that passed, and of which its worker says that something is made up, or was missing."""
TAKEN_BACK, BY_YOU = "taken-back", "taken back by you"
"""The rule of what has landed and a person took back from main, and how its message begins."""
NO_ANSWER = "page-for-an-answer"
"""The rule of a plain command that ended with a web page, or half a document, in place of its provider's answer."""


def is_of_project(rule: str) -> bool:
    return rule.startswith(OF_PROJECT)


_UNITS = {"turns": " turns", "context": " tokens", "output": " tokens", "budget": "", "memory": " bytes"}


def _amount(value: float | None, resource: str) -> str:
    if value is None:
        return ""
    return in_dollars(value) if resource == "budget" else f"{value:,.0f}"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt failed, with the rule and the lines that decided (law 10: never an agent's prose).

    `charged` is False if something other than the worker is to blame (law 8). `resource` is what ran out, `usage` and
    `limit` how much of it. `points` are what a review asks for. `by` is the one author of `excerpt`: WORKER, REVIEWER,
    PERSON, or "" for programs. `expected_type` and `actual_type` are in JSON's words (P6).
    """

    kind: Annotated[FailureKind, OneOf(FailureKind), "Why."]
    message: Annotated[str, "What went wrong."]
    rule: Annotated[str, "The rule that recognised it."]
    location: Annotated[str | None, "Where."] = None
    signature: Annotated[str, "The same for each run of the same failure; may be empty."] = ""
    evidence: Annotated[tuple[str, ...], "The lines that decided."] = ()
    excerpt: Annotated[str, "The lines of the output that tell most."] = ""
    failing_tests: Annotated[tuple[str, ...], "The tests that failed."] = ()
    gate: Annotated[str | None, "The gate that failed."] = None
    retry_at: Annotated[float | None, Timestamp, "When the provider answers again; null if it did not say."] = None
    questions: Annotated[tuple[str, ...], "What the worker asked."] = ()
    charged: bool = True
    also_matched: Annotated[
        tuple[tuple[str, str, str], ...], "The rules that matched as well and lost: rule, line, why."
    ] = ()
    resource: str = ""
    usage: float | None = None
    limit: float | None = None
    expected_type: str = ""
    actual_type: str = ""
    points: tuple[str, ...] = ()
    by: str = ""

    @property
    def ran_out(
        self,
    ) -> Annotated[str, "Which resource ran out, with usage and limit where they are known; may be empty."]:
        unit = _UNITS.get(self.resource)
        usage, limit = (_amount(value, self.resource) for value in (self.usage, self.limit))
        if unit is None or not (usage or limit):
            return ""
        text = f"{usage} of {limit}{unit}" if usage and limit else f"its limit is {limit}{unit}"
        return f"ran out of {self.resource}: {text if limit else f'{usage}{unit} used'}"

    @property
    def message_alone(self) -> str:
        return self.message.removeprefix(f"gate {self.gate}: ")

    @property
    def category(self) -> Annotated[Category, OneOf(Category), "The category of the kind."]:
        return self.kind.category


@dataclass(frozen=True, slots=True)
class PriorFailure:
    """An attempt that failed."""

    number: Annotated[int, Minimum(1), "Its number."]
    model: Annotated[str, "The entry of [models] that made it."]
    kind: Annotated[str, OneOf(FailureKind), "Why it failed."]
    message: Annotated[str, "What went wrong, in one sentence or the tool's own words."]
    location: Annotated[str | None, "Where, such as tests/test_login.py:41."]
    excerpt: Annotated[str, "The lines of the output that tell most."]
    failing_tests: Annotated[tuple[str, ...], "The tests that failed, by name."] = ()
    rule: Annotated[str, "The rule of noface that recognised the failure."] = ""
    charged: Annotated[
        bool, "Whether it counts against the issue's attempts; false where something else was to blame."
    ] = True
    ran_out: Annotated[str, "Which resource ran out, with usage and limit where they are known; may be empty."] = ""
    command: Annotated[str, "The command of the gate that failed; empty where none did."] = ""
    signature: Annotated[str, "What makes two failures the same; may be empty."] = ""
    changed: Annotated[tuple[str, ...], "The paths it changed against main."] = ()
    lines: Annotated[int, "How many lines it added and deleted."] = 0
    summary: Annotated[str, "What its worker said of it; may be empty."] = ""
    questions: Annotated[tuple[str, ...], "What its worker asked."] = ()
    left: Annotated[tuple[str, ...], "What its worker called left of the issue."] = ()
    also: Annotated[tuple[int, ...], "The numbers of earlier attempts that failed the same way."] = ()
    whose: Annotated[str, "Whose the failing tests are: main, own or issue; empty if that is not known."] = ""
    by: Annotated[str, "Whose words the excerpt is: reviewer; empty for what programs printed."] = ""
    points: Annotated[tuple[str, ...], "What a review asks for."] = ()
    said: Annotated[str, "The end of what its worker put out, if that tells why; may be empty."] = ""
