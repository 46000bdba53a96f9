"""Divides an issue by the files that an attempt at it touched, if no planner does.

Each file is a part, together with the tests that are named after it. Where that makes too many, files of a folder go
together, from the innermost folders outwards; where even that does not fit, neighbours in the order of their paths.

No part is without work: a file that is on main as the attempt left it is in none, and what is only deleted, is no
text, or was written by tools (lock files, build output), goes with the nearest part. Parts that use others wait for
them, as far as the lines tell that name what a file imports; tests that belong to no file wait for what is tested.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from noface.integrity.build_output import generated
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
_FOLDERS_MAX = 20
_TEST_NAMES = (
    re.compile(r"test_(?P<of>[^/]+)"),
    re.compile(r"(?P<of>[^/]+?)[._-](?:tests?|spec)"),
    re.compile(r"(?P<of>[A-Za-z]\w*?)Tests?"),
)
_IMPORT = re.compile(
    r"^[^\S\n]*+(?:from|import|export|use|mod|include|require\w*|#\s*include|@import|package|using|source|extern)\b.*"
    r"|^.{0,300}\b(?:require|import)\s{0,20}\(.*",
    re.MULTILINE,
)
_IMPORT_CHARS_MAX = 300
_OF_ITS_FOLDER = ("__init__", "index", "mod", "main", "lib")
"""What such a file is called is its folder's name."""


TouchedFiles = tuple[tuple[str, ...], Mapping[str, str], tuple[str, ...]]
"""What an attempt touched: the files with work left to do, the text of those that are text, and the rest.

The rest has none by itself: what was deleted, what is no text, and what only lost or got the right to be executed.
"""


def split_by_files(
    parent: Issue,
    touched: TouchedFiles,
    children_max: int,
    known_ids: Collection[str],
    *,
    least: int = 2,
) -> tuple[Issue, ...]:
    """Return the parts of `parent`, one a group of touched files; none if these are less than `least`.

    One part is the issue itself, unless what is left of it is another (`closing.rest_of`).
    Files outside the parent's paths, and names that cannot be a path of an issue, are left out. The parts have no
    accept commands: the parent's are run when all have landed. Whom a part waits for comes before it.
    """
    work, texts, beside = touched
    made = generated(work)
    written = _fit(parent, tuple(made))[:_WRITTEN_MAX]
    files = _fit(parent, tuple(path for path in work if path not in made))
    groups = _grouped(_with_tests(files), children_max)
    ids = child_ids(parent, len(groups), known_ids)
    if len(groups) < least or isinstance(ids, str):
        return ()
    needs = _needs(groups, texts)
    order = _in_order(needs)
    whole = _joined_by_nearest(groups, [*written, *_fit(parent, beside)])
    names = {group: ids[place] for place, group in enumerate(order)}
    return tuple(
        _child(
            parent, ids, [whole[group] for group in order], place, tuple(sorted(names[need] for need in needs[group]))
        )
        for place, group in enumerate(order)
    )


def _fit(parent: Issue, paths: tuple[str, ...]) -> list[str]:
    return [
        path
        for path in sorted(set(paths))[:_FILES_MAX]
        if path_problem(path) is None
        and not has_wildcards(path)  # as the path of an issue it would mean more than the one file
        and (not parent.paths or matches_any(path, parent.paths))
    ]


def _joined_by_nearest(groups: list[Group], more: list[str]) -> dict[int, Group]:
    """Return each group by its place, with those of `more` to whose first file it is the nearest."""
    joined = dict(enumerate(groups))
    for path in more:
        nearest = max(joined, key=lambda place: (_depth_shared(groups[place][0], path), -place))
        joined[nearest] = (*joined[nearest], path)
    return joined


def _depth_shared(one: str, other: str) -> int:
    """Count the folders from the top that two paths share."""
    pairs = zip(one.split("/")[:-1], other.split("/")[:-1], strict=False)
    return next(
        (depth for depth, (mine, yours) in enumerate(pairs) if mine != yours), min(one.count("/"), other.count("/"))
    )


