"""Divides an issue by the files that an attempt at it touched, if no planner does.

Each file is a part, together with the tests that are named after it. If that makes too many, neighbours in the order
of their paths go together.

No part is without work: a file that is on main as the attempt left it is in none, and what is only deleted, is no
text, or was written by tools (lock files, build output), goes with the nearest part. Tests that belong to no file wait
for all other parts.
"""

import re
from collections.abc import Collection
from dataclasses import replace
from itertools import chain

from noface.integrity.rubbish import generated
from noface.model.issue import Issue
from noface.model.patterns import has_wildcards, matches_any, path_problem
from noface.model.quoting import short
from noface.prompts.text import code, excerpt, fenced
from noface.recovery.breakdown import child_ids, make_child

Group = tuple[str, ...]
_FILES_MAX = 500
_WRITTEN_MAX = 20
_BODY_BYTES_MAX = 12_000
_TITLE_CHARS_MAX = 120
_SAID_MAX, _SAID_CHARS_MAX = 30, 600
_TEST_NAMES = (
    re.compile(r"test_(?P<of>[^/]+)"),
    re.compile(r"(?P<of>[^/]+?)[._-](?:tests?|spec)"),
    re.compile(r"(?P<of>[A-Za-z]\w*?)Tests?"),
)

TouchedFiles = tuple[tuple[str, ...], tuple[str, ...]]
"""What an attempt touched: the files with work left to do, and the rest.

The rest has none by itself: what was deleted, what is no text, and what only lost or got the right to be executed.
"""


def split_by_files(
    parent: Issue, touched: TouchedFiles, children_max: int, known_ids: Collection[str], *, least: int = 2
) -> tuple[Issue, ...]:
    """Return the parts of `parent`, one a group of touched files; none if these are less than `least`.

    Files outside its paths, and names that cannot be a path of an issue, are left out.
    """
    work, beside = touched
    made = generated(work)
    groups = _grouped(_with_tests(_fit(parent, tuple(path for path in work if path not in made))), children_max)
    ids = child_ids(parent, len(groups), known_ids)
    if len(groups) < least or isinstance(ids, str) or [set(parent.paths)] == [*map(set, groups)]:
        return ()  # too few, or all of them the issue again
    groups.sort(key=_only_tests)
    subjects = ids[: sum(not _only_tests(group) for group in groups)]
    needs = [() if place < len(subjects) else subjects for place in range(len(groups))]
    for path in (*_fit(parent, tuple(made))[:_WRITTEN_MAX], *_fit(parent, beside)):
        nearest = max(range(len(groups)), key=lambda place: _shared(groups[place][0], path))
        groups[nearest] = (*groups[nearest], path)
    return tuple(_child(parent, ids, groups, place, needs[place]) for place in range(len(groups)))


def _fit(parent: Issue, paths: tuple[str, ...]) -> list[str]:
    return [
        path
        for path in sorted(set(paths))[:_FILES_MAX]
        if path_problem(path) is None
        and not has_wildcards(path)  # as the path of an issue it would mean more than the one file
        and (not parent.paths or matches_any(path, parent.paths))
    ]


def _only_tests(group: Group) -> bool:
    return all(_tested(path) is not None for path in group)


def rest_of(
    parent: Issue, parts: tuple[Issue, ...], left: tuple[str, ...], known_ids: Collection[str]
) -> tuple[Issue, ...]:
    """Return what no other part does as a part after all of them, () if it can have no id; `left` is what is known."""
    ids = child_ids(parent, 1, {*known_ids, *(part.id for part in parts)})
    if isinstance(ids, str):
        return ()
    body = f"""\
This is the rest of issue {parent.id}: what it asks for and its other parts do not. As far as it is known, this is left:

{chr(10).join(f"- {short(each, _SAID_CHARS_MAX)}" for each in left[:_SAID_MAX])}

These parts come before; what they did is in your working directory, and not to be done again:

{chr(10).join(f"- {part.id}: {part.title}: {_some(part.paths)}" for part in parts)}

Go through the whole issue point by point. What is there already stays as it is; do what is missing. If nothing is, \
change nothing, and report status "already_done".
{_whole(parent)}"""
    title, waits = f"{parent.title[:_TITLE_CHARS_MAX]} (the rest)", tuple(part.id for part in parts)
    part = make_child(parent, ids[0], title=title, body=body, paths=parent.paths, depends_on=waits)
    return (replace(part, rest=True),)


def _some(paths: tuple[str, ...]) -> str:
    return f"{', '.join(code(path) for path in paths[:3])}{' …' if len(paths) > 3 else ''}"  # noqa: PLR2004 - enough to tell


def _child(parent: Issue, ids: tuple[str, ...], groups: list[Group], place: int, depends_on: tuple[str, ...]) -> Issue:
    group = groups[place]
    rows = (f"- {own_id}: {_some(paths)}\n" for own_id, paths in zip(ids, groups, strict=True) if paths is not group)
    listed = "".join(rows)
    others = f"The other parts, which are worked on by themselves:\n\n{listed}" if listed else ""
    body = f"""\
This is part {place + 1} of {len(groups)} of issue {parent.id}.

Only this part: do what the issue asks for in these files, and leave all others as they are.

{chr(10).join(f"- {code(path)}" for path in group)}

{others}{_whole(parent)}"""
    title = f"{parent.title[:_TITLE_CHARS_MAX]} (part {place + 1} of {len(groups)}: {group[0].rpartition('/')[2][:60]})"
    return make_child(parent, ids[place], title=title, body=body, paths=group, depends_on=depends_on)


def _whole(parent: Issue) -> str:
    if not parent.body.strip():
        return ""
    body = excerpt(parent.body, _BODY_BYTES_MAX)
    return f"\nThe whole issue, for orientation:\n\n{fenced(body)}\n"


def _with_tests(files: list[str]) -> list[Group]:
    tested = {path: _tested(path) for path in files}
    stems = {path: path.rpartition("/")[2].partition(".")[0].lower() for path in files}
    groups: dict[str, list[str]] = {path: [path] for path in files}
    for test in files:
        subjects = [path for path in files if tested[path] is None and stems[path] == tested[test]]
        if subjects:
            groups[max(subjects, key=lambda path: _shared(path, test))].extend(groups.pop(test))
    return [tuple(group) for group in groups.values()]


def _grouped(groups: list[Group], children_max: int) -> list[Group]:
    """Return at most `children_max` groups: neighbours are joined, which mostly share a folder."""
    share = -(-len(groups) // max(children_max, 1)) or 1
    return [tuple(chain.from_iterable(groups[at : at + share])) for at in range(0, len(groups), share)]


def _tested(path: str) -> str | None:
    """Return the stem of what a file tests, by its name; None for a file that is no test."""
    name = path.rpartition("/")[2].partition(".")[0]
    whole = path.rpartition("/")[2].rpartition(".")[0]
    for pattern in _TEST_NAMES:
        match = pattern.fullmatch(name) or pattern.fullmatch(whole)
        if match is not None:
            return match["of"].lower()
    return None


def _shared(path: str, test: str) -> int:
    return len(set(path.split("/")[:-1]) & set(test.split("/")[:-1]))
