"""Issues of beads: from the lines of `.beads/issues.jsonl` to issues and faults. Pure.

What noface makes of them:

1. Only `open` ones are worked on. `closed` ones and tombstones are done: dependencies on them are met. Those in
   progress, blocked, deferred or set aside in another way are left alone; whatever depends on one is faulty.
2. `blocks` and `waits-for` are dependencies. `conditional-blocks` is for work after a failure, which noface never
   starts. `related`, `discovered-from` and all others say nothing of the order.
3. By `parent-child` a parent waits for its open children, and a child for what its parent is blocked by. An epic with
   children is no work of its own: what depends on it waits for its children.
4. Messages, gates and the like are no work.
5. Description, design, acceptance criteria and notes make the body. Front matter in the description is that of an
   issue file, without title and `may_change`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from noface.model.issue import Issue
from noface.model.listed import IssueFault
from noface.model.quoting import literal, some
from noface.trackers.base import clean_title, content_hash, title_problem, unwritable
from noface.trackers.issue_file import BODY_BYTES_MAX, empty_body

DONE = {"closed", "tombstone"}
NO_WORK = {"message", "gate", "event", "molecule", "agent", "role", "rig", "slot", "convoy", "merge-request", "wisp"}
LINE_BYTES_MAX = 2 * BODY_BYTES_MAX
FAULTS_MAX = 20
"""Broken lines that are told one by one: a file after a failed merge may hold thousands."""

_WAITS = {"blocks", "waits-for"}
_PARTS = (("design", "Design"), ("acceptance_criteria", "Acceptance criteria"), ("notes", "Notes"))
_PRIORITY_MAX = 4
_LISTED_MAX = 8


@dataclass(frozen=True, slots=True)
class Bead:
    """An issue of beads as its line says it. `waits` are the ids that block it, `parents` those of its parents."""

    id: str
    place: str
    title: str
    body: str
    status: str
    kind: str
    priority: int
    labels: tuple[str, ...]
    waits: tuple[str, ...]
    parents: tuple[str, ...]
    after_failure: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Beads:
    """What a file holds. `done` are ids on which a dependency is met; `aside` says what those left alone are."""

    issues: tuple[Issue, ...] = ()
    faults: tuple[IssueFault, ...] = ()
    warnings: tuple[IssueFault, ...] = ()
    done: frozenset[str] = frozenset()
    aside: Mapping[str, str] = field(default_factory=dict)


def read_beads(place: str, data: bytes, gates: Iterable[str] = ()) -> Beads:
    """Make of the file's bytes what they say; total. `place` is the file as it stands in sources."""
    beads: list[Bead] = []
    faults: list[IssueFault] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            read = _read_line(f"{place}:{number}", line)
            if isinstance(read, IssueFault):
                faults.append(read)
            elif read is not None:
                beads.append(read)
    if len(faults) > FAULTS_MAX:
        more = IssueFault(place, f"{len(faults) - FAULTS_MAX} more lines are broken", "Let bd write the file anew.")
        faults = [*faults[:FAULTS_MAX], more]
    return _placed(place, beads, faults, tuple(gates))


