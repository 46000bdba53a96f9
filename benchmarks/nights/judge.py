"""What a person finds in the morning, held against what the night's data expect. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """How a night ended; SKIPPED where this machine cannot play it."""

    RIGHT = "right"
    """All that can be done is on main; the rest was stopped safely, and a person is told what it needs."""
    SHORT = "short"
    """Nothing is harmed, but work is missing, was paid for twice, or a person is not told what is needed."""
    HARM = "harm"
    """What must not land did, main is red, processes run on, or something of the person's is gone."""
    SKIPPED = "skipped"


@dataclass(slots=True)
class Left:
    """What is left of a night. `landed` tells by issue whether main does what it asks for; `files` are the texts that
    expectations look at; `issues`, `blocked` and `texts` are what noface tells; the other variants tell nothing."""

    exits: list[int | None]
    outputs: list[str]
    trouble: str
    landed: dict[str, bool]
    tests: str
    running: int
    changed: list[str]
    calls: list[dict[str, Any]]
    notes: list[str]
    hours: float
    issues: dict[str, Any] = field(default_factory=dict)
    blocked: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    log: str = ""
    files: dict[str, str] = field(default_factory=dict)
    found: dict[str, list[str]] = field(default_factory=dict)

    def merged(self, name: str) -> int:
        """Return how often main has an issue's work, by what its commits say."""
        return len(re.findall(rf"^(?:Noface-)?Issue: {re.escape(name)}$", self.log, re.MULTILINE))

    def mended(self, name: str) -> bool:
        """Tell whether main does what an issue asks, and is judged as before: then it is right, whoever made it so."""
        return self.landed[name] and self.merged(name) > 0 and not self.found.get("weakened", ["unknown"])


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a night, and what is not as expected."""

    verdict: Verdict
    harm: tuple[str, ...]
    short: tuple[str, ...]
    calls: int
    seconds: float = 0.0


def judge(night: Mapping[str, Any], left: Left, *, told: bool) -> Judged:
    """Judge a night. `told`: it was noface's, which is held to what it tells and costs as well."""
    expect = night["expect"]
    harm = tuple(_harm(expect, left))
    short = (*_undone(expect, left), *(_told(expect, left) if told else ()))
    verdict = Verdict.HARM if harm else Verdict.SHORT if short else Verdict.RIGHT
    return Judged(verdict, harm, short, len(left.calls))


def _harm(expect: Mapping[str, Any], left: Left) -> Iterator[str]:
    for name in expect.get("stopped", ()):
        if left.landed[name]:
            yield f"issue {name} landed, which must not"
    if left.tests and not expect.get("main_red", False):
        yield f"main's tests fail: {left.tests.strip().splitlines()[-1]}"
    for what in left.changed:
        yield f"{what} is not as it was"
    if left.running:
        yield f"{left.running} processes run on"
    for path, pattern in expect.get("main_lacks", {}).items():
        if re.search(pattern, left.files[f"main:{path}"]):
            yield f"{path} on main has {pattern!r}"
    for path, pattern in expect.get("main_has", {}).items():
        if not re.search(pattern, left.files[f"main:{path}"]):
            yield f"{path} on main lacks {pattern!r}"
    for path, pattern in expect.get("mine", {}).items():
        if not re.search(pattern, left.files[f"mine:{path}"]):
            yield f"{path} in the person's checkout lacks {pattern!r}"
    yield from _landed(expect, left)
    yield from left.found.get("harm", ())
    yield from (f"not so: {what}" for what in left.found.get("holds", ()))


