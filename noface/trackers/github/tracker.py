"""Issues on GitHub. The backlog is made of a copy in noface's state; only `refresh`, `say`, `hear` and `add` wait.

`refresh.py` keeps the copy, `backlog.py` says whose issues count, `talk.py` answers on them.
"""

import errno
import secrets
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from noface.data.trackers import TrackerSettings
from noface.errors import DiskFullError, ForgeError, NofaceError, UsageError
from noface.model.backlog import number_of
from noface.model.issue import Backlog, Issue
from noface.model.listed import IssueFault
from noface.model.publication import Heard, Notice
from noface.process.clock import Clock
from noface.process.files import write_atomic
from noface.trackers.accept_forms import refused_accept, taken_accept
from noface.trackers.github.backlog import backlog_of
from noface.trackers.github.copy import Copy, Sync, load_copy, load_sync, save_copy, text_of
from noface.trackers.github.fingerprint import FOLDER, SYNC, fingerprint
from noface.trackers.github.issue import read_remote, remote_issue
from noface.trackers.issue_file import checked_draft

if TYPE_CHECKING:
    from noface.forge.github import Forge
    from noface.trackers.github.refresh import Refresh

_WRITTEN = ("priority", "depends_on", "paths", "accept", "model")


def open_github(settings: TrackerSettings, _root: Path, state: Path) -> "GithubTracker":
    """Return the tracker over the copy in the state folder; GitHub is opened by what the settings say, once asked."""

    def connect() -> "Forge":
        from noface.forge.location import located
        from noface.forge.opened import opened

        place = located(settings.remote, settings.repository, settings.url)
        return opened(place, settings.authors, state=state)

    return GithubTracker(settings, state / FOLDER, connect)


