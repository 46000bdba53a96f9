"""Home's side: sends orders to hosts, keeps their leases, and takes in what comes back as a stranger's.

A slot belongs to a place: this machine, a host that is reached over ssh, or a standing cluster. dask.distributed
carries calls there and back; what an attempt is, how often it is tried and when it is given up is decided here.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from noface.attempt.attempt import Attempt
from noface.attempt.executor import HostSeen, LocalExecutor
from noface.attempt.run import only_judged, report_elsewhere, run_attempt, write_work
from noface.errors import GitError
from noface.git.packs import make_pack, stand_on, take_pack
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate, hold_ref
from noface.hosts.connection import HostConnection, HostLost, HostTask
from noface.hosts.host import LEASE_S, LOGS
from noface.hosts.parcel import OrderParcel, ProjectParcel, WorkParcel, progress_of, put_files
from noface.model.attempt import AttemptOrder, AttemptReport, Interrupted, NotStarted, Work, host_lost_note
from noface.model.failure import Failure
from noface.model.scratch import ASIDE
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import EndedBy
from noface.process.environment import variables_of
from noface.process.files import real_folder
from noface.secrets.masked_records import masked_failure

LOST_S = LEASE_S + 5.0
"""A host that has not been heard of for so long has ended its attempts: the lease is shorter, by its own clock."""
_LOOK_S = 0.5
_TICK_S = 0.1
ORDER_FILE = "order.json"
BEGIN_S = 600.0
"""So long an order waits for a worker of a standing cluster, which may have to start one."""
LOSSES_MAX = 3
"""So many hosts are lost with an issue before a person is asked what it does to them."""


class Way(Protocol):
    """How a host is reached: `open` connects, or raises HostLost; `close` ends what it began."""

    name: str

    def open(self) -> HostConnection:
        """Connect; what is there is a noface of the same version. Raises HostLost."""

    def close(self) -> None:
        """End the connection, if there is one."""


@dataclass(slots=True, eq=False)
class HostPlace:
    """A host as home sees it: its slots, and the connection while it is up. `heard_at` is in monotonic seconds.

    `unfit` is what it lacks, "" if that is nothing.
    """

    way: Way
    slots: range
    unfit: str = ""
    connection: HostConnection | None = None
    heard_at: float = 0.0
    sent: set[str] = field(default_factory=set)
    awaited: dict[str, "_Awaited"] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What people call it."""
        return self.way.name


@dataclass(slots=True, eq=False)
class _Awaited:
    """An attempt that a host carries out: what is heard of it goes to `attempt`; `lost` is why no more will be.

    `began`: a host has it. Until then it waits in a standing cluster, since `sent_at` (monotonic seconds).
    """

    attempt: Attempt
    sent_at: float
    lost: str = ""
    began: bool = False

    @property
    def why_over(self) -> str:
        """Why nothing will come of it, "" while something may."""
        if self.began or time.monotonic() - self.sent_at < BEGIN_S:
            return self.lost
        return self.lost or f"no worker has begun it within {BEGIN_S / 60:.0f} minutes"


