"""Home knows which workers are there, whatever dask's own client remembers of them."""

import dask
from distributed import Client, Worker
from support.home_scheduler import home_scheduler

from noface.extras.hosts.calls import call
from noface.extras.hosts.connection import HostConnection


def test_a_worker_that_is_there_has_not_left(tmp_path):
    """The client asks for the cluster every two seconds by itself, without its workers, and keeps that answer."""
    with dask.config.set({"distributed.client.scheduler-info-interval": "1ms"}), home_scheduler() as home:
        security = home.identity.security()

        async def joined():
            folder = str(tmp_path)
            return await Worker(home.address, security=security, name="bigbox", local_directory=folder, dashboard=False)

        worker = home.do(joined())
        with Client(home.address, security=home.identity.security(), set_as_default=False) as client:
            connection = HostConnection(client, call, "bigbox")
            assert all(connection.workers() == {"bigbox": worker.address} for _ in range(200))
        home.do(worker.close())
