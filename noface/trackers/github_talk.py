"""What noface says on GitHub's issues, and what it hears there.

It says little: one label for the state, one comment that is edited in place, and that an issue is closed. What is so
already is not sent. Its comment begins with a hidden line, by which it is found again after a kill; another's comment
that holds this line is not taken for it. Only labels that begin with `noface:` are ever touched.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from noface.data.trackers import TrackerSettings
from noface.forge.opened import OpenedForge
from noface.forge.rest import MISSING, Client, RefusedError
from noface.model.publication import Heard, Said
from noface.trackers.github_backlog import trusted
from noface.trackers.github_body import uncommented
from noface.trackers.github_copy import Copy, Sync
from noface.trackers.github_issue import OWN_LABELS
from noface.trackers.github_refresh import BECAME_DISCUSSION, Refresh

MARKER = "<!-- noface:issue -->"
STATES = {
    "running": ("running", "1d76db", "noface is at work on it"),
    "landing": ("running", "1d76db", "noface is at work on it"),
    "blocked": ("blocked", "d93f0b", "noface needs an answer: see its comment"),
    "approval": ("blocked", "d93f0b", "noface needs an answer: see its comment"),
    "review": ("review", "0e8a16", "its pull request is open"),
}
"""The label, its colour and what it means, by the status of the issue; other states have no label."""
COMMENT_CHARS_MAX = 65_000
"""GitHub takes 65,536."""
HEARD_CHARS_MAX = 20_000

_COMMAND = re.compile(r"/(?:noface[ \t]+)?(approve|reject|retry|skip)\b[ \t]*:?[ \t]*(.*)", re.DOTALL | re.IGNORECASE)
_INVALID = 422


def say(
    opened: OpenedForge, settings: TrackerSettings, copy: Copy, sync: Sync, said: Said, comment: int | None
) -> int | None:
    """Carry out what is said of an issue that is there; return the comment's id. Raises ForgeError.

    The copy and `sync` know which of noface's labels the issue has and whether it is open, and are kept up to date.
    """
    number = int(said.issue_id)
    talk = _Talk(opened, number, sync)
    if copy.gone.get(number) == BECAME_DISCUSSION:  # nobody can comment it any more
        talk.leave()
        return comment
    talk.label(said.state)
    if said.text:
        comment = talk.comment(said.text, comment)
    known = copy.issues.get(number)
    if said.closes and settings.close and (known is None or known.open):
        talk.close()
        if known is not None:
            copy.issues[number] = replace(known, open=False)
    return comment


class _Talk:
    """What is said on one issue."""

    def __init__(self, opened: OpenedForge, number: int, sync: Sync) -> None:
        self._opened = opened
        self._client: Client = opened.client
        self._path = self._client.repo("issues", number)
        self._number = number
        self._sync = sync

    def label(self, state: str) -> None:
        """Give the issue the one label of its state, and take noface's others away."""
        name = OWN_LABELS + STATES[state][0] if state in STATES else ""
        has = self._sync.own.get(self._number, ())
        if name and name not in has:
            self._make_label(name, *STATES[state][1:])
            self._client.post(f"{self._path}/labels", {"labels": [name]})
            self._know((*has, name))
        for other in has:
            if other != name:
                try:
                    self._client.delete(self._client.repo("issues", self._number, "labels", other))
                except RefusedError as error:
                    if error.status not in MISSING:
                        raise
                self._know(tuple(each for each in self._sync.own.get(self._number, ()) if each != other))

    def leave(self) -> None:
        """Take noface's labels away, as far as GitHub lets them be taken."""
        with suppress(RefusedError):
            self.label("")
        self._know(())

    def _know(self, labels: tuple[str, ...]) -> None:
        self._sync.own.pop(self._number, None)
        if labels:
            self._sync.own[self._number] = labels

    def _make_label(self, name: str, colour: str, what: str) -> None:
        if name in self._sync.labels:
            return
        try:
            self._client.post(self._client.repo("labels"), {"name": name, "color": colour, "description": what})
        except RefusedError as error:
            if error.status != _INVALID:  # it is there already
                raise
        self._sync.labels = (*self._sync.labels, name)

    def comment(self, text: str, known: int | None) -> int | None:
        """Have the comment say `text`; return its id. One that a person deleted is written anew."""
        body = f"{MARKER}\n{text}"
        if len(body) > COMMENT_CHARS_MAX:
            body = body[:COMMENT_CHARS_MAX] + "\n\n… cut here; `noface blocked` and `noface show` tell all of it."
        digest = hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()[:16]
        if known is not None and self._sync.said.get(self._number) == f"{known} {digest}":
            return known
        found = known
        if found is None:
            found, there = self._own_comment()
            if found is not None and there == body:
                self._sync.said[self._number] = f"{found} {digest}"
                return found
        if found is not None:
            try:
                self._client.patch(self._client.repo("issues", "comments", found), {"body": body})
            except RefusedError as error:
                if error.status not in MISSING:
                    raise
                found = None
        if found is None:
            made = self._client.post(f"{self._path}/comments", {"body": body})
            found = _number(made.get("id")) if isinstance(made, dict) else None
        if found is not None:
            self._sync.said[self._number] = f"{found} {digest}"
        return found

    def _own_comment(self) -> tuple[int | None, str]:
        """Return id and text of noface's comment, from a run that could not record it or on another machine."""
        login = self._opened.forge.whoami().lower()
        for entry in _comments(self._client, self._path):
            body = _text(entry.get("body")).replace("\r\n", "\n")
            if body.startswith(MARKER) and _author(entry).lower() == login:
                return _number(entry.get("id")), body
        return None, ""

    def close(self) -> None:
        """Close the issue as completed. GitHub leaves one that is closed already as it is."""
        self._client.patch(self._path, {"state": "closed", "state_reason": "completed"})


