"""Makes child issues of a planner's breakdown, where it is one (N9, K4, P1, P9).

The rules, each answered with a sentence that teaches:

1. The depth is limited, so that nothing is broken down for ever (P9).
2. There are 2 to `children_max` parts. One part is the issue itself again.
3. Each has a key of its own, a title, a body of bounded size, and at least one path.
4. Paths stay inside the repository, and inside the parent's where it names any.
5. A part is smaller than the whole: it has not the parent's text, nor the paths of all other parts. (Where all is about
   one file, nothing smaller can be named.)
6. `depends_on` names parts of this breakdown, without a cycle.
7. `covers` leaves no accept command of the parent to nobody. They are run once more when all parts have landed.
8. Accept commands are single lines that can fail, and in a form that the project has (`recovery/breakdown_rules.py`).

Without a planner, an issue is broken down by the files that an attempt at it touched. Each file is a part, together
with the tests that are named after it. Where that makes too many, files of a folder go together, from the innermost
folders outwards; where even that does not fit, neighbours in the order of their paths.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from noface.model.backlog import id_problem, same_id
from noface.model.issue import Issue
from noface.model.patterns import canonical, has_wildcards, matches_any, path_problem
from noface.prompts.answers.forms import schema_of
from noface.prompts.structured import Invalid, clean, violation
from noface.prompts.text import code, fenced, long_text, shorten
from noface.recovery.breakdown_rules import (
    AcceptForms,
    BreakdownLimits,
    Proposed,
    acceptance_faults,
    form_faults,
    graph_faults,
    part_faults,
    size_faults,
)
from noface.recovery.reported import subtask_failure

_HASH_CHARS = 16


def child_ids(parent: Issue, count: int, known_ids: Collection[str]) -> tuple[str, ...] | str:
    """Return the first `count` ids `<parent>.<n>` that are free, or why such an id cannot be used."""
    taken = {same_id(known) for known in known_ids}
    ids: list[str] = []
    number = 0
    while len(ids) < count:
        number += 1
        name = f"{parent.id}.{number}"
        if same_id(name) not in taken:
            ids.append(name)
    return next((problem for name in ids if (problem := id_problem(name))), None) or tuple(ids)


def make_child(
    parent: Issue,
    own_id: str,
    *,
    title: str,
    body: str,
    paths: tuple[str, ...],
    accept: tuple[str, ...] = (),
    depends_on: tuple[str, ...] = (),
) -> Issue:
    """Return a part of `parent`: its text is its own, how it is worked on is the parent's."""
    content = json.dumps([title, body, paths, accept, depends_on])
    return Issue(
        id=own_id,
        title=title,
        body=body,
        priority=parent.priority,
        labels=parent.labels,
        depends_on=depends_on,
        paths=paths,
        accept=accept,
        model=parent.model,
        tier=parent.tier,
        max_attempts=parent.max_attempts,
        no_escalate=parent.no_escalate,
        accept_timeout_s=parent.accept_timeout_s,
        source="",
        content_hash=hashlib.sha256(content.encode()).hexdigest()[:_HASH_CHARS],
        parent=parent.id,
        depth=parent.depth + 1,
        may_change=parent.may_change,
    )


Group = tuple[str, ...]
_FILES_MAX = 500
_BODY_BYTES_MAX = 12_000
_TITLE_CHARS_MAX = 120
_FOLDERS_MAX = 20
_TEST_NAMES = (
    re.compile(r"test_(?P<of>[^/]+)"),
    re.compile(r"(?P<of>[^/]+?)[._-](?:tests?|spec)"),
    re.compile(r"(?P<of>[A-Za-z]\w*?)Tests?"),
)