class Cluster(LocalExecutor):
    """Carries attempts out here and on hosts; close it to let them go."""

    def __init__(
        self,
        here: int,
        ways: tuple[Way, ...],
        per_host: int,
        project: ProjectParcel,
        plumbing: Plumbing,
        send: Callable[[object], None],
        *,
        gated: bool = False,
    ) -> None:
        super().__init__(here)
        self._gated = gated
        self._project, self._plumbing, self._send = project, plumbing, send
        self._places = [
            HostPlace(way, range(here + number * per_host, here + (number + 1) * per_host))
            for number, way in enumerate(ways)
        ]
        self._losses: Counter[str] = Counter()
        self._judging = threading.BoundedSemaphore(max(here, 2))
        self._closing = threading.Event()
        self._threads = [
            threading.Thread(target=self._keep, args=(place,), name=f"host {place.name}", daemon=True)
            for place in self._places
        ]

    def start(self) -> None:
        """Begin to connect; a slot opens once its host is there."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Let the hosts go. What is under way on them ends, and is kept there."""
        self._closing.set()
        for place in self._places:
            place.way.close()
        for thread in self._threads:
            thread.join(timeout=LOST_S)

    @property
    def slots(self) -> int:
        """How many attempts there can be at once if all hosts are there."""
        return self._places[-1].slots.stop if self._places else self.here

    def is_open(self, slot: int) -> bool:
        """True if an attempt can begin in a slot: here, or on a host that is there."""
        place = self._place(slot)
        return slot < self.here if place is None else (place.connection is not None and not place.unfit)

    def place(self, slot: int) -> str:
        """Return the host that a slot belongs to, "" for this machine."""
        place = self._place(slot)
        return place.name if place is not None else ""

    def _place(self, slot: int) -> HostPlace | None:
        return next((place for place in self._places if slot in place.slots), None)

    # An attempt

    def carry_out(self, attempt: Attempt) -> AttemptReport:
        """Carry an attempt out where its slot is. Raises as `run_attempt`."""
        place, order = self._place(attempt.order.slot), attempt.order
        if place is None or only_judged(order):
            return run_attempt(attempt)
        came = self._sent(place, attempt)
        cancelled = attempt.scope.cancel.cancelled
        if isinstance(came, HostLost):
            return self._lost(attempt, place, str(came))
        if (unfit := _unfit(came)) is not None:
            return self._close(attempt, place, unfit)
        if came.failure is not None:
            return _not_started(attempt, replace(came.failure, message=f"{place.name}: {came.failure.message}"))
        if came.work is None or (came.work.agent.ended_by is EndedBy.CANCELLED and not cancelled):
            return self._lost(attempt, place, "it had not heard from here, and ended the attempt")
        self._losses.pop(order.issue.id, None)
        attempt.progress("gate", f"back from {place.name}")
        here = Attempt(replace(order, resumed=True), attempt.scope)
        with self._judging:
            return run_attempt(here) if came.verdict is None else report_elsewhere(here, came.verdict)

    def _close(self, attempt: Attempt, place: HostPlace, why: str) -> AttemptReport:
        """Have nothing more to do with a host that lacks something; the attempt is made elsewhere."""
        place.unfit = why
        self._see(place, f"{why}. It is not used in this run any more: put that right there", up=False)
        order = attempt.order
        return Interrupted(order.token, order.issue.id, order.number, notes=(host_lost_note(place.name, why),))

    def _lost(self, attempt: Attempt, place: HostPlace, why: str) -> AttemptReport:
        """Return the report of an attempt whose host was lost: nobody is charged, and it goes elsewhere."""
        order = attempt.order
        if attempt.scope.cancel.cancelled:
            return Interrupted(order.token, order.issue.id, order.number)
        self._losses[order.issue.id] += 1
        if self._losses[order.issue.id] < LOSSES_MAX:
            notes = (host_lost_note(place.name, why),)
            return Interrupted(order.token, order.issue.id, order.number, notes=notes)
        message = f"{LOSSES_MAX} times in a row a host was lost with this issue under way, last {place.name}: {why}"
        return _not_started(attempt, Failure(FailureKind.ENVIRONMENT, message, rule="host-lost", charged=False))

    def _sent(self, place: HostPlace, attempt: Attempt) -> WorkParcel | HostLost:
        """Have a host carry an attempt out; return what came of it, once it is taken in."""
        order, connection = attempt.order, place.connection
        if connection is None:
            return HostLost("it is away")
        self._plumbing.refs.apply(RefUpdate(hold_ref(order.issue.id, "start"), order.start))
        real_folder(attempt.folder, self._plumbing.repository.state_dir)
        attempt.progress("workspace", f"on {place.name}")
        awaited = place.awaited[order.token] = _Awaited(attempt, time.monotonic())
        try:
            pack = make_pack(self._plumbing, (order.start, order.main), place.sent)
            agent = attempt.env.agents[order.model.agent]
            parcel = OrderParcel(self._project, order, variables_of(agent.environment, order.model), pack, self._gated)
            under_way = connection.work(parcel.packed(), order.token)
            if (lost := self._wait(connection, under_way, awaited)) is not None:
                under_way.drop()
                return lost
            place.sent |= {order.start, order.main}
            return self._taken_in(attempt, connection)
        except HostLost as lost:
            return lost
        finally:
            del place.awaited[order.token]

    def _wait(self, connection: HostConnection, under_way: HostTask, awaited: _Awaited) -> HostLost | None:
        """Wait until a host has carried an attempt out, and pass a cancel on; return why it never will."""
        cancel, passed_on = awaited.attempt.scope.cancel, 0
        while not under_way.done():
            if why := awaited.why_over:
                return HostLost(why)
            if cancel.cancelled and passed_on <= cancel.urgent:
                passed_on += 1
                connection.cancel(awaited.attempt.order.token, cancel)
                if cancel.urgent:  # it keeps what it has, and the next run fetches that
                    return HostLost("noface was stopped at once")
            time.sleep(_TICK_S)
        return under_way.problem()

    def _taken_in(self, attempt: Attempt, connection: HostConnection) -> WorkParcel:
        """Fetch what came of an attempt and take it in. Raises HostLost if it does not come, or is none of its work."""
        order = attempt.order
        packed = connection.parcel(self._project.id, order.token)
        try:
            parcel = WorkParcel.unpacked(packed)
            root, files = self._plumbing.repository.state_dir, dict(parcel.files)
            last = {name: files.pop(name) for name in (ORDER_FILE,) if name in files}
            put_files(attempt.folder, root, files)
            if parcel.work is not None:
                write_work(attempt, self._own(order, parcel))
            # With it recovery takes the workspace here for that of the attempt: only once its work is recorded.
            put_files(attempt.folder, root, last)
        except (GitError, TypeError, ValueError, KeyError) as error:
            raise HostLost(f"what came back is not the work of an attempt: {error}") from error
        connection.forget(self._project.id, (order.token,))
        return parcel

    def _own(self, order: AttemptOrder, parcel: WorkParcel) -> Work:
        """Take the commits of a parcel into the repository; return the work with what these say of it, not the host."""
        plumbing, tips = self._plumbing, [tip for tip in (parcel.held, parcel.aside) if tip]
        take_pack(plumbing, parcel.pack, tips, checked=True)
        if why := stand_on(plumbing, tips, (order.start, order.main)):
            raise ValueError(f"its commits are not: {why}")
        refs = [RefUpdate(hold_ref(order.issue.id, str(order.number)), parcel.held)] if parcel.held else []
        refs += [RefUpdate(hold_ref(order.issue.id, f"{ASIDE}{order.number}"), parcel.aside)] if parcel.aside else []
        plumbing.refs.apply(*refs)
        work = parcel.work
        if work is None:
            raise ValueError("it holds no work")
        commit, snapshot = work.snapshot.commit, work.snapshot
        if not parcel.held or snapshot.candidate != parcel.held or plumbing.resolve(commit) is None:
            raise ValueError("its snapshot is of other commits")
        tree = plumbing.tree(snapshot.candidate)
        changes = plumbing.diff(order.main, tree).changes
        aside = parcel.aside or None
        snapshot = replace(snapshot, tree=plumbing.tree(commit), candidate_tree=tree, changes=changes, aside=aside)
        return replace(work, snapshot=snapshot)

    # A host

    def _keep(self, place: HostPlace) -> None:
        """Keep the connection to a host, for as long as the run goes on; each try waits longer, up to a minute."""
        tries = 0
        while not self._closing.is_set():
            try:
                connection = place.way.open()
                place.sent = set(connection.there(self._project.id))
                self._fetch_kept(connection)
            except HostLost as lost:
                self._see(place, str(lost), up=False)
                tries += 1
            else:
                tries = 0
                place.heard_at, place.connection = time.monotonic(), connection
                if not place.unfit:
                    self._see(place, "", up=True)
                self._lose(place, self._hear(place, connection))
            place.way.close()
            self._closing.wait(min(60.0, 2.0**tries))

    def _hear(self, place: HostPlace, connection: HostConnection) -> str:
        """Renew the leases of what a host carries out, pass on what it tells; return why it is not heard any more."""
        while not self._closing.is_set():
            try:
                news = connection.look(tuple(place.awaited))
            except HostLost as lost:
                if time.monotonic() - place.heard_at > LOST_S or lost.final:
                    return str(lost)
            else:
                place.heard_at = time.monotonic()
                for token, new in news.items():
                    if (awaited := place.awaited.get(token)) is not None:
                        awaited.began = True
                        _pass_on(awaited.attempt, new)
            self._closing.wait(_LOOK_S)
        return "the run ended"

    def _lose(self, place: HostPlace, why: str) -> None:
        place.connection = None
        if not self._closing.is_set():
            self._see(place, why, up=False)
        for awaited in tuple(place.awaited.values()):
            awaited.lost = why

    def _see(self, place: HostPlace, why: str, *, up: bool) -> None:
        self._send(HostSeen(place.name, up, why, len(place.slots)))

    def _fetch_kept(self, connection: HostConnection) -> None:
        """Take in the commits of attempts that the host ended by itself, so that no work is lost (law 2).

        Their outcome is recorded already: nothing else of them counts (I10).
        """
        for token in connection.kept(self._project.id):
            with suppress(GitError, TypeError, ValueError, KeyError):
                parcel = WorkParcel.unpacked(connection.parcel(self._project.id, token))
                ref = hold_ref(parcel.issue_id, str(parcel.number))
                if parcel.held and self._plumbing.resolve(ref) is None:
                    take_pack(self._plumbing, parcel.pack, (parcel.held,), checked=True)
                    self._plumbing.refs.apply(RefUpdate(ref, parcel.held))
            connection.forget(self._project.id, (token,))


def _unfit(came: WorkParcel) -> str | None:
    """Return what a host lacks, None if nothing: a login, a program, what setup or the gates need."""
    failures = (came.failure, came.work and came.work.agent.error, came.verdict and came.verdict.failure)
    lacking = (failure.message for failure in failures if failure and failure.category is Category.ENVIRONMENT)
    return came.error or next(lacking, None)


def _not_started(attempt: Attempt, failure: Failure) -> NotStarted:
    order = attempt.order
    return NotStarted(order.token, order.issue.id, order.number, masked_failure(failure, attempt.env.masker))


def _pass_on(attempt: Attempt, new: Mapping[str, Any]) -> None:
    """Show what a host tells of an attempt: its progress, and what its logs have grown by."""
    with suppress(TypeError, ValueError, KeyError):
        for text in new["messages"]:
            attempt.scope.send(progress_of(text, attempt.order))
        for name in LOGS:
            if data := new["logs"].get(name):
                with Path(attempt.folder, name).open("ab") as log:
                    log.write(data)
