"""The scheduler of a run: in this process, on loopback, with certificates of its own; or a standing one's client."""

import threading
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from noface.extras.hosts.certificates import Credentials, TlsIdentity, make_certificates
from noface.extras.hosts.connection import HostLost
from noface.extras.hosts.dask_settings import log_to, use_settings

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
    def credentials(self) -> Credentials:
        return make_certificates()

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
            "security": self.credentials.scheduler.security(),
            "worker_ttl": _TTL,
            "allowed_failures": 0,
        }
        spec = {"cls": DaskScheduler, "options": options}
        self._cluster = SpecCluster(
            workers={}, scheduler=spec, security=self.credentials.client.security(), silence_logs=False
        )
        self.client = Client(
            self._cluster.scheduler_address, security=self.credentials.client.security(), set_as_default=False
        )

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