def _needs(groups: list[Group], texts: Mapping[str, str]) -> dict[int, set[int]]:
    """Return by its place which other groups each one uses, without a cycle: the first by its path keeps its needs."""
    places = range(len(groups))
    tests = {place for place in places if all(_tested(path) is not None for path in groups[place])}
    needs: dict[int, set[int]] = {place: set() for place in places}
    for place in places:
        used = _imported(groups[place], texts)
        users = {other for other in places if other != place and used.intersection(map(_module, groups[other]))}
        wanted = users or (set(places) - tests if place in tests else set())
        for other in sorted(wanted):
            if place not in _reached(other, needs):
                needs[place].add(other)
    return needs


def _reached(place: int, needs: Mapping[int, set[int]]) -> set[int]:
    """Return a group with all that it needs, near or far."""
    reached, pending = set[int](), [place]
    while pending:
        each = pending.pop()
        if each not in reached:
            reached.add(each)
            pending += needs[each]
    return reached


def _in_order(needs: Mapping[int, set[int]]) -> list[int]:
    """Return the groups so that each comes after those that it needs, else by their place."""
    order: list[int] = []
    while len(order) < len(needs):
        order.append(next(place for place in needs if place not in order and needs[place] <= set(order)))
    return order


def _imported(group: Group, texts: Mapping[str, str]) -> set[str]:
    lines = (line[0][:_IMPORT_CHARS_MAX] for path in group for line in _IMPORT.finditer(texts.get(path, "")))
    return {word.lower() for line in lines for word in re.findall(r"\w+", line)}


def _module(path: str) -> str:
    """Return the name by which others import a file."""
    folder, _, _ = path.rpartition("/")
    stem = _stem(path)
    return folder.rpartition("/")[2].lower() if stem in _OF_ITS_FOLDER and folder else stem


def rest_of(
    parent: Issue, parts: tuple[Issue, ...], left: tuple[str, ...], known_ids: Collection[str]
) -> tuple[Issue, ...]:
    """Return the part of `parent` that is what no other part does, after all of these; () if it can have no id.

    `left` is what is known of it, in the words of the issue, of workers or of whoever looked.
    """
    ids = child_ids(parent, 1, {*known_ids, *(part.id for part in parts)})
    if isinstance(ids, str):
        return ()
    body = f"""\
This is the rest of issue {parent.id}: what it asks for and its other parts do not. As far as it is known, this is left:

{chr(10).join(f"- {short(each, _SAID_CHARS_MAX)}" for each in left[:_SAID_MAX])}

These parts come before; what they did is in your working directory, and not to be done again:

{chr(10).join(f"- {part.id}: {part.title}: {_some(part.paths)}" for part in parts)}

Go through the whole issue point by point. What is there already stays as it is; do what is missing. If nothing is, \
change nothing, and report status "done" with the evidence.
{_whole(parent)}"""
    title, waits = f"{parent.title[:_TITLE_CHARS_MAX]} (the rest)", tuple(part.id for part in parts)
    part = make_child(parent, ids[0], title=title, body=body, paths=parent.paths, depends_on=waits)
    return (replace(part, rest=True),)


def _some(paths: tuple[str, ...]) -> str:
    return f"{', '.join(code(path) for path in paths[:3])}{' …' if len(paths) > 3 else ''}"  # noqa: PLR2004 - enough to tell


def _child(parent: Issue, ids: tuple[str, ...], groups: list[Group], place: int, depends_on: tuple[str, ...]) -> Issue:
    group = groups[place]
    others = "\n".join(
        f"- {own_id}: {_some(paths)}" for own_id, paths in zip(ids, groups, strict=True) if paths is not group
    )
    body = f"""\
This is part {place + 1} of {len(groups)} of issue {parent.id}.

Only this part: do what the issue asks for in these files, and leave all others as they are.

{chr(10).join(f"- {code(path)}" for path in group)}

The other parts, which are worked on by themselves:

{others}
{_whole(parent)}"""
    title = f"{parent.title[:_TITLE_CHARS_MAX]} (part {place + 1} of {len(groups)}: {group[0].rpartition('/')[2][:60]})"
    return make_child(parent, ids[place], title=title, body=body, paths=group, depends_on=depends_on)


def _whole(parent: Issue) -> str:
    if not parent.body.strip():
        return ""
    body = excerpt(parent.body, _BODY_BYTES_MAX)
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
