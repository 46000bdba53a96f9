"""A host's side: carries out the work of orders that come from another machine, and keeps what came of them.

Each order has a lease, which home renews while it hears from the host. An attempt whose lease has run out ends itself:
home gives it to somebody else then, and two machines never pay for one issue. What came of an order stays here until
home has taken it in, so that a connection that is cut loses no work (law 2).
"""

import os
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from noface.agents.base import SESSION
from noface.attempt.attempt import Attempt, Judging
from noface.attempt.environment import AttemptEnvironment, Scope
from noface.attempt.run import do_work, run_attempt
from noface.errors import GitError, HostError
from noface.git.packs import commits_there, make_pack, make_repository, take_pack
from noface.git.refs import ZERO, RefUpdate, hold_ref
from noface.git.removal import remove
from noface.git.repository import Repository
from noface.hosts.hello import code_digest
from noface.hosts.parcel import OrderParcel, ProjectParcel, WorkParcel, files_of, progress_text
from noface.model.attempt import AttemptOrder, AttemptReport, Interrupted, Judged, NotStarted, Work
from noface.model.failure import Failure
from noface.model.scratch import ASIDE
from noface.process.clock import Clock
from noface.process.environment import Variables
from noface.process.files import read_regular, real_folder, write_atomic
from noface.process.lock import RepositoryLock
from noface.process.log_masking import known_secrets
from noface.process.supervise import Canceller, Launcher

LEASE_S = 10.0
"""An attempt of which home has not been heard for so long ends itself."""
_WATCH_S = 0.5
_MESSAGES_MAX = 1_000
_CHUNK_BYTES_MAX = 256 << 10
_PARCEL_BYTES_MAX = 2 << 30
_KEPT_DAYS = 14.0
_PACKS_MAX = 50
LOGS = ("agent.log", "agent.err")
"""The files of an attempt that home sees grow."""

Environment = Callable[[str, Repository], AttemptEnvironment]
"""Makes of a configuration, as JSON, and a repository what attempts work with on this machine."""


@dataclass(slots=True, eq=False)
class UnderWay:
    """An attempt under way: until when its lease runs (monotonic seconds), and what home has yet to hear of it.

    `folder` is empty until its order is known. `sent` is how many bytes of each log home has.
    """

    leased_until: float
    cancel: Canceller = field(default_factory=Canceller)
    messages: list[str] = field(default_factory=list)
    folder: Path | None = None
    sent: dict[str, int] = field(default_factory=dict)
    masked: Callable[[bytes], bytes] = bytes

    def send(self, message: object) -> None:
        """Keep a message for home; of too many the oldest go."""
        text = progress_text(message)
        if text is not None:
            self.messages = [*self.messages[1 - _MESSAGES_MAX :], text]

    def news(self) -> dict[str, Any]:
        """Return what home has not heard yet: messages, and what the logs have grown by."""
        messages, self.messages = self.messages, []
        return {"messages": messages, "logs": {name: self._grown(name) for name in LOGS} if self.folder else {}}

    def _grown(self, name: str) -> bytes:
        start = self.sent.get(name, 0)
        try:
            with (self.folder or Path()).joinpath(name).open("rb") as log:
                log.seek(start)
                data = log.read(_CHUNK_BYTES_MAX)
        except OSError:
            return b""
        whole = data[: data.rfind(b"\n") + 1]  # a line that is not whole may be a part of a secret
        self.sent[name] = start + len(whole)
        return self.masked(whole)


@dataclass(slots=True, eq=False)
class HostedProject:
    """A project that this host has a repository of; whoever holds `lock` (law 5) uses it."""

    repository: Repository
    env: AttemptEnvironment
    lock: RepositoryLock
    moving: threading.Lock = field(default_factory=threading.Lock)
    slots: dict[int, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))


