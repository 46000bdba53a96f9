"""Breaks an issue down by the files that an attempt at it touched (N9, first version): no planner is asked.

Each file is a part, together with the tests that are named after it. Where that makes too many, files of a folder go
together, from the innermost folders outwards; where even that does not fit, neighbours in the order of their paths.
"""

import re
from collections.abc import Collection, Iterable

from noface.core.breakdown_children import child_ids, make_child
from noface.core.issue import Issue
from noface.core.patterns import matches_any
from noface.core.prompt_cut import long_text, shorten
from noface.core.prompt_text import code, fenced
from noface.core.repository_paths import has_wildcards, path_problem

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
        found = pattern.fullmatch(name) or pattern.fullmatch(whole)
        if found is not None:
            return found["of"].lower()
    return None


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


def _shared(path: str, test: str) -> int:
    """Count the folders that two paths share, wherever they stand, as src/web/a.py and tests/web/test_a.py do."""
    return len(set(path.split("/")[:-1]) & set(test.split("/")[:-1]))
