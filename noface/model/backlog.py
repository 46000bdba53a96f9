"""What makes an issue of a backlog sound: a usable id of its own, and dependencies that can be met.

A faulty issue is reported and not run, and so is whatever waits for it. 7 and 007 are the same id, and so are Fix and
fix, since both name folders. Everything here is total, linear in issues plus dependencies, and free of recursion.
"""

import re
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from noface.model.issue import Backlog, Issue
from noface.model.listed import IssueFault
from noface.model.quoting import literal, some
from noface.model.worker_run import ModelSpec

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_GIT_REFUSES = re.compile(r"\.\.|\.$|\.lock$")
_LEADING_NUMBER = re.compile(r"[^A-Za-z0-9]*([0-9]+)(?![0-9])")
_SUGGESTIONS_MAX = 20
"""Missing names that get a "did you mean": each costs a comparison with every id there is."""
_COMPARED_CHARS_MAX = 80
_SOURCES_MAX = 5
_NAMED_MAX = 3


def id_problem(issue_id: str) -> str | None:
    """Say why `issue_id` cannot be an id, or None. It is part of the branch name `noface/<id>`, hence git's rules."""
    if not _ID.fullmatch(issue_id):
        expected = "1 to 64 of the characters A-Z a-z 0-9 . _ - are expected, the first a letter or a digit"
        return f"the id {literal(issue_id)} is not usable: {expected}"
    if _GIT_REFUSES.search(issue_id):
        return f'the id {issue_id} must not hold ".." nor end with "." or ".lock": git refuses such a branch name'
    return None


def same_id(issue_id: str) -> str:
    return number_of(issue_id) or issue_id.lower()