class Host:
    """What this machine does for others. `folder` is where it keeps their projects."""

    def __init__(self, folder: Path, environment: Environment, clock: Clock = Clock()) -> None:
        self._folder, self._environment, self._clock = folder, environment, clock
        self._under_way: dict[str, UnderWay] = {}
        self._projects: dict[tuple[str, str], HostedProject] = {}
        self._opening = threading.Lock()
        self._watching: threading.Thread | None = None
        _IN_THIS_PROCESS.append(self)

    def there(self, project: str) -> list[str]:
        """Return commits of a project that need not be sent."""
        for root in (self._folder / project).glob("*/.git"):
            return list(commits_there(Repository(root.parent, root, "", ProjectParcel("", "", "", "").identity)))
        return []

    def work(self, packed: Mapping[str, Any]) -> str:
        """Carry an order out, as far as its worker does; return its token once what came of it is kept here."""
        parcel = OrderParcel.unpacked(packed)
        token, project = parcel.order.token, parcel.project.id
        under_way = self._under_way[token] = UnderWay(self._clock.monotonic() + LEASE_S)
        self._watch()
        try:
            done = self._carry_out(parcel, under_way)
        except Exception as error:  # noqa: BLE001 - home tells its person, whatever it is
            done = WorkParcel(token, error=f"{type(error).__name__}: {error}")
        finally:
            del self._under_way[token]
        self._keep(project, replace(done, issue_id=parcel.order.issue.id, number=parcel.order.number))
        self._let_go(parcel)
        return token

    def _carry_out(self, parcel: OrderParcel, under_way: UnderWay) -> WorkParcel:
        if parcel.project.code != code_digest():
            raise HostError("it runs another noface than home", "Install the same version there.")
        project = self._opened(parcel.project)
        order = self._as_here(project, parcel.order)
        plumbing = project.env.plumbing
        with project.moving:
            take_pack(plumbing, parcel.pack, (order.start, order.main))
            plumbing.refs.apply(
                RefUpdate(hold_ref(order.issue.id, "start"), order.start),
                RefUpdate(project.repository.main, order.main),
            )
        given = (*order.model.env, *parcel.variables)
        masking = known_secrets(given, project.repository.state_dir)
        like = project.env.launcher
        launcher = Launcher(masking=masking, namespaces=like.namespaces, memory_max_bytes=like.memory_max_bytes)
        # An attempt that home has given up may still be ending in this workspace.
        with project.slots[order.slot], launcher:
            env = replace(project.env, launcher=launcher)
            model = replace(order.model, env=_given(parcel.variables, order))
            attempt = Attempt(replace(order, model=model), Scope(env, under_way.cancel, under_way.send))
            under_way.masked, under_way.folder = _masking(masking.masker.in_place), attempt.folder
            return _parcel(attempt, _gated(attempt) if parcel.gated else do_work(attempt))

    def _opened(self, sent: ProjectParcel) -> HostedProject:
        with self._opening:
            key = sent.id, sent.config
            if key not in self._projects:
                folder = self._folder / sent.id
                repository = sent.repository(folder)
                make_repository(repository.root, sent.object_format)
                former = next((each for (name, _), each in self._projects.items() if name == sent.id), None)
                repository.state_dir.mkdir(0o700, parents=True, exist_ok=True)
                env = self._environment(sent.config, repository)
                lock = former.lock if former is not None else RepositoryLock(repository.state_dir / "lock").__enter__()
                if former is None:
                    self._tidy(folder, repository)
                self._projects[key] = HostedProject(repository, env, lock)
            return self._projects[key]

    def _as_here(self, project: HostedProject, order: AttemptOrder) -> AttemptOrder:
        """Return an order with the folders of this machine; a session that this machine does not have is left out."""
        folder = project.repository.state_dir / "attempts" / Path(order.directory).parent.name
        session = order.session
        if session is not None:
            before = folder / Path(session.directory).name
            session = replace(session, directory=str(before)) if before.is_dir() else None
        return replace(order, directory=str(folder / str(order.number)), session=session)

    def _keep(self, project: str, parcel: WorkParcel) -> None:
        import msgpack  # it comes with dask.distributed

        place = real_folder(self._folder / project / "kept", self._folder) / parcel.token
        write_atomic(place, msgpack.packb(parcel.packed()))

    def _let_go(self, parcel: OrderParcel) -> None:
        """Remove what the parcel holds by now; an agent's session stays for the next attempt."""
        project = self._projects.get((parcel.project.id, parcel.project.config))
        if project is None:
            return
        order, plumbing = parcel.order, project.env.plumbing
        refs = (hold_ref(order.issue.id, name) for name in (str(order.number), f"{ASIDE}{order.number}"))
        with suppress(GitError):
            plumbing.refs.apply(*(RefUpdate(ref, ZERO) for ref in refs if plumbing.resolve(ref) is not None))
        with suppress(OSError):
            for path in Path(self._as_here(project, order).directory).iterdir():
                if path.name != SESSION:
                    remove(path)

    def kept(self, project: str) -> list[str]:
        """Return the tokens of the orders whose work home has yet to take in."""
        folder = self._folder / project / "kept"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def parcel(self, project: str, token: str) -> dict[str, Any] | None:
        """Return what came of an order, None if nothing is kept of it."""
        import msgpack

        data = read_regular(self._folder / project / "kept" / Path(token).name, _PARCEL_BYTES_MAX)
        return msgpack.unpackb(data) if data is not None else None

    def forget(self, project: str, tokens: Iterable[str]) -> None:
        """Remove what home has taken in."""
        for token in tokens:
            (self._folder / project / "kept" / Path(token).name).unlink(missing_ok=True)

    def look(self, tokens: Iterable[str]) -> dict[str, Any]:
        """Renew the leases of attempts; return what is new of those that are under way here."""
        news = {}
        for token in tokens:
            under_way = self._under_way.get(token)
            if under_way is not None:
                under_way.leased_until = self._clock.monotonic() + LEASE_S
                news[token] = under_way.news()
        return news

    def cancel(self, token: str, *, urgent: bool = False) -> None:
        """End an attempt; its work so far is kept."""
        if (under_way := self._under_way.get(token)) is not None:
            under_way.cancel.cancel(urgent=urgent)

    def end_all(self) -> None:
        """End all attempts, without waiting for that; what came of them is kept."""
        for token in tuple(self._under_way):
            self.cancel(token)

    def _watch(self) -> None:
        """See to it that the attempts end of which home is not heard any more."""
        if self._watching is None:
            self._watching = threading.Thread(target=self._end_unheard, name="leases", daemon=True)
            self._watching.start()

    def _end_unheard(self) -> None:
        while True:
            time.sleep(_WATCH_S)
            now = self._clock.monotonic()
            for under_way in tuple(self._under_way.values()):
                if now > under_way.leased_until:
                    under_way.cancel.cancel()

    def _tidy(self, folder: Path, repository: Repository) -> None:
        """Remove what nobody has come for in a fortnight, and pack what many orders have brought."""
        oldest = time.time() - _KEPT_DAYS * 86_400
        for path in (*folder.glob("kept/*"), *repository.state_dir.glob("attempts/*/*")):
            if path.stat().st_mtime < oldest:
                remove(path)
        if len(list(repository.objects.glob("pack/*.pack"))) > _PACKS_MAX:
            with suppress(GitError):
                repository.git().ask("gc", "--quiet", "--prune=2.weeks.ago")


