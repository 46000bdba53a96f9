"""The two ways to hosts: over ssh, where noface starts what it needs, and a cluster that stands already."""

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from noface.errors import HostError, UsageError
from noface.extras.hosts.certificates import TlsIdentity, make_identity, read_identity
from noface.extras.hosts.connection import HostConnection, HostLost
from noface.extras.hosts.dask_settings import log_to, use_settings
from noface.extras.hosts.ssh import SshHost

if TYPE_CHECKING:
    from distributed import Client


_ANSWER_S = 15.0
_TTL = "30s"


class Scheduler:
    """`client` submits to it once it has started. Workers reach it at `port` of this machine's loopback."""

    def __init__(self, log: Path) -> None:
        self.client: Any = None
        self._log = log
        self._one = threading.Lock()
        self._cluster: Any = None

    @cached_property
    def identity(self) -> TlsIdentity:
        return make_identity()

    def started(self) -> Self:
        with self._one:
            if self.client is None:
                self._start()
        return self

    def _start(self) -> None:
        use_settings({"distributed.scheduler.work-stealing": False, "distributed.scheduler.worker-saturation": 1.0})
        log_to(self._log)
        from distributed import Client
        from distributed import Scheduler as DaskScheduler
        from distributed.deploy.spec import SpecCluster

        options = {
            "host": "127.0.0.1",
            "protocol": "tls://",
            "dashboard_address": "127.0.0.1:0",
            "security": self.identity.security(),
            "worker_ttl": _TTL,
            "allowed_failures": 0,
        }
        spec = {"cls": DaskScheduler, "options": options}
        self._cluster = SpecCluster(workers={}, scheduler=spec, security=self.identity.security(), silence_logs=False)
        self.client = Client(self._cluster.scheduler_address, security=self.identity.security(), set_as_default=False)

    @property
    def port(self) -> int:
        return int(self._cluster.scheduler_address.rpartition(":")[2])

    def close(self) -> None:
        with self._one:
            for part in (self.client, self._cluster):
                if part is not None:
                    with suppress(Exception):  # whatever dask raises while connections end
                        part.close(timeout=_ANSWER_S)


def standing_client(address: str, identity: TlsIdentity) -> "Client":
    """Return a client of a scheduler that somebody else has started. Raises HostLost if it does not answer."""
    use_settings()
    from distributed import Client

    try:
        security = identity.security()
        return Client(address, security=security, timeout=_ANSWER_S, set_as_default=False)
    except Exception as error:  # whatever dask raises for a scheduler that does not answer
        raise HostLost(f"the scheduler at {address} does not answer: {error}") from error


class SshWay:
    """A machine that ssh reaches; its worker joins the scheduler of this run."""

    def __init__(self, name: str, scheduler: Scheduler, call: Callable[..., Any], attempts: int, command: str) -> None:
        self.name = name
        self._scheduler, self._call = scheduler, call
        self._attempts, self._command = attempts, command
        self._host: SshHost | None = None

    def open(self) -> HostConnection:
        """Log in, and have a worker join. Raises HostLost, with what to do."""
        scheduler = self._scheduler
        host = self._host = SshHost(
            self.name,
            lambda: (scheduler.started().port, scheduler.identity),
            attempts=self._attempts,
            command=f"{self._command} tools worker --over-ssh",
        )
        try:
            host.start()
        except HostError as error:
            raise HostLost(error.reason) from error
        return HostConnection(scheduler.client, self._call, host.worker_name, lambda: host.why)

    def close(self) -> None:
        if self._host is not None:
            self._host.close()
            self._host = None


class StandingWay:
    """A cluster that somebody has started; its workers come and go, and are one place."""

    def __init__(self, address: str, certificates: str, call: Callable[..., Any]) -> None:
        self.name = address
        self._certificates, self._call = Path(certificates).expanduser(), call
        self._client: Any = None

    def open(self) -> HostConnection:
        """Connect to its scheduler. Raises HostLost."""
        try:
            identity = read_identity(*(self._certificates / name for name in ("ca.pem", "client.pem", "client.key")))
        except UsageError as error:
            raise HostLost(error.reason) from error
        self._client = standing_client(self.name, identity)
        return HostConnection(self._client, self._call)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
