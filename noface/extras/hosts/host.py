"""A host's side: carries out the work of orders that come from another machine, and keeps what came of them.

Each order has a lease, which home renews while it hears from the host. An attempt whose lease has run out ends itself:
home gives it to somebody else then, and two machines never pay for one issue. What came of an order stays here until
home has taken it in, so that a connection that is cut loses no work (law 2).
"""

import json
import os
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
from noface.attempt.disk import full_places
from noface.attempt.environment import AttemptEnvironment, Scope
from noface.attempt.run import do_work
from noface.attempt.worker.agent_watch import session_files
from noface.errors import GitError, HostError, LockedError, NofaceError
from noface.extras.hosts.hello import code_digest
from noface.extras.hosts.packs import commits_there, make_pack, make_repository, take_pack
from noface.extras.hosts.parcel import (
    PARCEL_BYTES_MAX,
    OrderParcel,
    ProjectParcel,
    WorkParcel,
    closed,
    files_of,
    progress_text,
)
from noface.git.command import Identity
from noface.git.own_objects import begin_own_objects
from noface.git.refs import ZERO, RefUpdate, hold_ref
from noface.git.removal import remove
from noface.git.repository import Repository
from noface.model.attempt import AttemptOrder
from noface.model.codec import decode, encode
from noface.model.failure import Failure
from noface.model.scratch import ASIDE, IN_GIT
from noface.model.taxonomy import INTERRUPTED
from noface.process.clock import Clock
from noface.process.files import read_regular, real_folder, write_atomic
from noface.process.lock import RepositoryLock
from noface.process.masking import known_secrets
from noface.process.supervise import Canceller, Launcher

LEASE_S = 10.0
"""An attempt of which home has not been heard for so long ends itself."""
_WATCH_S = 0.5
_MESSAGES_MAX = 1_000
_CHUNK_BYTES_MAX = 256 << 10
ENDING_S = 20.0
"""So long the process of a run before may have a project: it ends what it does. Then another folder is made."""
_FOLDERS_MAX = 1_000
_KEPT_DAYS = 14.0
_PACKS_MAX = 50
_FULL = "its disk is full ({})"
LOGS = ("agent.log", "agent.err")
"""The files of an attempt that home sees grow."""

Environment = Callable[[str, Repository], AttemptEnvironment]
"""Makes of a configuration, as JSON, and a repository what attempts work with on this machine."""