def hear(
    opened: OpenedForge,
    settings: TrackerSettings,
    copy: Copy,
    sync: Sync,
    refresh: Refresh,
    issue_ids: Collection[str],
    after: Mapping[str, int],
) -> Iterator[Heard]:
    """Yield what trusted people have written later than the id in `after`, issue by issue. Raises ForgeError.

    An issue that has not changed since its comments were read in vain is not asked about. What was heard may be lost in
    a kill before it is recorded: until `after` tells that it was not, it is heard again.
    """
    for issue_id in issue_ids:
        number = int(issue_id)
        updated = sync.updated.get(number, "")
        mark = f"{updated} {after.get(issue_id, 0)}"
        if updated and sync.heard.get(number) == mark:
            continue
        strangers: dict[str, None] = {}
        answers = 0
        try:
            entries = list(_comments(opened.client, opened.client.repo("issues", number)))
        except RefusedError as error:
            if error.status not in MISSING:
                raise
            entries = []
        newest = after.get(issue_id, 0)
        for entry in entries:
            own_id, author = _number(entry.get("id")), _author(entry)
            if own_id is None or own_id <= newest or _text(entry.get("body")).startswith(MARKER):
                continue
            refresh.look_up_writer(author)
            if not trusted(author, copy, settings):
                strangers[author] = None
            elif heard := heard_of(issue_id, own_id, author, _text(entry.get("body")), _text(entry.get("html_url"))):
                answers += 1
                yield heard
        copy.unheard.pop(number, None)
        if strangers:
            copy.unheard[number] = tuple(name for name in strangers if name)
        if not answers and refresh.settled(updated):
            sync.heard[number] = mark


def heard_of(issue_id: str, own_id: int, author: str, body: str, url: str = "") -> Heard | None:
    """Read a comment: quotations and hidden parts are left out; None where nothing is left of it. Pure."""
    lines, commented = [], False
    for line in body[: 4 * HEARD_CHARS_MAX].replace("\r\n", "\n").replace("\0", "").split("\n"):
        shown, commented = uncommented(line, commented)
        if not shown.lstrip().startswith(">"):
            lines.append(shown)
    kept = "\n".join(lines).strip()
    match = _COMMAND.match(kept)
    command, text = (match[1].lower(), match[2].strip()) if match else ("", kept)
    if not command and not text:
        return None
    return Heard(issue_id, own_id, author, text[:HEARD_CHARS_MAX], command, url)


def _comments(client: Client, path: str) -> Iterator[dict[str, Any]]:
    for page in client.pages(f"{path}/comments", keep=True):
        if isinstance(page.body, list):
            yield from (entry for entry in page.body if isinstance(entry, dict))


def _author(entry: Mapping[str, Any]) -> str:
    user = entry.get("user")
    return _text(user.get("login")) if isinstance(user, dict) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    return value if type(value) is int else None
