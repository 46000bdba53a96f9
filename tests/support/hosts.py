"""Hosts in this process: the host's own code, with a connection that can be cut, for tests that need no other machine."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from noface.config.load import load
from noface.engine.context import RunContext
from noface.engine.planner import RunResult
from noface.engine.run import run_session
from noface.extras.hosts.calls import host_environment, project_parcel
from noface.extras.hosts.cluster import Cluster
from noface.extras.hosts.connection import HostLost
from noface.extras.hosts.host import Host
from noface.extras.hosts.parcel import opened
from noface.process.clock import Clock
from noface.process.supervise import Canceller
from noface.remote.elsewhere import elsewhere


class SteppedClock(Clock):
    """A clock that a test can put forward."""

    def __init__(self):
        self.ahead = 0.0

    def monotonic(self):
        return super().monotonic() + self.ahead


@dataclass
class Task:
    future: Future

    def done(self):
        return self.future.done()

    def problem(self):
        return None if self.future.exception() is None else HostLost(str(self.future.exception()))

    def drop(self):
        pass


@dataclass
class NearHost:
    """A way to a host that is another folder of this machine; `cut` is why nothing is heard of it, "" if it is."""

    folder: Path
    name: str = "bigbox"
    cut: str = ""
    asked: list = field(default_factory=list)
    opened: int = 0
    tampered: object = None
    ending_s: float = 20.0
    clock: SteppedClock = field(default_factory=SteppedClock)
    began: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self):
        self.host = Host(self.folder, self._environment, self.clock, ending_s=self.ending_s)
        self.threads = ThreadPoolExecutor(4)

    def _environment(self, config, repository):
        return replace(host_environment(config, repository), slots_dir=self.folder / "slots")

    def open(self):
        self.opened += 1
        self._reach()
        return self

    def close(self):
        pass

    def _reach(self, token=""):
        self.asked.append(token)
        if self.cut:
            raise HostLost(self.cut, final=True)

    def free_worker(self, busy):
        del busy
        return self.name

    def workers(self):
        return {self.name: "near"}

    def work(self, parcel, project, token, worker, going):
        assert worker == self.name
        self._reach(token)
        self.began.set()
        pack = parcel["pack"]
        for start in range(0, len(pack), 1_000):
            going()
            self.host.bring(project, token, start, pack[start : start + 1_000])
        return Task(self.threads.submit(self.host.work, {**parcel, "pack": b""}))

    def look(self, tokens):
        self._reach()
        return {self.name: self.host.look(tokens)}

    def cancel(self, token, cancel):
        if not self.cut:
            self.host.cancel(token, urgent=cancel.urgent)

    def there(self, project, worker):
        assert worker == self.name
        return self.host.there(project)

    def kept(self, project):
        return [(self.name, token) for token in self.host.kept(project)]

    def parcel(self, project, token, worker, going):
        assert worker == self.name
        self._reach()
        data, size = b"", 1
        while len(data) < size:
            going()
            size, piece = self.host.fetch(project, token, len(data), 1_000_000)
            data += piece
        packed = opened(data)
        return self.tampered(packed) if self.tampered is not None else packed

    def forget(self, project, token, worker):
        assert worker == self.name
        self.host.forget(project, (token,))


@contextmanager
def with_hosts(context: RunContext, *hosts: NearHost, per_host: int = 2, here: int = 1) -> Iterator[Cluster]:
    repository = context.env.plumbing.repository
    parcel = project_parcel(load(repository.root), repository)
    send = context.inbox.put
    with closing(Cluster(here, hosts, per_host, parcel, context.env.plumbing, send)) as cluster:
        context.executor = cluster
        cluster.start()
        yield cluster


def run(context: RunContext) -> RunResult:
    return run_session(context, Canceller(), elsewhere(None))
