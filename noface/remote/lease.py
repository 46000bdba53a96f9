"""The lease of a repository: a ref on the remote says which machine's noface works on it, and until when (law 5).

A run that publishes takes it before it looks at main, renews it, and gives it back, each by compare-and-swap. A killed
run leaves it: its own clone goes on at once, any other once it is over. A run that has lost it stops, and lands nothing
more. Anybody who may push can write one, so nothing of it is shown as it stands.
"""

import hashlib
import json
import math
import os
import platform
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from noface.engine.context import RunContext
from noface.engine.outages import PUSH_PAUSES_S
from noface.engine.stations import Station, Steps, Tick, call
from noface.errors import GitError, LockedError, RemoteError
from noface.git.remote import LOOK_SECONDS_MAX, Rejected
from noface.model.quoting import one_line
from noface.process.command import Canceller
from noface.process.failpoints import hit

LEASE = "refs/noface/lease"
MACHINE = "NOFACE_MACHINE"
"""The variable that names a machine; one that is made anew for each run is the same machine by it."""
LEASE_S = 900.0
CLOCKS_APART_S = 300.0
"""A lease is over once it has ended for so long: clocks differ."""
_RENEWED_S, _AGAIN_S = 300.0, 60.0
_HOLDER = "holder"
_CHARS_MAX = 100
_TIME_MAX = 250_000_000_000.0
"""In the year 9892: what is later has no date."""


@dataclass(frozen=True, slots=True)
class Lease:
    """`holder` is one clone on one machine, `machine` its name for people. `until`: epoch seconds, by its clock."""

    holder: str
    run: str
    machine: str
    until: float

    def ended(self, now: float) -> bool:
        return now > self.until + CLOCKS_APART_S

    def held_by(self) -> str:
        when = "" if math.isinf(self.until) else f" until {datetime.fromtimestamp(self.until, UTC):%Y-%m-%d %H:%M} UTC"
        return f"{self.machine}{when}"


def read(message: str) -> Lease:
    """Return the lease that a commit's message holds; one that cannot be read is somebody's until it is removed."""
    try:
        values = json.loads(message[:2000])
        until = float(values["until"])
        holder, run, machine = (one_line(str(values[key]), _CHARS_MAX) for key in ("holder", "run", "machine"))
    except (ValueError, TypeError, LookupError, RecursionError):
        return Lease("", "", "another noface", math.inf)
    return Lease(holder, run, machine, until if 0 <= until <= _TIME_MAX else math.inf)


class RepositoryLease(Station):
    """The lease of a run. Without a remote, or if nothing is published, it needs none."""

    def __init__(self) -> None:
        self._commit, self._renew_at = "", 0.0

    @contextmanager
    def held(self, context: RunContext, cancel: Canceller) -> Iterator[None]:
        """Have the lease meanwhile, waiting for a remote. Raises LockedError, RemoteError, KeyboardInterrupt."""
        if context.remote is None or not context.settings.config.landing.publishes:
            yield
            return
        self._context, self._remote, self._holder = context, context.remote, _holder(context)
        if refusal := self._take_first(cancel):
            context.announce("lease_refused", None, {"reason": refusal})
        try:
            yield
        finally:
            if self._commit and not cancel.urgent:  # else it ends by itself
                with suppress(GitError):
                    self._push("", self._commit)
                hit("lease_given_back")

    def _take_first(self, cancel: Canceller) -> str:
        clock, began, failed = self._context.clock, self._context.clock.now(), 0
        while not cancel.cancelled:
            try:
                return self._take(*self._there(cancel), cancel)
            except RemoteError as error:
                pause = PUSH_PAUSES_S[min(failed, len(PUSH_PAUSES_S) - 1)]
                if not error.passing or clock.now() + pause > began + self._context.settings.policy.outage_max_s:
                    raise
                if not failed:
                    self._context.announce("lease_waits", None, {"reason": error.message})
                clock.sleep(pause)
                failed += 1
        raise KeyboardInterrupt

    def stories(self) -> Iterable[Steps[None]]:
        """Renew the lease; LockedError if another noface has taken it, which ends the run."""
        return (self._keep(),)

    def _keep(self) -> Steps[None]:
        while self._commit:
            yield Tick(always=True)
            if self._context.clock.now() < self._renew_at:
                continue
            self._renew_at = self._context.clock.now() + _AGAIN_S  # whoever takes it meanwhile is seen then
            with suppress(RemoteError):
                if (who := (yield from call(self._renew, always=True))) is not None:  # raised here it ends the run now
                    lost = f"this run has lost the repository's lease, and lands nothing more{who}"
                    raise LockedError(lost, "Its work is kept, and so is what was under way here.")

    def _renew(self, cancel: Canceller) -> str | None:
        """Renew the lease, in a thread; if another noface has it, return what is known of that. Raises RemoteError."""
        commit, there = self._there(cancel)
        if there is None or there.run != self._context.run_id:
            return f": {there.held_by() if there is not None else 'it was removed'}"
        with suppress(LockedError):
            self._take(commit, there, cancel)
            return None
        return ""

    def _there(self, cancel: Canceller) -> tuple[str, Lease | None]:
        commit = self._remote.read(LEASE, cancel=cancel)[0].get(LEASE, "")
        if not commit:
            return "", None
        plumbing = self._context.env.plumbing
        if plumbing.resolve(commit) is None:
            self._remote.fetch(LEASE, cancel=cancel)
        return commit, read(plumbing.git.run("log", "-1", "--format=%B", commit).text)

    def _take(self, commit: str, there: Lease | None, cancel: Canceller) -> str:
        """Take or renew the lease; return why the server takes none. Raises LockedError and RemoteError."""
        context, remove = self._context, f"git push {self._remote.name} --delete {LEASE}"
        now = context.clock.now()
        if there is not None and there.holder != self._holder and not there.ended(now):
            raise LockedError(
                f"another noface works on this repository: {there.held_by()}",
                f"It renews that while it is at work. If it is gone for good: {remove}",
            )
        mine = Lease(self._holder, context.run_id, machine_name(), now + LEASE_S)
        plumbing = context.env.plumbing
        new = plumbing.commit_tree(plumbing.git.ask("mktree", stdin=""), (), json.dumps(asdict(mine)))
        result = self._push(new, commit, cancel)
        hit("lease_taken")
        if result is None:
            self._commit, self._renew_at = new, now + _RENEWED_S
            return ""
        if result.moved:
            commit, there = self._there(cancel)
            if there is not None and there.run == context.run_id:  # the answer to an earlier push was lost
                self._commit, self._renew_at = commit, now + _RENEWED_S
                return ""
            raise LockedError("another noface has just begun to work on this repository", "Run again once it is done.")
        return result.server_words or result.reason.line

    def _push(self, commit: str, expected: str, cancel: Canceller | None = None) -> Rejected | None:
        return self._remote.push(commit, LEASE, expected, cancel, seconds_max=LOOK_SECONDS_MAX)


def _holder(context: RunContext) -> str:
    """Return what names this clone on this machine; a hash, since where it lies is nobody's business."""
    name = context.reader.fact(_HOLDER)
    if name is None:
        name = secrets.token_hex(8)
        context.journal.fact(_HOLDER, name)
    place = os.fsencode(context.env.plumbing.repository.state_dir)
    return hashlib.sha256(f"{name} {machine_name()} ".encode() + place).hexdigest()[:32]


def machine_name() -> str:
    """Return the name of the machine; the variable wins, since a container, or a runner, has another name each time."""
    return os.environ.get(MACHINE, "") or platform.node() or "a machine without a name"