def number_of(issue_id: str) -> str | None:
    return (issue_id.lstrip("0") or "0") if issue_id.isascii() and issue_id.isdigit() else None


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` likely stands for: that of its leading number ("7-x", "#7"), or the likest.

    A whole word at the end counts more than likeness: opus is claude-opus, and not mini-opus, which is shorter.
    """
    from difflib import get_close_matches

    candidates = list(known)
    if leading := _LEADING_NUMBER.match(name):
        wanted = same_id(leading[1])
        for candidate in candidates:
            if same_id(candidate) == wanted:
                return candidate
    ends = [candidate for candidate in candidates if candidate.endswith(f"-{name}")]
    close = ends or get_close_matches(name[:_COMPARED_CHARS_MAX], candidates, n=1, cutoff=0.6)
    return close[0] if close else None


def unknown_dependency(name: str, known: Iterable[str], *, suggest: bool = True) -> tuple[str, str]:
    match = nearest(name, known) if suggest else None
    hint = f"Did you mean {match}?" if match else "Write the id of an issue of this backlog, or take the entry out."
    return f"depends_on names {literal(name)}, which does not exist", hint


def natural_order(issue_id: str) -> tuple[bool, int, str, str]:
    number = number_of(issue_id)
    return (number is None, len(number or ""), number or "", issue_id)


def check(issues: Iterable[Issue], faults: Iterable[IssueFault] = (), merged: Collection[str] = ()) -> Backlog:
    """Part the sound issues, in the natural order of their ids, from the faulty ones.

    `faults` are known already; those with an id occupy it. `merged` are ids that are landed: a dependency on one is
    met.
    """
    graph = _Graph(sorted(issues, key=lambda issue: (natural_order(issue.id), issue.source)))
    broken = tuple(faults)
    _check_ids(graph, broken)
    _link(graph, broken, merged)
    _check_cycles(graph)
    sound: list[Issue] = []
    faulty = list(broken)
    for issue, resolved, problems in zip(graph.issues, graph.resolved, graph.problems, strict=True):
        if problems:
            problem = "; ".join(problem for problem, _ in problems)
            own_id = None if id_problem(issue.id) else issue.id
            hint = " ".join(dict.fromkeys(hint for _, hint in problems))
            faulty.append(IssueFault(issue.source or issue.id, problem, hint, own_id))
        else:
            needs = tuple(resolved)
            sound.append(issue if needs == issue.depends_on else replace(issue, depends_on=needs))
    return Backlog(tuple(sound), tuple(sorted(faulty, key=lambda fault: (fault.source, fault.problem))))


@dataclass(slots=True)
class _Graph:
    """The issues by their place in the order, what is wrong with each, and which wait for which."""

    issues: Sequence[Issue]
    sources: list[str] = field(default_factory=list)
    by_id: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    problems: list[list[tuple[str, str]]] = field(default_factory=list)
    resolved: list[list[str]] = field(default_factory=list)
    needs: list[list[int]] = field(default_factory=list)
    needed_by: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for at, issue in enumerate(self.issues):
            self.by_id[same_id(issue.id)].append(at)
            self.sources.append(issue.source or issue.id)
            for column in (self.problems, self.resolved, self.needs, self.needed_by):
                column.append([])


def _check_ids(graph: _Graph, faults: Sequence[IssueFault]) -> None:
    holders: dict[str, list[str]] = {}
    for fault in faults:
        if fault.id is not None:
            holders.setdefault(same_id(fault.id), []).append(fault.source)
    for key, members in graph.by_id.items():
        sources = sorted([*holders.get(key, ()), *(graph.sources[at] for at in members)])
        named = " and ".join(sources[:_SOURCES_MAX]) + (" and others" if len(sources) > _SOURCES_MAX else "")
        for at in members:
            if problem := id_problem(graph.issues[at].id):
                graph.problems[at].append((problem, "Rename the file."))
            elif len(sources) > 1:
                problem = f"the id {graph.issues[at].id} is used more than once, by {named}"
                graph.problems[at].append((problem, "Give every issue an id of its own (7 and 007 count as the same)."))


def _link(graph: _Graph, faults: Sequence[IssueFault], merged: Collection[str]) -> None:
    broken = {same_id(fault.id): fault for fault in faults if fault.id is not None}
    landed = {same_id(name): name for name in merged}
    known = [issue.id for issue in graph.issues] + [fault.id for fault in faults if fault.id] + list(landed.values())
    missing: dict[str, tuple[str, str]] = {}
    for at, issue in enumerate(graph.issues):
        for key, name in {same_id(name): name for name in issue.depends_on}.items():
            others = graph.by_id.get(key, ())
            graph.resolved[at].append(graph.issues[others[0]].id if others else landed.get(key, name))
            if key == same_id(issue.id):
                graph.problems[at].append(("depends on itself", "Take its own id out of depends_on."))
            elif others and key not in landed:
                graph.needs[at].append(others[0])
                graph.needed_by[others[0]].append(at)
            elif key in broken and key not in landed:
                graph.problems[at].append(_waits_for(name, broken[key].source))
            elif key not in landed:
                if key not in missing:
                    missing[key] = unknown_dependency(name, known, suggest=len(missing) < _SUGGESTIONS_MAX)
                graph.problems[at].append(missing[key])


def _check_cycles(graph: _Graph) -> None:
    """Name each cycle at its first member; all that wait for that one are faulty as well, the other members too."""
    open_needs = [len(needs) for needs in graph.needs]
    settled = [at for at, many in enumerate(open_needs) if not many]
    for at in settled:
        for waiting in graph.needed_by[at]:
            open_needs[waiting] -= 1
            if not open_needs[waiting]:
                settled.append(waiting)
    left, walked = set(range(len(graph.issues))).difference(settled), set[int]()
    for start in sorted(left):
        way: list[int] = []
        at = start
        while at not in walked:
            walked.add(at)
            way.append(at)
            at = next(other for other in graph.needs[at] if other in left)
        if at in way:
            cycle = way[way.index(at) :]
            lowest = cycle.index(min(cycle))
            names = [graph.issues[at].id for at in (*cycle[lowest:], *cycle[: lowest + 1])]
            hint = "Take one of these dependencies out."
            graph.problems[cycle[lowest]].append((f"dependency cycle: {' -> '.join(names)}", hint))
    queue = deque(at for at, problems in enumerate(graph.problems) if problems)
    while queue:
        at = queue.popleft()
        for waiting in graph.needed_by[at]:
            if not graph.problems[waiting]:
                graph.problems[waiting].append(_waits_for(graph.issues[at].id, graph.sources[at]))
                queue.append(waiting)


def _waits_for(name: str, source: str) -> tuple[str, str]:
    return f"depends on {literal(name)}, which is faulty itself", f"Mend {source} first."


def without_unknown_models(backlog: Backlog, models: Mapping[str, ModelSpec]) -> Backlog:
    """Return the backlog with issues that no configured model may work on among the faults.

    Such an issue names a model nobody configured, a tier above every model's, or a model below its own tier.
    """
    sound: list[Issue] = []
    faults: list[IssueFault] = []
    for issue in backlog.issues:
        if (problem := _model_problem(issue, models)) is None:
            sound.append(issue)
        else:
            faults.append(IssueFault(issue.source, *problem, id=issue.id))
    return replace(backlog, issues=tuple(sound), faults=(*backlog.faults, *faults)) if faults else backlog


def _model_problem(issue: Issue, models: Mapping[str, ModelSpec]) -> tuple[str, str] | None:
    if issue.model is not None and issue.model not in models:
        near = nearest(issue.model, models)
        hint = f"did you mean {near}?" if near else f"name one of: {', '.join(sorted(models))}"
        return f"model = {literal(issue.model)} is no model of the configuration", hint
    if issue.tier is None:
        return None
    if issue.model is not None and (own := models[issue.model].tier) < issue.tier:
        problem = f"model = {literal(issue.model)} has tier {own}, below the issue's own tier = {issue.tier}"
        return problem, "Name a stronger model, or lower the tier."
    highest = max((model.tier for model in models.values()), default=0)
    if highest < issue.tier:
        return f"tier = {issue.tier} is above every model of the configuration", f"The highest tier there is {highest}."
    return None


def numbered_again(backlog: Backlog, landed: Mapping[str, str]) -> Backlog:
    """Take issues for faulty whose number another tracker's issue had that has landed; `landed` are sources by id.

    Without that such an issue counts as done, and nobody works on it: a project that went from files to GitHub.
    """
    again = {
        issue.id: IssueFault(
            issue.source,
            f"counts as done: {literal(landed[issue.id])}, which had the same number, has landed",
            "Write it as a new issue, which gets another number, and close this one.",
            issue.id,
        )
        for issue in backlog.issues
        if issue.id in landed and ("://" in issue.source) != ("://" in landed[issue.id])
    }
    sound = tuple(issue for issue in backlog.issues if issue.id not in again)
    return replace(backlog, issues=sound, faults=(*backlog.faults, *again.values())) if again else backlog


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
            named = tuple(f"{'#' * name.isdigit()}{name}, which is {aside[name]}" for name in waits)
            faults.append(IssueFault(issue.source, f"waits for {some(named, _NAMED_MAX)}", hint, issue.id))
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
