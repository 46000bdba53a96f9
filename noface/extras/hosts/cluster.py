"""Home's side: sends orders to hosts, keeps their leases, and takes in what comes back as a stranger's.

A slot belongs to a place: this machine, a host that is reached over ssh, or a standing cluster. dask.distributed
carries calls there and back; what an attempt is, how often it is tried and when it is given up is decided here.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from noface.attempt.attempt import Attempt
from noface.attempt.disk import says_full
from noface.attempt.run import LocalExecutor, only_judged, run_attempt, write_work
from noface.errors import GitError
from noface.extras.hosts.connection import HostConnection, HostLost, HostTask
from noface.extras.hosts.host import LEASE_S, LOGS
from noface.extras.hosts.packs import base_of, make_pack, take_pack
from noface.extras.hosts.parcel import OrderParcel, ProjectParcel, WorkParcel, progress_of, put_files
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate, hold_ref
from noface.git.set_aside import ASIDE_MESSAGE
from noface.git.snapshot import SlotSnapshot
from noface.model.attempt import HOST_LOST, AttemptReport, Interrupted, NotStarted, Work
from noface.model.failure import Failure
from noface.model.listed import HostState
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import EndedBy
from noface.process.environment import variables_of
from noface.process.files import real_folder
from noface.secrets.masked_records import masked_record

LOST_S = LEASE_S + 5.0
"""A host that has not been heard of for so long has ended its attempts: the lease is shorter, by its own clock."""
_LOOK_S = 0.5
_TICK_S = 0.1
ORDER_FILE = "order.json"
ALONE_S = 60.0
"""So long without any host, and this machine works, too, if it is to leave that to them."""
BEGIN_S = 600.0
"""So long an order waits for a worker of a standing cluster, which may have to start one."""
LOSSES_MAX = 3
"""So often a host is lost that has an issue alone, with no attempt at it that ends, before a person is asked."""


class Way(Protocol):
    """How a host is reached: `open` connects, or raises HostLost; `close` ends what it began."""

    name: str

    def open(self) -> HostConnection:
        """Connect; what is there is a noface of the same version. Raises HostLost."""

    def close(self) -> None:
        """End the connection, if there is one."""


@dataclass(slots=True, eq=False)
class HostPlace:
    """A host as home sees it: its slots, and the connection while it is up. It has a worker, a standing cluster many.

    `heard_at` (monotonic seconds) and `sent`, the commits that are there, are by worker. `unfit` is what it lacks.
    `doubted_at`: an attempt was lost on it then. `refused` are tokens of what it keeps and home has not taken.
    """

    way: Way
    slots: range
    unfit: str = ""
    doubted_at: float = 0.0
    connection: HostConnection | None = None
    heard_at: dict[str, float] = field(default_factory=dict)
    sent: dict[str, frozenset[str]] = field(default_factory=dict)
    awaited: dict[str, "_Awaited"] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    sending: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_open(self) -> bool:
        return self.connection is not None and not self.unfit and not self.doubted_at

    @property
    def name(self) -> str:
        return self.way.name


@dataclass(slots=True, eq=False)
class _Awaited:
    """An attempt that a host carries out: what is heard of it goes to `attempt`; `lost` is why no more will be.

    `worker` is "" until a standing cluster says so. Until it `began` it waits since `sent_at` (monotonic seconds).
    """

    attempt: Attempt
    sent_at: float
    worker: str
    alone: bool
    lost: str = ""
    began: bool = False

    @property
    def why_over(self) -> str:
        if self.began or time.monotonic() - self.sent_at < BEGIN_S:
            return self.lost
        return self.lost or f"no worker has begun it within {BEGIN_S / 60:.0f} minutes"

    def going(self) -> None:
        if self.lost:
            raise HostLost(self.lost)
        if self.attempt.scope.cancel.urgent:  # its host keeps what it has, and the next run fetches that
            raise HostLost("noface was stopped at once")

    def wanted(self) -> None:
        self.going()
        if self.attempt.scope.cancel.cancelled:
            raise HostLost("it was cancelled before it began")


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
    ) -> None:
        super().__init__(max(here, 1))
        self._spare, self._seen_at = not here, time.monotonic()
        self._project, self._plumbing, self._send = project, plumbing, send
        self._places = [
            HostPlace(way, range(self.here + number * per_host, self.here + (number + 1) * per_host))
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
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._closing.set()
        for place in self._places:
            place.way.close()
        for thread in self._threads:
            thread.join(timeout=LOST_S)

    @property
    def slots(self) -> int:
        return self._places[-1].slots.stop if self._places else self.here

    def is_open(self, slot: int) -> bool:
        place = self._place(slot)
        if place is not None:
            return place.is_open
        if any(place.is_open for place in self._places):
            self._seen_at = time.monotonic()
        return not self._spare or time.monotonic() - self._seen_at > ALONE_S

    def place(self, slot: int) -> str:
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
        if isinstance(came, HostLost) and came.unfit:
            return self._close(attempt, place, str(came))
        if isinstance(came, HostLost):
            place.doubted_at = time.monotonic()  # what kills a host shows in its attempts first: none goes there now
            return self._lost(attempt, place, str(came))
        failures = (came.failure, came.work and came.work.agent.error)
        lacking = (failure.message for failure in failures if failure and failure.category is Category.ENVIRONMENT)
        if (unfit := came.error or next(lacking, None)) is not None:
            return self._close(attempt, place, unfit)
        if came.failure is not None:
            return _not_started(attempt, replace(came.failure, message=f"{place.name}: {came.failure.message}"))
        if came.work is None or (came.work.agent.ended_by is EndedBy.CANCELLED and not cancelled):
            return self._lost(attempt, place, "it had not heard from here, and ended the attempt")
        self._losses.pop(order.issue.id, None)
        attempt.progress("gate", f"back from {place.name}")
        here = Attempt(replace(order, resumed=True), attempt.scope)
        with self._judging:
            return run_attempt(here)

    def _close(self, attempt: Attempt, place: HostPlace, why: str) -> AttemptReport:
        """Have nothing more to do with a host that lacks something; the attempt is made elsewhere."""
        place.unfit = why
        self._see(place, f"{why.rstrip('.')}. It is not used in this run any more: put that right there", up=False)
        order = attempt.order
        return Interrupted(order.token, order.issue.id, order.number, notes=(f"{HOST_LOST}: {place.name} ({why})",))

    def _lost(self, attempt: Attempt, place: HostPlace, why: str) -> AttemptReport:
        order = attempt.order
        if attempt.scope.cancel.cancelled:
            return Interrupted(order.token, order.issue.id, order.number)
        if self._losses[order.issue.id] < LOSSES_MAX:
            notes = (f"{HOST_LOST}: {place.name} ({why})",)
            return Interrupted(order.token, order.issue.id, order.number, notes=notes)
        message = f"{LOSSES_MAX} times a host was lost while it had this issue alone, last {place.name}: {why}"
        return _not_started(attempt, Failure(FailureKind.ENVIRONMENT, message, rule="host-lost", charged=False))

    def _sent(self, place: HostPlace, attempt: Attempt) -> WorkParcel | HostLost:
        order, connection = attempt.order, place.connection
        if connection is None:
            return HostLost("it is away")
        self._plumbing.refs.apply(RefUpdate(hold_ref(order.issue.id, "start"), order.start))
        real_folder(attempt.folder, self._plumbing.repository.state_dir)
        attempt.progress("workspace", f"on {place.name}")
        others, worker = tuple(place.awaited.values()), ""
        with suppress(HostLost):
            worker = connection.free_worker(Counter(awaited.worker for awaited in others))
        awaited = place.awaited[order.token] = _Awaited(attempt, time.monotonic(), worker, alone=not others)
        for other in others:
            other.alone = False
        try:
            came = self._tried(place, connection, awaited)
            if came.lacking:  # it has cleared up, or another worker has its folder
                place.sent[awaited.worker] = frozenset()
                came = self._tried(place, connection, awaited)
        except HostLost as lost:
            # Only that it was at work there, and nothing else was, speaks for it having ended the host.
            self._losses[order.issue.id] += awaited.began and awaited.alone and not lost.unfit
            return lost
        else:
            return came
        finally:
            del place.awaited[order.token]

    def _tried(self, place: HostPlace, connection: HostConnection, awaited: _Awaited) -> WorkParcel:
        """Have a worker carry an attempt out, and take in what came of it. Raises HostLost."""
        under_way = self._begun(place, connection, awaited)
        if (lost := self._wait(connection, under_way, awaited)) is not None:
            under_way.drop()
            raise lost
        return self._taken_in(awaited, connection)

    def _begun(self, place: HostPlace, connection: HostConnection, awaited: _Awaited) -> HostTask:
        """Send an order: to its worker, or whole to whichever of a standing cluster becomes free. Raises HostLost."""
        attempt, worker, order = awaited.attempt, awaited.worker, awaited.attempt.order
        agent = attempt.env.agents[order.model.agent]
        # One after another, so that the next need not bring again what this one has.
        with place.sending if worker else nullcontext():
            if worker and worker not in place.sent:
                place.sent[worker] = frozenset(connection.there(self._project.id, worker))
            pack = make_pack(self._plumbing, (order.start, order.main), place.sent.get(worker, ()))
            parcel = OrderParcel(self._project, order, variables_of(agent.environment, order.model), pack)
            place.heard_at[worker] = awaited.sent_at = time.monotonic()
            begun = connection.work(parcel.packed(), self._project.id, order.token, worker, awaited.wanted)
            if worker:
                place.sent[worker] |= {order.start, order.main}
            return begun

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

    def _taken_in(self, awaited: _Awaited, connection: HostConnection) -> WorkParcel:
        """Fetch what came of an attempt and take it in. Raises HostLost if it does not come, or is none of its work."""
        attempt, order = awaited.attempt, awaited.attempt.order
        try:
            if not awaited.worker:  # it ended before it was seen to begin
                kept = connection.kept(self._project.id)
                awaited.worker = next((worker for worker, token in kept if token == order.token), "")
            parcel = WorkParcel.unpacked(
                connection.parcel(self._project.id, order.token, awaited.worker, awaited.going)
            )
            root, files = self._plumbing.repository.state_dir, dict(parcel.files)
            last = {name: files.pop(name) for name in (ORDER_FILE,) if name in files}
            put_files(attempt.folder, root, files)
            if parcel.work is not None:
                write_work(attempt, self._own(attempt, parcel, parcel.work))
            # With it recovery takes the workspace here for that of the attempt: only once its work is recorded.
            put_files(attempt.folder, root, last)
        except (GitError, TypeError, ValueError, KeyError) as error:
            if says_full(str(error)):  # git's word, and this machine's disk: the run ends, as it does without hosts
                raise
            raise HostLost(f"what came back is not the work of an attempt: {error}", unfit=True) from error
        connection.forget(self._project.id, order.token, awaited.worker)
        return parcel

    def _own(self, attempt: Attempt, parcel: WorkParcel, work: Work) -> Work:
        """Take the trees of a parcel into the repository; return the work with what these say of it, not the host.

        The commits are made here: messages, authors and histories of a host's own go nowhere.
        """
        plumbing, order, snapshot = self._plumbing, attempt.order, work.snapshot
        own = (commit for _, commit in snapshot.in_git)
        take_pack(plumbing, parcel.pack, [tip for tip in (parcel.held, parcel.aside, *own) if tip], checked=True)
        bases = (order.start, order.main)
        if not parcel.held or snapshot.candidate != parcel.held or base_of(plumbing, parcel.held) not in bases:
            raise ValueError("its commits do not stand on those that it began on")
        candidate_tree = plumbing.tree(parcel.held)
        below = plumbing.resolve(f"{parcel.held}^")
        with_protected = snapshot.commit == below and below not in bases
        tree = plumbing.tree(snapshot.commit) if with_protected else candidate_tree
        commit = candidate = attempt.commit(tree, order.start)
        if tree != candidate_tree:
            candidate = attempt.commit(candidate_tree, commit)
        aside = None
        if parcel.aside:
            aside = plumbing.commit_tree(plumbing.tree(parcel.aside), (order.start,), ASIDE_MESSAGE)
        diff = plumbing.diff(order.main, candidate_tree)
        changed = bool(diff.changes) if order.start == order.main else candidate_tree != plumbing.tree(order.start)
        snapshot = replace(snapshot, commit=commit, tree=tree, candidate=candidate, candidate_tree=candidate_tree)
        snapshot = replace(snapshot, changes=diff.changes, aside=aside)
        taken = SlotSnapshot(snapshot, diff.patch, diff.hash, changed=changed)
        taken = attempt.with_rest_held(taken)
        attempt.keep_patches(taken)
        return replace(work, snapshot=taken.snapshot, patch_hash=diff.hash, changed=changed)

    # A host

    def _keep(self, place: HostPlace) -> None:
        """Keep the connection to a host, for as long as the run goes on; each try waits longer, up to a minute."""
        tries = 0
        while not self._closing.is_set():
            why = ""
            try:
                connection = place.way.open()
                self._fetch_kept(place, connection)
                place.heard_at = dict.fromkeys(connection.workers(), time.monotonic())
                place.sent, place.doubted_at, place.connection = {}, 0.0, connection
                tries = 0
                if not place.unfit:
                    self._see(place, "", up=True)
                why = self._hear(place, connection)
            except HostLost as lost:
                why = str(lost)
            except Exception as error:  # noqa: BLE001 - a host can answer anything
                why = f"it answers nonsense ({type(error).__name__}: {error})"
            tries += 1
            place.connection = None
            if not self._closing.is_set():
                self._see(place, why, up=False)
            for awaited in tuple(place.awaited.values()):
                awaited.lost = why or "it is away"
            with suppress(Exception):  # a thread that ends here would leave the host's attempts waiting for ever
                place.way.close()
            self._closing.wait(min(60.0, 2.0 ** (tries - 1)))

    def _hear(self, place: HostPlace, connection: HostConnection) -> str:
        """Renew the leases of what a host carries out, pass on what it tells; return why it is not heard any more."""
        last = time.monotonic()
        while not self._closing.is_set():
            asked_at = time.monotonic()
            try:
                answers = connection.look(tuple(place.awaited))
                workers = connection.workers()
            except HostLost as lost:
                if time.monotonic() - last > LOST_S or lost.final:
                    return str(lost)
            else:
                last = time.monotonic()
                place.heard_at |= dict.fromkeys(answers, last)
                if place.doubted_at < asked_at:
                    place.doubted_at = 0.0
                for worker, token, new in ((who, *pair) for who, news in answers.items() for pair in news.items()):
                    if (awaited := place.awaited.get(token)) is not None:
                        awaited.began, awaited.worker = True, worker
                        _pass_on(awaited.attempt, new)
                for awaited in tuple(place.awaited.values()):
                    away = awaited.worker not in workers or last - place.heard_at.get(awaited.worker, 0.0) > LOST_S
                    if awaited.worker and away:
                        awaited.lost = f"its worker {awaited.worker} is gone"
            self._closing.wait(_LOOK_S)
        return "the run ended"

    def _see(self, place: HostPlace, why: str, *, up: bool) -> None:
        self._send(HostState(place.name, up, why, len(place.slots)))

    def _fetch_kept(self, place: HostPlace, connection: HostConnection) -> None:
        """Take in the commits of attempts that the host ended by itself, so that no work is lost (law 2).

        Their outcome is recorded already: nothing else of them counts (I10). What cannot be taken stays there.
        """
        for worker, token in connection.kept(self._project.id):
            if token in place.refused:
                continue
            place.refused.add(token)
            with suppress(GitError, OSError, TypeError, ValueError, KeyError):
                parcel = WorkParcel.unpacked(connection.parcel(self._project.id, token, worker, self._open))
                ref = hold_ref(parcel.issue_id, str(parcel.number))
                if parcel.held and self._plumbing.resolve(ref) is None:
                    take_pack(self._plumbing, parcel.pack, (parcel.held,), checked=True)
                    base, tree = base_of(self._plumbing, parcel.held), self._plumbing.tree(parcel.held)
                    message = f"Work that {place.name} kept of attempt {parcel.number}\n"
                    self._plumbing.refs.apply(RefUpdate(ref, self._plumbing.commit_tree(tree, (base,), message)))
                connection.forget(self._project.id, token, worker)

    def _open(self) -> None:
        if self._closing.is_set():
            raise HostLost("the run ended")


def _not_started(attempt: Attempt, failure: Failure) -> NotStarted:
    order = attempt.order
    return NotStarted(order.token, order.issue.id, order.number, masked_record(failure, attempt.env.masker))


def _pass_on(attempt: Attempt, new: Mapping[str, Any]) -> None:
    with suppress(OSError, TypeError, ValueError, KeyError):
        for text in new["messages"]:
            attempt.scope.send(progress_of(text, attempt.order))
        for name in LOGS:
            if data := new["logs"].get(name):
                with Path(attempt.folder, name).open("ab") as log:
                    log.write(data)
