"""Bringing the copy of GitHub's issues up to date with few requests; what is as before costs none of the limit.

What has changed is listed each time, without the label, since one that has lost its label must be seen. No such list
tells that one was deleted or moved: so all with the label are listed now and then, and those at work are read. What
these lead to is looked up next: relations, dependencies, whether authors may write. What has to wait is done the next
time.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from noface.data.trackers import TrackerSettings
from noface.errors import ForgeAwayError, ForgeError
from noface.forge import parse
from noface.forge.github import edits_of, may_write
from noface.forge.rest import MISSING, MOVED, Client, RefusedError
from noface.model.backlog import number_of
from noface.model.issue import Issue
from noface.trackers.github.backlog import trusted, wanted, worked_on
from noface.trackers.github.copy import Copy, Sync, Taken
from noface.trackers.github.issue import OWN_LABELS, RUNNING, RemoteIssue, read_remote, remote_issue, remote_issues

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


OVERLAP_S = 60
"""Changes are asked for from this long before the newest one known: GitHub may show one late."""
LIST_EVERY_S = 600.0
WRITER_EVERY_S = 3 * 3600.0
STRANGER_EVERY_S = 24 * 3600.0
"""How long a login's permission counts: what was taken away acts sooner than what was given."""
LOOKED_UP_MAX = 300
"""Issues and logins that one refresh looks up: more wait for the next."""

_FIRST = datetime(2008, 1, 1, tzinfo=UTC)
_UNTOLD = (403, 404)
_BECAME = {MOVED: "was transferred to another repository", 410: "was deleted"}
_UNKNOWN = "is not to be found any more: it was deleted, or transferred to where the token may not read"


