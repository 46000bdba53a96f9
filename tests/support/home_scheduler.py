"""A scheduler as home runs it: in a thread of the test's own process, for hosts that a test starts."""

import asyncio
import contextlib
import threading

from distributed import Client, Scheduler

from noface.extras.hosts.certificates import make_identity
from noface.extras.hosts.dask_settings import use_settings


@contextlib.contextmanager
def home_scheduler(settings=None):
    """A `HomeScheduler` as long as the block lasts."""
    use_settings(settings or {})
    home = HomeScheduler()
    try:
        yield home
    finally:
        home.close()


class HomeScheduler:
    """`port` is that of loopback where it listens, `identity` is the run's."""

    def __init__(self):
        self.identity = make_identity()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.scheduler = self.do(self._started())
        self.port = self.scheduler.port
        self.address = f"tls://127.0.0.1:{self.port}"

    async def _started(self):
        security = self.identity.security()
        return await Scheduler(host="127.0.0.1", protocol="tls", security=security, dashboard_address="127.0.0.1:0")

    def member(self):
        return self.port, self.identity

    def do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    def names(self):
        return sorted(worker.name for worker in self.scheduler.workers.values())

    def ask(self, function, *arguments):
        async def asked():
            client = Client(self.address, security=self.identity.security(), asynchronous=True)
            async with client as ready:
                return await ready.submit(function, *arguments, pure=False)

        return self.do(asked())

    def close(self):
        if not self.loop.is_closed():
            self.do(self.scheduler.close())
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(10)
            self.loop.close()