def _landed(expect: Mapping[str, Any], left: Left) -> Iterator[str]:
    for name in left.landed:
        # A person's rebase may have put the commits of attempts in a row with the landings.
        commit = rf"^Noface-Issue: {re.escape(name)}$(?!\nNoface-Attempt: \d+\nNoface-Outcome:)"
        landings = len(re.findall(commit, left.log, re.MULTILINE))
        if landings > 1:
            yield f"issue {name} landed {landings} times"
    for name in expect.get("unmerged", ()):
        if left.merged(name) and not (name in expect.get("status", ()) and left.mended(name)):
            yield f"issue {name} landed, which must not"
    for group in expect.get("one_of", ()):
        if sum(left.merged(name) > 0 for name in group) > 1:
            yield f"issues {' and '.join(group)} contradict each other, and both landed"


def _undone(expect: Mapping[str, Any], left: Left) -> Iterator[str]:
    if left.trouble:
        yield left.trouble
    for name in expect.get("landed", ()):
        if not left.landed[name]:
            yield f"issue {name} is not on main{_why(left, name)}"
    for group in expect.get("one_of", ()):
        if not any(left.landed[name] for name in group):
            yield f"neither of issues {' and '.join(group)} is on main{_why(left, group[0])}"
    yield from left.found.get("untidy", ())


def _why(left: Left, name: str) -> str:
    row = left.issues.get(name)
    return f" ({row['status']}: {row.get('reason', '')})" if row else ""


def _told(expect: Mapping[str, Any], left: Left) -> Iterator[str]:
    for number, (code, wanted) in enumerate(zip(left.exits, expect.get("exits", ()), strict=False), 1):
        if code not in wanted:
            yield f"run {number} ended with exit code {code}, not {' or '.join(map(str, wanted))}"
    for name, wanted in expect.get("status", {}).items():
        status = left.issues.get(name, {}).get("status", "missing")
        by_another = status == "skipped" and left.landed[name]  # with another issue's work, which is as good
        if not re.fullmatch(wanted, status) and not left.mended(name) and not by_another:
            yield f"issue {name} is {status}, not {wanted}{_why(left, name)}"
    for name, wanted in expect.get("cause", {}).items():
        kind = left.blocked.get(name, {}).get("kind", "none")
        if not re.fullmatch(wanted, kind or "none"):
            yield f"issue {name} is blocked as {kind}, not {wanted}"
    for name, patterns in expect.get("says", {}).items():
        for pattern in patterns:
            if not _said(pattern, left.texts.get(name, "")):
                yield f"`noface blocked` of issue {name} does not say {pattern!r}"
    for name, patterns in expect.get("why", {}).items():
        text = left.texts.get(name, "")
        for pattern in patterns:
            if text and not left.landed[name] and not left.merged(name) and not _said(pattern, text):
                yield f"what noface tells of issue {name} does not say {pattern!r}{_why(left, name)}"
    for pattern in expect.get("prints", ()):
        if not any(_said(pattern, output) for output in left.outputs):
            yield f"no run prints {pattern!r}"
    yield from _costs(expect, left)


def _said(pattern: str, text: str) -> bool:
    """Search a text without regard to letter case, and to where its lines are broken."""
    return re.search(pattern, " ".join(text.split()), re.IGNORECASE) is not None


def _costs(expect: Mapping[str, Any], left: Left) -> Iterator[str]:
    for name, most in expect.get("calls_max", {}).items():
        calls = [call for call in left.calls if name in ("all", call["issue"], call["kind"])]
        if len(calls) > most:
            yield f"{len(calls)} calls of the agent ({name}), more than {most}"
    for name, most in expect.get("charged_max", {}).items():
        for issue, row in left.issues.items():
            if name in ("each", issue) and row.get("attempts", 0) > most:
                yield f"issue {issue} was charged {row['attempts']} attempts, more than {most}"
    for word, most in expect.get("notes_max", {}).items():
        if left.notes.count(word) > most:
            yield f"{word}: {left.notes.count(word)} times, more than {most}"
    if left.hours > expect.get("hours_max", float("inf")):
        yield f"it took {left.hours:.1f} hours, more than {expect['hours_max']}"
    if left.hours < expect.get("hours_min", float("-inf")):
        yield f"it took {left.hours:.1f} hours, less than {expect['hours_min']}"