def split_by_files(
    parent: Issue,
    changed: tuple[str, ...],
    children_max: int,
    known_ids: Collection[str],
    depth_max: int | None = None,
) -> tuple[Issue, ...]:
    """Return the parts of `parent`, one a group of changed files; none where there is nothing to part.

    Files outside the parent's paths, and names that cannot be a path of an issue, are left out. The parts have no
    accept commands: the parent's are run when all have landed.
    """
    if depth_max is not None and parent.depth + 1 > depth_max:
        return ()
    files = [
        path
        for path in sorted(set(changed))[:_FILES_MAX]
        if path_problem(path) is None
        and not has_wildcards(path)  # as the path of an issue it would mean more than the one file
        and (not parent.paths or matches_any(path, parent.paths))
    ]
    groups = _grouped(_with_tests(files), children_max)
    ids = child_ids(parent, len(groups), known_ids)
    if len(groups) < 2 or isinstance(ids, str):  # noqa: PLR2004 - one part is the issue itself
        return ()
    return tuple(_child(parent, ids, groups, place) for place in range(len(groups)))


def _child(parent: Issue, ids: tuple[str, ...], groups: list[Group], place: int) -> Issue:
    group = groups[place]
    others = "\n".join(
        f"- {own_id}: {', '.join(code(path) for path in paths[:3])}{' …' if len(paths) > 3 else ''}"  # noqa: PLR2004 - enough to tell
        for own_id, paths in zip(ids, groups, strict=True)
        if paths is not group
    )
    body = f"""\
This is part {place + 1} of {len(groups)} of issue {parent.id}.

Only this part: do what the issue asks for in these files, and leave all others as they are.

{chr(10).join(f"- {code(path)}" for path in group)}

The other parts, which are worked on by themselves:

{others}
{_whole(parent)}"""
    title = f"{parent.title[:_TITLE_CHARS_MAX]} (part {place + 1} of {len(groups)}: {group[0].rpartition('/')[2][:60]})"
    return make_child(parent, ids[place], title=title, body=body, paths=group)


def _whole(parent: Issue) -> str:
    if not parent.body.strip():
        return ""
    body = shorten(long_text(parent.body, _BODY_BYTES_MAX), _BODY_BYTES_MAX).text
    return f"\nThe whole issue, for orientation:\n\n{fenced(body)}\n"


def _with_tests(files: list[str]) -> list[Group]:
    """Return each file with the tests named after it; tests that belong to no file stand for themselves."""
    tested = {path: _tested(path) for path in files}
    by_stem: dict[str, list[str]] = {}
    for path in files:
        if tested[path] is None:
            by_stem.setdefault(_stem(path), []).append(path)
    groups: dict[str, list[str]] = {path: [path] for path in files}
    for test, stem in tested.items():
        subjects = by_stem.get(stem, []) if stem is not None else []
        if subjects:
            nearest = max(subjects, key=lambda path: _shared(path, test))
            groups[nearest].extend(groups.pop(test))
    return [tuple(group) for group in groups.values()]


