"""Dependencies on issues that noface does not work on: those that are closed are met, the others wait for a person."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from noface.model.backlog import check, same_id
from noface.model.issue import Backlog, Issue
from noface.model.listed import IssueFault

_NAMED_MAX = 3


def part_waiting(
    issues: Iterable[Issue], aside: Mapping[str, str], landed: Collection[str], hint: str
) -> tuple[list[Issue], list[IssueFault]]:
    """Part the issues that may start from faults about those that wait; `aside` says what each id not worked on is."""
    done = {same_id(name) for name in landed}
    sound: list[Issue] = []
    faults: list[IssueFault] = []
    for issue in issues:
        waits = [name for name in issue.depends_on if name in aside and same_id(name) not in done]
        if waits:
            named = [f"{_named(name)}, which is {aside[name]}" for name in waits[:_NAMED_MAX]]
            named += [f"{len(waits) - _NAMED_MAX} more"] if len(waits) > _NAMED_MAX else []
            faults.append(IssueFault(issue.source, f"waits for {'; '.join(named)}", hint, issue.id))
        else:
            sound.append(issue)
    return sound, faults


def checked(
    issues: Iterable[Issue], faults: Iterable[IssueFault], merged: Collection[str], closed: Collection[str]
) -> Backlog:
    """Check issues as `model.backlog.check` does, where those in `closed` are done as far as their tracker knows.

    A dependency on one of these is taken out: no other part knows of what noface itself has not landed.
    """
    backlog = check(issues, faults, {*merged, *closed})
    done = {same_id(name) for name in closed}
    met = (
        replace(issue, depends_on=tuple(name for name in issue.depends_on if same_id(name) not in done))
        for issue in backlog.issues
    )
    return replace(backlog, issues=tuple(met))


def _named(name: str) -> str:
    return f"#{name}" if name.isdigit() else name