@dataclass(slots=True, eq=False)
class UnderWay:
    """An attempt under way: until when its lease runs (monotonic seconds), and what home has yet to hear of it."""

    leased_until: float
    cancel: Canceller = field(default_factory=Canceller)
    messages: list[str] = field(default_factory=list)
    folder: Path | None = None
    sent: dict[str, int] = field(default_factory=dict)

    def send(self, message: object) -> None:
        text = progress_text(message)
        if text is not None:
            self.messages = [*self.messages[1 - _MESSAGES_MAX :], text]

    def news(self, room: int) -> dict[str, Any]:
        messages, self.messages = self.messages, []
        return {"messages": messages, "logs": {name: self._grown(name, room) for name in LOGS} if self.folder else {}}

    def _grown(self, name: str, room: int) -> bytes:
        start = self.sent.get(name, 0)
        try:
            with (self.folder or Path()).joinpath(name).open("rb") as log:
                log.seek(start)
                data = log.read(room)
        except OSError:
            return b""
        self.sent[name] = start + len(data)
        return data


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

    def __init__(
        self, folder: Path, environment: Environment, clock: Clock = Clock(), ending_s: float = ENDING_S
    ) -> None:
        self._folder, self._environment, self._clock, self._ending_s = folder, environment, clock, ending_s
        self._under_way: dict[str, UnderWay] = {}
        self._projects: dict[tuple[str, str], HostedProject] = {}
        self._opening = threading.Lock()
        self._watching: threading.Thread | None = None
        _IN_THIS_PROCESS.append(self)

    def there(self, project: str) -> list[str]:
        mine = (each.repository.common_dir for (name, _), each in self._projects.items() if name == project)
        for root in (*mine, *sorted((self._folder / project).glob("*/*/.git"))):
            return list(commits_there(Repository(root.parent, root, "", Identity())))
        return []

    def work(self, packed: Mapping[str, Any]) -> str:
        """Carry an order out, as far as its worker does; return its token once what came of it is kept here."""
        parcel = OrderParcel.unpacked(packed)
        token, project = parcel.order.token, parcel.project.id
        under_way = self._under_way[token] = UnderWay(self._clock.monotonic() + LEASE_S)
        if self._watching is None:
            self._watching = threading.Thread(target=self._end_unheard, name="leases", daemon=True)
            self._watching.start()
        try:
            done = self._carry_out(parcel, under_way)
        except Exception as error:  # noqa: BLE001 - home tells its person, whatever it is
            why = error.reason if isinstance(error, NofaceError) else f"{type(error).__name__}: {error}"
            done = WorkParcel(token, error=why)
        finally:
            del self._under_way[token]
        self._brought(project, token).unlink(missing_ok=True)
        self._keep(project, replace(done, issue_id=parcel.order.issue.id, number=parcel.order.number))
        self._let_go(parcel)
        return token

    def _carry_out(self, parcel: OrderParcel, under_way: UnderWay) -> WorkParcel:
        if parcel.project.code != code_digest():
            raise HostError("it runs another noface than home", "Install the same version there.")
        project = self._opened(parcel.project, under_way.cancel)
        if project is None:
            return WorkParcel(parcel.order.token)
        if full_places(project.env):
            with project.slots[parcel.order.slot]:  # what an attempt before has left there goes first
                remove(project.env.agent_slot(parcel.order.slot).path)
        if full := full_places(project.env):
            raise HostError(_FULL.format(", ".join(full)), "Make room there.")
        brought = self._brought(parcel.project.id, parcel.order.token)
        pack = parcel.pack or read_regular(brought, PARCEL_BYTES_MAX) or b""
        order = self._as_here(project, parcel.order)
        plumbing = project.env.plumbing
        with project.moving:
            try:
                take_pack(plumbing, pack, (order.start, order.main))
            except GitError as error:
                return WorkParcel(order.token, lacking=True, error=str(error))
            plumbing.refs.apply(
                RefUpdate(hold_ref(order.issue.id, "start"), order.start),
                RefUpdate(project.repository.main, order.main),
            )
        given = (*order.model.env, *parcel.variables)
        like = project.env.launcher
        masker, memory = known_secrets(given), like.memory_max_bytes
        launcher = Launcher(masker=masker, namespaces=like.namespaces, memory_max_bytes=memory)
        # An attempt that home has given up may still be ending in this workspace.
        with project.slots[order.slot], launcher:
            env = replace(project.env, launcher=launcher)
            own = {name for name, _ in order.model.env} | set(os.environ)
            model = replace(
                order.model,
                env=(*((name, value) for name, value in parcel.variables if name not in own), *order.model.env),
            )
            attempt = Attempt(replace(order, model=model), Scope(env, under_way.cancel, under_way.send))
            under_way.folder = attempt.folder
            folder = real_folder(_notes(project.repository), project.repository.state_dir)
            write_atomic(folder / order.token, json.dumps(encode(replace(order, model=replace(order.model, env=())))))
            done = _parcel(attempt, do_work(attempt))
            # Its words need not say so: what has no room for a worker's files has none for its log.
            failed = done.work is not None and done.work.agent.exit_code != 0
            full = full_places(env) if failed else ()
            return replace(done, error=_FULL.format(", ".join(full))) if full else done

    def _opened(self, sent: ProjectParcel, cancel: Canceller) -> HostedProject | None:
        patience = self._clock.monotonic() + self._ending_s
        for number in range(_FOLDERS_MAX):
            while not cancel.cancelled:
                try:
                    return self._opened_in(sent, self._folder / sent.id / str(number))
                except LockedError:
                    if self._clock.monotonic() > patience:
                        break
                    time.sleep(_WATCH_S)
        return None

    def _opened_in(self, sent: ProjectParcel, folder: Path) -> HostedProject:
        with self._opening:
            key = sent.id, sent.config
            if key not in self._projects:
                former = next((each for (name, _), each in self._projects.items() if name == sent.id), None)
                repository = sent.repository(former.repository.root.parent if former is not None else folder)
                make_repository(repository.root, sent.object_format)
                repository.state_dir.mkdir(0o700, parents=True, exist_ok=True)
                lock = former.lock if former is not None else RepositoryLock(repository.state_dir / "lock").__enter__()
                if former is None:
                    begin_own_objects(repository)
                try:
                    env = self._environment(sent.config, repository)
                except BaseException:
                    if former is None:
                        lock.release()
                    raise
                if former is None:
                    self._tidy(folder, repository)
                    self._keep_cut_off(sent.id, repository, env)
                self._projects[key] = HostedProject(repository, env, lock)
            return self._projects[key]

    def _keep_cut_off(self, project: str, repository: Repository, env: AttemptEnvironment) -> None:
        for note in _notes(repository).glob("*"):
            try:
                order = decode(AttemptOrder, json.loads(note.read_bytes()))
                attempt = Attempt(order, Scope(env, Canceller(), lambda _: None))
                # Before there is such a file the workspace is not the attempt's.
                is_there = (attempt.folder / "order.json").exists()
                taken = attempt.take(env.agent_slot(order.slot), INTERRUPTED) if is_there else None
                if taken is not None and taken.changed:
                    held = attempt.hold_outcome(taken.snapshot, INTERRUPTED).candidate
                    pack = make_pack(env.plumbing, (held,), (order.start, order.main))
                    self._keep(project, WorkParcel(order.token, order.issue.id, order.number, held=held, pack=pack))
            except (GitError, OSError, TypeError, ValueError, KeyError):
                continue  # it stays where it is, and is tried again
            note.unlink(missing_ok=True)

    def _as_here(self, project: HostedProject, order: AttemptOrder) -> AttemptOrder:
        """Return an order with the folders of this machine; a session that this machine does not have is left out."""
        folder = project.repository.state_dir / "attempts" / Path(order.directory).parent.name
        session = order.session
        if session is not None:
            before, agent = folder / Path(session.directory).name, project.env.agents[order.model.agent]
            used = agent.session_usage(session.id, session_files(agent, order.model, before))
            session = replace(session, directory=str(before), used=used) if before.is_dir() else None
        return replace(order, directory=str(folder / str(order.number)), session=session)

    def _brought(self, project: str, token: str) -> Path:
        return self._folder / project / "brought" / Path(token).name

    def bring(self, project: str, token: str, start: int, data: bytes) -> None:
        path = self._brought(project, token)
        real_folder(path.parent, self._folder)
        with path.open("r+b" if start else "wb") as file:
            file.truncate(start)
            file.seek(start)
            file.write(data)

    def _keep(self, project: str, parcel: WorkParcel) -> None:
        place = real_folder(self._folder / project / "kept", self._folder) / parcel.token
        write_atomic(place, closed(parcel.packed()))

    def _let_go(self, parcel: OrderParcel) -> None:
        """Remove what the parcel holds by now; an agent's session stays for the next attempt."""
        project = self._projects.get((parcel.project.id, parcel.project.config))
        if project is None:
            return
        order, plumbing = parcel.order, project.env.plumbing
        _notes(project.repository).joinpath(order.token).unlink(missing_ok=True)
        prefix, number = hold_ref(order.issue.id, ""), order.number
        refs = [ref for ref in plumbing.references(prefix) if ref.startswith(f"{prefix}{IN_GIT}{number}-")]
        refs += (ref for ref in (f"{prefix}{number}", f"{prefix}{ASIDE}{number}") if plumbing.resolve(ref) is not None)
        with suppress(GitError):
            plumbing.refs.apply(*(RefUpdate(ref, ZERO) for ref in refs))
        with suppress(OSError):
            for path in Path(self._as_here(project, order).directory).iterdir():
                if path.name != SESSION:
                    remove(path)

    def kept(self, project: str) -> list[str]:
        folder = self._folder / project / "kept"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def fetch(self, project: str, token: str, start: int, room: int) -> tuple[int, bytes] | None:
        try:
            with (self._folder / project / "kept" / Path(token).name).open("rb") as file:
                file.seek(start)
                return os.fstat(file.fileno()).st_size, file.read(room)
        except FileNotFoundError:
            return None

    def forget(self, project: str, tokens: Iterable[str]) -> None:
        for token in tokens:
            (self._folder / project / "kept" / Path(token).name).unlink(missing_ok=True)

    def look(self, tokens: Iterable[str], room: int = _CHUNK_BYTES_MAX) -> dict[str, Any]:
        """Renew the leases of attempts; return what is new of those that are under way here, in about `room` bytes."""
        news: dict[str, Any] = {}
        room //= max(1, len(LOGS) * sum(token in self._under_way for token in tokens))
        for token in tokens:
            under_way = self._under_way.get(token)
            if under_way is not None:
                under_way.leased_until = self._clock.monotonic() + LEASE_S
                news[token] = under_way.news(room)
        return news

    def cancel(self, token: str, urgent: bool = False) -> None:
        if (under_way := self._under_way.get(token)) is not None:
            under_way.cancel.cancel(urgent=urgent)

    def end_all(self) -> None:
        for token in tuple(self._under_way):
            self.cancel(token)

    def _end_unheard(self) -> None:
        while True:
            time.sleep(_WATCH_S)
            now = self._clock.monotonic()
            for under_way in tuple(self._under_way.values()):
                if now > under_way.leased_until:
                    under_way.cancel.cancel()

    def _tidy(self, folder: Path, repository: Repository) -> None:
        oldest = time.time() - _KEPT_DAYS * 86_400
        apart = (path for name in ("kept", "brought") for path in folder.parent.glob(f"{name}/*"))
        for path in (*apart, *repository.state_dir.glob("attempts/*/*")):
            if path.stat().st_mtime < oldest:
                remove(path)
        if len(list(repository.objects.glob("pack/*.pack"))) > _PACKS_MAX:
            with suppress(GitError):
                repository.shared_git().ask("gc", "--quiet", "--prune=2.weeks.ago")


_IN_THIS_PROCESS: list[Host] = []


def end_all() -> None:
    for host in _IN_THIS_PROCESS:
        host.end_all()


def _notes(repository: Repository) -> Path:
    return repository.state_dir / "orders"


def _parcel(attempt: Attempt, done: "Judging | Failure") -> WorkParcel:
    token, files, cancelled = attempt.order.token, files_of(attempt.folder), attempt.scope.cancel.cancelled
    if isinstance(done, Failure):
        return WorkParcel(token, failure=None if cancelled else done, files=files)
    work = done.work
    own = (commit for _, commit in work.snapshot.in_git)
    tips = [tip for tip in (attempt.plumbing.resolve(attempt.ref), work.snapshot.aside, *own) if tip]
    pack = make_pack(attempt.plumbing, tips, (attempt.order.start, attempt.order.main))
    aside = work.snapshot.aside or ""
    return WorkParcel(token, work=work, held=tips[0], aside=aside, pack=pack, files=files)