def _grouped(groups: list[Group], children_max: int) -> list[Group]:
    """Return at most `children_max` groups: as they are, else joined by folder, else by their order."""
    if len(groups) <= children_max:
        return groups
    for depth in range(_FOLDERS_MAX, 0, -1):
        joined = _joined(groups, depth)
        if 2 <= len(joined) <= children_max:  # noqa: PLR2004 - one part is the issue itself
            return joined
    share = -(-len(groups) // max(children_max, 1))
    return [_flat(groups[start : start + share]) for start in range(0, len(groups), share)]


def _joined(groups: list[Group], depth: int) -> list[Group]:
    """Join groups by `depth` folders of their first file, which is the one that its tests follow."""
    folders: dict[tuple[str, ...], list[Group]] = {}
    for group in groups:
        folders.setdefault(tuple(group[0].split("/")[:-1][:depth]), []).append(group)
    return [_flat(members) for members in folders.values()]


def _flat(groups: Iterable[Group]) -> Group:
    return tuple(path for group in groups for path in group)


def _tested(path: str) -> str | None:
    """Return the stem of what a file tests, by its name; None for a file that is no test."""
    name = path.rpartition("/")[2].partition(".")[0]
    whole = path.rpartition("/")[2].rpartition(".")[0]
    for pattern in _TEST_NAMES:
        match = pattern.fullmatch(name) or pattern.fullmatch(whole)
        if match is not None:
            return match["of"].lower()
    return None


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


def _shared(path: str, test: str) -> int:
    """Count the folders that two paths share, wherever they stand, as src/web/a.py and tests/web/test_a.py do."""
    return len(set(path.split("/")[:-1]) & set(test.split("/")[:-1]))


__all__ = ["BreakdownLimits", "PlanFault", "left_out", "plan_children", "split_by_files", "subtask_failure"]

_FAULTS_TOLD_MAX = 5


@dataclass(frozen=True, slots=True)
class PlanFault:
    """Why a breakdown cannot be used. `mendable` is False where no other answer would be any better."""

    violations: tuple[str, ...]
    mendable: bool = True

    @property
    def violation(self) -> str:
        """The first faults in one line."""
        more = len(self.violations) - _FAULTS_TOLD_MAX
        return "; ".join(self.violations[:_FAULTS_TOLD_MAX]) + (f"; and {more} more" if more > 0 else "")

    def invalid(self, original: str = "") -> Invalid:
        """Return the fault as a finding about the answer `original`, for the format reminder."""
        return Invalid(self.violation, "object", "object", "children", original, "breakdown")


def plan_children(
    parent: Issue, value: Mapping[str, Any], rules: BreakdownLimits, known_ids: Collection[str], forms: AcceptForms
) -> tuple[Issue, ...] | PlanFault:
    """Return the parts of `parent` as issues, or what is wrong with the breakdown. Total on all JSON values.

    `known_ids` are all ids that are taken: those of the backlog and of all earlier parts.
    """
    if parent.depth + 1 > rules.depth_max:
        return PlanFault(
            (f"parts may be {rules.depth_max} deep, and this is at {parent.depth} already",), mendable=False
        )
    wrong = _count_fault(value, rules) or _schema_fault(value)
    if wrong:
        return PlanFault((wrong,))
    parts = tuple(_part(child, forms) for child in clean(value["children"]))
    faults = (
        *(fault for part in parts for fault in part_faults(part, parent, rules)),
        *graph_faults(parts),
        *acceptance_faults(parts, parent),
        *form_faults(parts, forms),
    )
    faults = faults or size_faults(parts)
    if faults:
        return PlanFault(faults)
    ids = child_ids(parent, len(parts), known_ids)
    if isinstance(ids, str):
        return PlanFault((ids,), mendable=False)
    by_key = dict(zip((part.key for part in parts), ids, strict=True))
    return tuple(_issue(parent, by_key, part) for part in parts)


def left_out(value: Mapping[str, Any], forms: AcceptForms) -> tuple[str, ...]:
    """Return the accept commands of a breakdown that may not be run."""
    commands = (command.strip() for child in clean(value["children"]) for command in child.get("accept", ()))
    return tuple(dict.fromkeys(command for command in commands if forms.allowed(command) is None))


def _part(child: Mapping[str, Any], forms: AcceptForms) -> Proposed:
    commands = dict.fromkeys(command.strip() for command in child.get("accept", ()))
    taken = ((command, forms.allowed(command)) for command in commands)
    return Proposed(
        key=child["key"].strip(),
        title=" ".join(child["title"].split()),
        body=child["body"].strip(),
        paths=tuple(dict.fromkeys(canonical(path) for path in child["paths"])),
        accept=tuple(allowed or command for command, allowed in taken if allowed or not forms.drop),
        depends_on=tuple(dict.fromkeys(key.strip() for key in child.get("depends_on", ()))),
        covers=frozenset(int(place) for place in child.get("covers", ())),
    )


def _count_fault(value: object, rules: BreakdownLimits) -> str:
    children = value.get("children") if isinstance(value, Mapping) else None
    count = len(children) if isinstance(children, list) else None
    if count == 1:
        return "at children: one part is the issue itself again; name at least 2 smaller ones"
    if count is not None and not 2 <= count <= rules.children_max:  # noqa: PLR2004 - one is answered above
        return f"at children: 2 to {rules.children_max} parts are expected, got {count}"
    return ""


def _schema_fault(value: object) -> str:
    wrong = violation(value, schema_of("breakdown"))
    return wrong.sentence if wrong is not None else ""


def _issue(parent: Issue, by_key: Mapping[str, str], part: Proposed) -> Issue:
    return make_child(
        parent,
        by_key[part.key],
        title=part.title,
        body=part.body,
        paths=part.paths,
        accept=part.accept,
        depends_on=tuple(by_key[key] for key in part.depends_on),
    )
