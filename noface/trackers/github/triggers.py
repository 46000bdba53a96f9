"""Who gave a stranger's issue to noface, and what it said then.

A stranger's issue is worked on only as somebody read it who may write to the repository and then set the label, or
assigned it to noface's account. What is edited later needs a new label. Where GitHub does not show what was edited
since, nothing is taken: it cannot be told what the maintainer had read.
"""

from collections.abc import Callable
from typing import Any

from noface.data.trackers import TrackerSettings
from noface.errors import ForgeAwayError, ForgeError
from noface.forge import parse
from noface.forge.github import edits_of
from noface.forge.rest import Client
from noface.trackers.github.copy import Copy, Taken
from noface.trackers.github.issue import RemoteIssue, remote_issue

_SOMEBODY = "somebody"


class Triggers:
    """Looks who gave strangers' issues to noface, and keeps that in the copy; `trusts` tells whose words count."""

    def __init__(self, client: Client, settings: TrackerSettings, copy: Copy, trusts: Callable[[str], bool]) -> None:
        self._client = client
        self._settings = settings
        self._copy = copy
        self._trusts = trusts

    def look(self, remote: RemoteIssue) -> bool:
        """Look who gave one issue; tell whether that could be told: what changes meanwhile is looked at later."""
        number = remote.number
        path = self._client.repo("issues", number)
        before = remote_issue(self._client.get(path, keep=True).body)
        events = self._client.items(f"{path}/events", keep=True)
        given = self._given(events)
        if before is None or given is None:
            self._let_go(number, "")
            return before is not None
        by, at = given
        known = self._copy.taken.get(number)
        if known is not None and (known.by, known.at) == (by, at):
            return True
        editor = self._edited(number, at, events)
        if remote_issue(self._client.get(path, keep=True).body) != before:
            return False
        if editor:
            self._let_go(number, f"{editor} edited it after {by} gave it to noface: set the label again")
        else:
            self._copy.taken[number] = Taken(by, at, before.title, before.body)
            self._copy.refused.pop(number, None)
        return True

    def _let_go(self, number: int, why: str) -> None:
        self._copy.taken.pop(number, None)
        self._copy.refused.pop(number, None)
        if why:
            self._copy.refused[number] = why

    def _given(self, events: list[Any]) -> tuple[str, str] | None:
        given: dict[str, tuple[str, str]] = {}
        label, own = self._settings.label.lower() or None, self._copy.login.lower() or None
        for event in events:
            kind, what = parse.text(event, "event"), ""
            if kind in ("labeled", "unlabeled") and parse.text(event, "label", "name").lower() == label:
                what = "label"
            if kind in ("assigned", "unassigned") and parse.text(event, "assignee", "login").lower() == own:
                what = "assignee"
            if what and kind.startswith("un"):
                given.pop(what, None)
            elif what:
                who = parse.text(event, "assigner", "login") or parse.text(event, "actor", "login")
                given[what] = (who, parse.text(event, "created_at"))
        return max((each for each in given.values() if self._trusts(each[0])), key=lambda each: each[1], default=None)

    def _edited(self, number: int, at: str, events: list[Any]) -> str:
        renamed = [event for event in events if parse.text(event, "event") == "renamed"]
        edits = [(parse.text(event, "created_at"), parse.text(event, "actor", "login")) for event in renamed]
        try:
            edits += edits_of(self._client, number)
        except ForgeAwayError:
            raise
        except ForgeError:
            return _SOMEBODY
        return next((who or _SOMEBODY for when, who in edits if when >= at and not (who and self._trusts(who))), "")
