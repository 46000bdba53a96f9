"""Makes a host of a worker that dask.distributed starts itself: `dask worker --preload noface.hosts.preload`."""

from noface.hosts.host import end_all
from noface.process.namespace import hide_memory


def dask_setup(worker: object) -> None:
    """Keep what the worker is given from other processes of this user."""
    del worker
    hide_memory()


def dask_teardown(worker: object) -> None:
    """End the attempts before the worker leaves."""
    del worker
    end_all()