def _read_line(place: str, line: bytes) -> Bead | IssueFault | None:
    hint = "bd writes this file: correct the issue with bd, or let `bd export` write the file anew."
    if len(line) > LINE_BYTES_MAX:
        return IssueFault(place, f"the line has {len(line)} bytes, at most {LINE_BYTES_MAX} are read", hint)
    if line.startswith((b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")):
        return IssueFault(place, "a merge was left half done here", "Resolve it: git status names the file.")
    try:
        values = json.loads(line)
    except RecursionError:
        return IssueFault(place, "the line is nested too deeply", hint)
    except ValueError as error:
        return IssueFault(place, f"the line is not valid JSON: {literal(str(error))}", hint)
    if not isinstance(values, dict):
        return IssueFault(place, "the line holds no issue: an object is expected", hint)
    if values.get("_type", "issue") != "issue":
        return None
    own_id, title = values.get("id"), values.get("title")
    if not isinstance(own_id, str) or not own_id:
        return IssueFault(place, "the issue has no id", hint)
    title = clean_title(title) if isinstance(title, str) else ""
    status = _text(values, "status") or "open"
    parts = [_text(values, "description")]
    parts += [f"## {heading}\n\n{text}" for key, heading in _PARTS if (text := _text(values, key).strip())]
    body = "\n\n".join(part.strip("\n") for part in parts if part.strip()).replace("\r\n", "\n").replace("\r", "\n")
    problem = title_problem(title)
    if unwritable(body):
        problem = problem or "the text holds characters that no text file can (NUL or half of a surrogate pair)"
    if (size := len(body.encode("utf-8", "replace"))) > BODY_BYTES_MAX:
        problem = problem or f"the text has {size} bytes, at most {BODY_BYTES_MAX} (1 MiB) are allowed"
    problem = None if status in DONE else problem
    priority = values.get("priority", 0)  # bd leaves a zero out
    if type(priority) is not int or not 0 <= priority <= _PRIORITY_MAX:
        problem = problem or f"priority must be a whole number from 0 to {_PRIORITY_MAX}, not {literal(priority)}"
    if problem:
        return IssueFault(place, problem, hint, own_id)
    labels = values.get("labels")
    links = _links(values.get("dependencies"), own_id)
    return Bead(
        own_id,
        place,
        title,
        body,
        status,
        _text(values, "issue_type"),
        priority,
        tuple(name for name in (labels if isinstance(labels, list) else ()) if isinstance(name, str) and name.strip()),
        waits=tuple(other for other, kind in links if kind in _WAITS),
        parents=tuple(other for other, kind in links if kind == "parent-child"),
        after_failure=tuple(other for other, kind in links if kind == "conditional-blocks"),
    )


def _links(entries: object, own_id: str) -> list[tuple[str, str]]:
    links = []
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("issue_id", own_id) == own_id:
            other, kind = entry.get("depends_on_id"), entry.get("type", "blocks")
            if isinstance(other, str) and other and isinstance(kind, str):
                links.append((other, kind))
    return links


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


class _Tree:
    """Which issue is whose child, and what an issue waits for by that."""

    def __init__(self, beads: Sequence[Bead]) -> None:
        self.by_id = {bead.id: bead for bead in beads}
        self.children: dict[str, list[str]] = {}
        for bead in beads:
            for parent in bead.parents:
                self.children.setdefault(parent, []).append(bead.id)

    def container(self, bead: Bead) -> bool:
        return bead.kind == "epic" and bead.id in self.children

    def needs(self, bead: Bead) -> tuple[str, ...]:
        named = [*bead.waits, *self.children.get(bead.id, ())]
        for parent in self._above(bead.id):
            inside = self._below(parent)
            named += [other for other in self.by_id[parent].waits if other not in inside]
        return tuple(self._opened(named))

    def _opened(self, named: Iterable[str]) -> dict[str, None]:
        opened: dict[str, None] = {}
        left, seen = list(named)[::-1], set()
        while left:
            name = left.pop()
            bead = self.by_id.get(name)
            if bead is None or bead.status in DONE or not self.container(bead):
                opened[name] = None
            elif name not in seen:
                seen.add(name)
                left.extend(reversed(self.children[name]))
        return opened

    def _above(self, own_id: str) -> dict[str, None]:
        above: dict[str, None] = {}
        left = [*self.by_id[own_id].parents]
        while left:
            name = left.pop()
            if name in self.by_id and name not in above and name != own_id:
                above[name] = None
                left.extend(self.by_id[name].parents)
        return above

    def _below(self, own_id: str) -> set[str]:
        below = {own_id}
        left = [own_id]
        while left:
            fresh = [child for child in self.children.get(left.pop(), ()) if child not in below]
            below.update(fresh)
            left.extend(fresh)
        return below


def _placed(place: str, beads: Sequence[Bead], faults: list[IssueFault], gates: tuple[str, ...]) -> Beads:
    tree = _Tree(beads)
    issues: list[Issue] = []
    warnings: list[IssueFault] = []
    aside = {
        each.id: f"a {each.kind} of beads" if each.kind in NO_WORK else f"{each.status} in beads"
        for each in beads
        if each.status not in {"open", *DONE} or each.kind in NO_WORK
    }
    for bead in beads:
        if bead.status in DONE or bead.id in aside or tree.container(bead):
            continue
        if bead.after_failure:
            problem = f"is for the case that {some(bead.after_failure, 3)} fails (conditional-blocks)"
            faults.append(IssueFault(bead.place, problem, "Take the dependency out with bd, or close it.", bead.id))
            continue
        needs = tuple(name for name in tree.needs(bead) if not name.startswith("external:"))
        made, about = _issue(bead, needs, gates)
        warnings += about
        if isinstance(made, IssueFault):
            faults.append(made)
        else:
            issues.append(made)
    left_alone = tuple(f"{each.id} ({each.status})" for each in beads if each.id in aside and each.kind not in NO_WORK)
    if left_alone:
        problem = f"noface leaves alone what is not open: {some(left_alone, _LISTED_MAX)}"
        warnings.append(IssueFault(place, problem, "Set one to open with `bd update` to have it worked on."))
    done = frozenset(each.id for each in beads if each.status in DONE)
    return Beads(tuple(issues), tuple(faults), tuple(warnings), done, aside)


def _issue(bead: Bead, needs: tuple[str, ...], gates: tuple[str, ...]) -> tuple[Issue | IssueFault, list[IssueFault]]:
    from noface.trackers.accept_forms import part_accepted
    from noface.trackers.issue_body import read_body

    body = read_body(bead.body, "")
    issue = Issue(bead.id, bead.title, body.text, bead.priority, bead.labels, needs, source=bead.place)
    warnings = [] if body.text.strip() else [empty_body(issue.source, issue.id)]
    accept, refused = part_accepted(body.accept, gates, bead.place, bead.id)
    warnings += refused
    if body.front is not None or body.paths or body.problem:
        from noface.trackers.front_matter import read_settings, refused_keys  # a file of thousands seldom pays for it

        matter, problems = read_settings(body)
        if problems:
            return IssueFault(bead.place, "; ".join(problems), "Correct its description with bd.", bead.id), []
        warnings += refused_keys(matter, issue)
        issue = replace(
            matter.apply_to(issue),
            priority=matter.priority if "priority" in matter.model_fields_set else bead.priority,
            labels=tuple(dict.fromkeys([*bead.labels, *matter.labels])),
            depends_on=tuple(dict.fromkeys([*needs, *matter.depends_on])),
            may_change=(),
        )
        accept = tuple(dict.fromkeys([*matter.accept, *accept]))  # that file is the repository's
    content = (bead.title, bead.body, bead.priority, bead.labels, needs)
    return replace(issue, accept=accept, content_hash=content_hash(content)), warnings
