"""Makes child issues of a planner's breakdown, where it is one (N9, K4, P1, P9).

The rules, each answered with a sentence that teaches:

1. The depth is limited, so that nothing is broken down for ever (P9).
2. There are 2 to `CHILDREN_MAX` parts. One part is the issue itself again.
3. Each has a key of its own, a title, a body of bounded size, and at least one path.
4. Paths stay inside the repository, and inside the parent's where it names any.
5. A part is smaller than the whole: it has not the parent's text, nor the paths of all other parts. (Where all is about
   one file, nothing smaller can be named.)
6. `depends_on` names parts of this breakdown, without a cycle.
7. `covers` leaves no accept command of the parent to nobody. They are run once more when all parts have landed.
8. Accept commands are single lines that can fail, and in a form that the project has (`recovery/breakdown_rules.py`).

Without a planner the parts are those that the worker, or a role, names; else the files of a diff decide
(`recovery/breakdown_files.py`).
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from textwrap import shorten
from typing import Any

from noface.model.backlog import id_problem, same_id
from noface.model.issue import Issue
from noface.model.patterns import canonical
from noface.prompts.answers.forms import schema_of
from noface.prompts.structured import PARTS, Invalid, clean, violation
from noface.recovery.breakdown_rules import (
    AcceptForms,
    Proposed,
    acceptance_faults,
    form_faults,
    graph_faults,
    part_faults,
    size_faults,
)
from noface.recovery.retry_policy import CHILDREN_MAX, DEPTH_MAX

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
    return replace(
        parent,
        id=own_id,
        title=title,
        body=body,
        paths=paths,
        accept=accept,
        depends_on=depends_on,
        source="",
        content_hash=hashlib.sha256(content.encode()).hexdigest()[:_HASH_CHARS],
        parent=parent.id,
        depth=parent.depth + 1,
        recheck=(),
        rest=False,
    )


__all__ = ["left_out", "plan_children"]

_FAULTS_TOLD_MAX = 5


def _fault(violation: str, *, mendable: bool = True) -> Invalid:
    return Invalid(violation, "object", "object", PARTS, name="breakdown", mendable=mendable)


def plan_children(
    parent: Issue, value: Mapping[str, Any], known_ids: Collection[str], forms: AcceptForms
) -> tuple[Issue, ...] | Invalid:
    """Return the parts of `parent` as issues, or what is wrong with the breakdown; `known_ids` are taken."""
    if parent.depth + 1 > DEPTH_MAX:
        return _fault(f"parts may be {DEPTH_MAX} deep, and this is at {parent.depth} already", mendable=False)
    if (unfit := violation(value, schema_of("breakdown"))) is not None:
        return _fault(unfit.violation)
    parts = tuple(_part(child, forms) for child in clean(value["children"]))
    faults = (
        *(fault for part in parts for fault in part_faults(part, parent)),
        *graph_faults(parts),
        *acceptance_faults(parts, parent),
        *form_faults(parts, forms),
    )
    faults = faults or size_faults(parts)
    if faults:
        more = len(faults) - _FAULTS_TOLD_MAX
        return _fault("; ".join(faults[:_FAULTS_TOLD_MAX]) + (f"; and {more} more" if more > 0 else ""))
    ids = child_ids(parent, len(parts), known_ids)
    if isinstance(ids, str):
        return _fault(ids, mendable=False)
    by_key = dict(zip((part.key for part in parts), ids, strict=True))
    return tuple(_issue(parent, by_key, part) for part in parts)


_TITLE_CHARS_MAX = 120


def as_named(parent: Issue, texts: tuple[str, ...], known_ids: Collection[str]) -> tuple[Issue, ...]:
    """Return the parts that somebody named in a sentence each, one after the other; () if a rule speaks against them.

    Nobody says which files each is about: each may change what its parent may, so none runs beside another.
    """
    named = tuple(dict.fromkeys(texts))
    head = f"This is one part of issue {parent.id}. Only this part:"
    proposed = tuple(
        Proposed(str(at), shorten(text, _TITLE_CHARS_MAX, placeholder="…"), f"{head}\n\n{text}", parent.paths)
        for at, text in enumerate(named)
    )
    ids = child_ids(parent, len(named), known_ids)
    unfit = parent.depth + 1 > DEPTH_MAX or not 1 < len(named) <= CHILDREN_MAX or isinstance(ids, str)
    if unfit or any(part_faults(part, replace(parent, body=part.body)) for part in proposed):
        return ()
    return tuple(
        make_child(parent, ids[at], title=part.title, body=part.body, paths=part.paths, depends_on=tuple(ids[:at][-1:]))
        for at, part in enumerate(proposed)
    )


def left_out(value: Mapping[str, Any], forms: AcceptForms) -> tuple[str, ...]:
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