class Refresh:
    """One refresh of a copy, which it changes. `now` is in epoch seconds."""

    def __init__(
        self,
        client: Client,
        settings: TrackerSettings,
        copy: Copy,
        sync: Sync,
        now: float,
        whoami: Callable[[], str] = lambda: "",
    ) -> None:
        self.client = client
        self.settings = settings
        self.copy = copy
        self.sync = sync
        self._now = now
        self.whoami = whoami
        self._left = LOOKED_UP_MAX

    def run(self) -> None:
        """Bring the copy up to date. Raises ForgeError; what was learned before stands in the copy."""
        if not self.sync.cursor or not self.sync.listed <= self._now < self.sync.listed + LIST_EVERY_S:
            self._list_all()
        self._list_changes()
        for number in self._worked():
            self.read_one(number)
        self._look_up_relations()
        for login in sorted({each.author for each in self.copy.issues.values() if self._wanted(each) and each.author}):
            self.look_up_writer(login)
        self._look_up_triggers()
        for number in dict.fromkeys(self._needed()):
            if number not in self.copy.issues and number not in self.copy.missing and self._may_ask():
                self.read_one(number)

    def _wanted(self, remote: RemoteIssue) -> bool:
        return wanted(remote, self.settings, self.copy.login)

    # Listing

    def _list_all(self) -> None:
        path = self.client.repo("issues")
        if not self.sync.cursor:  # the newest change of any issue: what happens from now on is later
            asked = {"state": "all", "sort": "updated", "direction": "desc", "per_page": 1}
            newest = remote_issues(self.client.get(path, asked).body)
            self.sync.cursor = max((remote.updated for remote in newest), default="") or _stamp(_FIRST)
        params = {"state": "open", "sort": "created", "direction": "asc"}
        if self.settings.label:
            params["labels"] = self.settings.label
        seen: set[int] = set()
        listings = [params]
        if not self.copy.login:
            login = self.whoami()
            self.copy.login = "" if login.endswith("[bot]") else login  # no issue can be assigned to an app
        if self.settings.label and self.copy.login:
            listings.append({"state": "open", "sort": "created", "direction": "asc", "assignee": self.copy.login})
        for page in (page for asked in listings for page in self.client.pages(path, asked, keep=True)):
            for remote in remote_issues(page.body):
                seen.add(remote.number)
                self._take(remote)
        for number, remote in list(self.copy.issues.items()):
            if number not in seen and self._wanted(remote) and number not in self._worked():
                self._forget(number)  # deleted, moved, or changed so that the changes show it
        needed = set(self._needed())
        self.copy.missing &= needed  # one that is made after all shows among the changes
        for number, remote in list(self.copy.issues.items()):
            if number not in needed and number not in self.sync.own and not self._wanted(remote):
                self._forget(number)
        self.sync.listed = self._now

    def _list_changes(self) -> None:
        """List what has changed, the newest first; if GitHub stops answering before the end, all are listed again."""
        at = _time(self.sync.cursor)
        since = _stamp(at - timedelta(seconds=OVERLAP_S) if at is not None else _FIRST)
        params = {"state": "all", "since": since, "sort": "updated", "direction": "desc"}
        newest = self.sync.cursor
        for page in self.client.pages(self.client.repo("issues"), params, keep=True):
            for remote in remote_issues(page.body):
                self._take(remote)
                newest = max(newest, remote.updated)
        self.sync.cursor = newest

    def _take(self, remote: RemoteIssue) -> None:
        known = self.copy.issues.get(remote.number)
        if known is not None and remote.updated < known.updated:
            return  # a page that was listed before the change
        self.copy.missing.discard(remote.number)
        self.copy.gone.pop(remote.number, None)
        if known is None and not self._wanted(remote):
            if remote.number in self.sync.said:
                self.sync.updated[remote.number] = remote.updated  # somebody may have written to noface there
            return
        self.put(remote)

    def put(self, remote: RemoteIssue) -> None:
        """Put an issue as it is now into the copy, with its text only if it is one to work on."""
        number = remote.number
        known = self.copy.issues.get(number)
        own = tuple(label for label in remote.labels if label.startswith(OWN_LABELS))
        self.sync.own.pop(number, None)
        if own:
            self.sync.own[number] = own
        self.sync.updated[number] = remote.updated
        plain = replace(remote, labels=tuple(label for label in remote.labels if label not in own))
        if known is not None and _relations(known) == _relations(plain):
            plain = replace(plain, children=known.children, blockers=known.blockers, elsewhere=known.elsewhere)
        bare = replace(plain, body="", children=(), blockers=(), elsewhere=())
        self.copy.issues[number] = plain if self._wanted(plain) else bare

    def _forget(self, number: int, *, gone: bool = False) -> None:
        """Let go of an issue, but not of what was said there unless it is `gone`: people may still answer."""
        self.copy.issues.pop(number, None)
        self.sync.own.pop(number, None)
        self.sync.related.pop(number, None)
        if gone or number not in self.sync.said:
            for table in (self.sync.updated, self.sync.heard, self.sync.said):
                table.pop(number, None)

    # Looking up what issues lead to

    def _look_up_relations(self) -> None:
        for number, remote in list(self.copy.issues.items()):
            if not self._wanted(remote):
                continue
            mark = " ".join(map(str, _relations(remote)))
            related = remote.open_children or remote.open_blockers
            if related and self.sync.related.get(number) != mark and self._may_ask():
                relatives = [
                    *(self._listed(number, "sub_issues") if remote.open_children else ()),
                    *(self._listed(number, "dependencies", "blocked_by") if remote.open_blockers else ()),
                ]
                near = [each for each in relatives if each.home.lower() == remote.home.lower()]
                here = tuple(dict.fromkeys(each.number for each in near))
                for each in near:
                    if each.number not in self.copy.issues:
                        self.put(each)
                away = (each for each in relatives if each.open and each not in near)
                elsewhere = tuple(f"{'/'.join(each.home.split('/')[-2:])}#{each.number}" for each in away)
                self.copy.issues[number] = replace(remote, children=here, blockers=(), elsewhere=elsewhere)
                self.sync.related[number] = mark

    def _listed(self, number: int, *what: str) -> list[RemoteIssue]:
        try:
            return remote_issues(self.client.items(self.client.repo("issues", number, *what), keep=True))
        except RefusedError as error:
            if error.status in MISSING:
                return []  # a server of somebody's own that is older than these
            raise

    def _needed(self) -> Iterator[int]:
        for remote in self.copy.issues.values():
            given = worked_on(remote, self.copy, self.settings) if self._wanted(remote) else None
            if given is not None:
                result = read_remote(given, self.settings.gates).result
                if isinstance(result, Issue):
                    yield from (int(number) for name in result.depends_on if (number := number_of(name)))

    def _worked(self) -> set[int]:
        return {number for number, own in self.sync.own.items() if RUNNING in own and number in self.copy.issues}

    def read_one(self, number: int) -> bool:
        """Read an issue as it is now into the copy; tell whether it is one here still. If it is gone, why is kept."""
        try:
            answer = self.client.get(self.client.repo("issues", number), keep=True)
        except RefusedError as error:
            if error.status not in MISSING:
                raise
            if number in self.copy.issues:
                self.copy.gone[number] = _BECAME.get(error.status, _UNKNOWN)
            self._forget(number, gone=True)
            self.copy.missing.add(number)
            return False
        remote = remote_issue(answer.body)
        if remote is None:
            raise ForgeError(f"GitHub answered with no issue for #{number}.", "Is [github] url that of the REST API?")
        self.copy.missing.discard(number)
        self.copy.gone.pop(number, None)
        if answer.changed or number not in self.copy.issues:
            self.put(remote)
        return True

    def settled(self, updated: str) -> bool:
        """True if a change is so old that another would have another time: GitHub's times are whole seconds."""
        at = _time(updated)
        return at is not None and self._now - at.timestamp() > OVERLAP_S

    def _look_up_triggers(self) -> None:
        worked = {number for number, remote in self.copy.issues.items() if self._wanted(remote)}
        for table in (self.copy.taken, self.copy.refused, self.sync.triggers):
            for number in table.keys() - worked:
                del table[number]
        for number in sorted(worked):
            remote = self.copy.issues[number]
            known = bool(remote.updated) and self.sync.triggers.get(number) == remote.updated
            if known or trusted(remote.author, self.copy, self.settings) or not self._may_ask():
                continue
            if Triggers(self.client, self.settings, self.copy, self.trusts).look(remote) and self.settled(
                remote.updated
            ):
                self.sync.triggers[number] = remote.updated

    def trusts(self, login: str) -> bool:
        self.look_up_writer(login)
        return trusted(login, self.copy, self.settings)

    def look_up_writer(self, login: str) -> None:
        """Find out whether a login may write, unless that is known or does not matter."""
        name = login.lower()
        named = trusted(login, replace(self.copy, writers={}), self.settings)
        if named or name.endswith("[bot]"):
            if not named:
                self.copy.writers[name] = False  # a program counts only if it is named
            return
        every = WRITER_EVERY_S if self.copy.writers.get(name) else STRANGER_EVERY_S
        asked = self.sync.asked.get(name, float("-inf"))
        if asked <= self._now < asked + every or not self._may_ask():
            return
        try:
            self.copy.writers[name] = may_write(self.client, login)
        except RefusedError as error:
            if error.status not in _UNTOLD:
                raise
            self.copy.blind = True
        else:
            self.copy.blind = False
        self.sync.asked[name] = self._now

    def _may_ask(self) -> bool:
        self._left -= 1
        return self._left >= 0


def _relations(remote: RemoteIssue) -> tuple[int, int, str]:
    return remote.open_children, remote.open_blockers, remote.updated


def _stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _time(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
