"""The parts of an issue as issues: their ids, and what they take over from it."""

import hashlib
import json
from collections.abc import Collection

from noface.core.backlog import id_problem, same_id
from noface.core.issue import Issue

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
    return next((found for name in ids if (found := id_problem(name))), None) or tuple(ids)


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
    told = json.dumps([title, body, paths, accept, depends_on])
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
        source="",
        content_hash=hashlib.sha256(told.encode()).hexdigest()[:_HASH_CHARS],
        parent=parent.id,
        depth=parent.depth + 1,
        may_change=parent.may_change,
    )