_IN_THIS_PROCESS: list[Host] = []


def end_all() -> None:
    """End what this process carries out for others; it does not wait for that."""
    for host in _IN_THIS_PROCESS:
        host.end_all()


def _gated(attempt: Attempt) -> AttemptReport:
    """Have the work done and judged; what is recorded of it has a seal of this machine's own."""
    return run_attempt(Attempt(replace(attempt.order, seal=secrets.token_hex(32)), attempt.scope))


def _parcel(attempt: Attempt, done: "Judging | Failure | AttemptReport") -> WorkParcel:
    """Return what came of an order."""
    token, files, cancelled = attempt.order.token, files_of(attempt.folder), attempt.scope.cancel.cancelled
    if isinstance(done, Failure | NotStarted):
        failure = done.failure if isinstance(done, NotStarted) else done
        return WorkParcel(token, failure=None if cancelled else failure, files=files)
    work, verdict = _work_of(done)
    if work is None:
        return WorkParcel(token, files=files)
    tips = [tip for tip in (attempt.plumbing.resolve(attempt.ref), work.snapshot.aside) if tip]
    pack = make_pack(attempt.plumbing, tips, (attempt.order.start, attempt.order.main))
    aside = work.snapshot.aside or ""
    return WorkParcel(token, work=work, verdict=verdict, held=tips[0], aside=aside, pack=pack, files=files)


def _work_of(done: Judging | Interrupted | Judged) -> tuple[Work | None, Judged | None]:
    if isinstance(done, Judging):
        return done.work, None
    if done.agent is None or done.snapshot is None:
        return None, None
    work = Work(done.agent, done.snapshot, done.patch_hash, bool(done.snapshot.changes), done.worker, done.notes)
    return work, done if isinstance(done, Judged) else None


def _given(variables: Variables, order: AttemptOrder) -> Variables:
    """Return a model's variables with those that its agent has at home, where this machine has none of its own."""
    own = {name for name, _ in order.model.env} | set(os.environ)
    return (*((name, value) for name, value in variables if name not in own), *order.model.env)


def _masking(places: Callable[[bytes], list[tuple[int, bytes]]]) -> Callable[[bytes], bytes]:
    def masked(data: bytes) -> bytes:
        left = bytearray(data)
        for start, mark in places(data):
            left[start : start + len(mark)] = mark
        return bytes(left)

    return masked