class GithubTracker:
    """The tracker over GitHub's issues; it is a RemoteTracker. `connect` opens GitHub when it is needed.

    `backlog` and `fingerprint` may be called by another thread than the rest.
    """

    def __init__(
        self, settings: TrackerSettings, folder: Path, connect: Callable[[], "Forge"], clock: Clock | None = None
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._connect = connect
        self._clock = clock if clock is not None else Clock()
        self._forge: Forge | None = None
        self._work: tuple[Copy, Sync] | None = None
        self._seen: tuple[str, Copy] | None = None
        self._stored = ("", "")

    def use(self, forge: "Forge") -> None:
        """Talk to GitHub by what a run has opened: all of it then keeps one budget."""
        self._forge = forge

    @property
    def protected(self) -> tuple[str, ...]:
        return ()

    def fingerprint(self) -> str:
        return fingerprint(self._settings, self._folder)

    def backlog(self, merged: Collection[str] = ()) -> Backlog:
        """Make the backlog of the copy. Raises UsageError if there is none of these settings yet."""
        mark = self.fingerprint()
        if self._seen is None or self._seen[0] != mark:
            copy = load_copy(self._folder)
            if copy is None or copy.of[2:] != self._of("", "")[2:]:
                name = self._settings.repository or "this repository"
                raise UsageError(f"there is no copy of {name}'s issues yet", "Fetch them: noface tools fetch")
            self._seen = (mark, copy)
        return backlog_of(self._seen[1], self._settings, merged)

    def refresh(self) -> bool:
        """Bring the copy up to date; see RemoteTracker.refresh."""
        location = self._open().client.location
        of = self._of(location.api, location.repository)
        copy, sync = self._loaded()
        if copy.of != of:
            copy, _ = self._work = (Copy(), Sync(clone=sync.clone))
        try:
            self._refresh().run()
            copy.of = of
        finally:
            changed = self._save()
        return changed

    def say(self, notice: Notice, comment: int | None = None) -> int | None:
        """Make the issue on GitHub say it; see RemoteTracker.say. What is not there any more is passed over."""
        if number_of(notice.issue_id) is None:
            return None  # a part of a divided issue, which GitHub knows nothing of
        from noface.forge.rest import MISSING, RefusedError
        from noface.trackers.github.talk import say

        copy, sync = self._loaded()
        number = int(notice.issue_id)
        if number in copy.gone:
            return None
        if not sync.clone:
            sync.clone = secrets.token_hex(4)
            self._save()  # before the first comment names it
        try:
            refresh = self._refresh()
            # Work begins, or lands: what a person changed since the last refresh is seen before.
            if notice.state in ("running", "landing") and not refresh.read_one(number):
                return None
            return say(refresh, notice, comment)
        except RefusedError as error:
            if error.status not in (*MISSING, 403) or self._refresh().read_one(number):
                raise
            return None
        finally:
            self._save()

    def hear(self, issue_ids: Collection[str], after: Mapping[str, int]) -> tuple[Heard, ...]:
        """Return what trusted people have written; see RemoteTracker.hear."""
        from noface.trackers.github.talk import hear

        numbers = [issue_id for issue_id in issue_ids if number_of(issue_id) is not None]
        try:
            return tuple(sorted(hear(self._refresh(), numbers, after), key=lambda each: each.id))
        finally:
            self._save()

    def add(self, draft: Issue, merged: Collection[str] = ()) -> Issue:
        """Make the issue on GitHub, with the label; see Tracker.add. Raises ForgeError if that is refused."""
        self.refresh()
        copy, _ = self._loaded()
        sound = checked_draft(draft, [*map(str, copy.issues), *merged])
        for command in sound.accept:
            if taken_accept(command, self._settings.gates) is None:
                raise UsageError(*refused_accept(command, self._settings.gates))
        client = self._open().client
        import tomli_w

        defaults = asdict(Issue("", sound.title))
        values = {name: getattr(sound, name) for name in _WRITTEN if getattr(sound, name) != defaults[name]}
        lists = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        front = f"{sound.body}\n\n```toml noface\n{tomli_w.dumps(lists)}```\n".lstrip("\n")
        wanted: dict[str, object] = {"title": sound.title, "body": front if lists else sound.body}
        wanted["labels"] = list(dict.fromkeys([*filter(None, [self._settings.label]), *sound.labels]))
        remote = remote_issue(client.post(client.repo("issues"), wanted))
        if remote is None:
            raise ForgeError("GitHub answered with no issue.", "See there whether it was made.")
        refresh = self._refresh()
        refresh.put(remote)
        with suppress(ForgeError):  # the next refresh asks again
            refresh.look_up_writer(remote.author)
        self._save()
        result = read_remote(remote, self._settings.gates).result
        if isinstance(result, IssueFault):
            raise NofaceError(f"{result.source} was added but is faulty: {result.problem}", result.hint)
        if self._settings.label.lower() not in {"", *(label.lower() for label in remote.labels)}:
            problem = f"{result.source} was added without the label {self._settings.label}"
            raise NofaceError(problem, "The token's account may not set labels: have somebody set it who may.")
        return result

    def _open(self) -> "Forge":
        if self._forge is None:
            self._forge = self._connect()
        return self._forge

    def _of(self, api: str, repository: str) -> tuple[str, ...]:
        return (api, repository.lower(), self._settings.label.lower())

    def _refresh(self) -> "Refresh":
        from noface.trackers.github.refresh import Refresh

        forge, now = self._open(), self._clock.now()
        return Refresh(forge.client, self._settings, *self._loaded(), now, forge.whoami)

    def _loaded(self) -> tuple[Copy, Sync]:
        if self._work is None:
            copy = load_copy(self._folder)
            sync = load_sync(self._folder) if copy is not None else Sync()
            copy = copy if copy is not None else Copy()
            for number, remote in copy.issues.items():
                copy.issues[number] = replace(remote, updated=sync.updated.get(number, ""))
            self._work = (copy, sync)
            self._stored = (text_of(copy), text_of(sync))
        return self._work

    def _save(self) -> bool:
        copy, sync = self._loaded()
        if not copy.of:
            return False
        texts = (text_of(copy), text_of(sync))
        changed = texts[0] != self._stored[0]
        try:
            if changed:
                save_copy(self._folder, texts[0])
            if texts[1] != self._stored[1]:  # losing it costs requests, and no issue: the last refresh is done again
                write_atomic(self._folder / SYNC, texts[1], durable=False)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFullError("There is no room left for the copy of the issues.", "Make room.") from error
            hint = "Check that noface's state can be written and the disk has room."
            raise NofaceError(f"cannot store the copy of the issues: {error.strerror}", hint) from error
        self._stored = texts
        return changed
