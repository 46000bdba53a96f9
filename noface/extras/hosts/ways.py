"""The two ways to hosts: over ssh, where noface starts what it needs, and a cluster that stands already."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from noface.errors import HostError, UsageError
from noface.extras.hosts.certificates import read_identity
from noface.extras.hosts.connection import HostConnection, HostLost
from noface.extras.hosts.scheduler import Scheduler, standing_client
from noface.extras.hosts.ssh import SshHost


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
            lambda: (scheduler.started().port, scheduler.credentials.worker),
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
