"""Makes a host of a worker that dask.distributed starts itself: `dask worker --preload noface.extras.hosts.preload`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from noface.extras.hosts.host import end_all
from noface.extras.hosts.worker import HOST_KEY
from noface.process.namespace import hide_memory

if TYPE_CHECKING:
    from distributed import Worker


def dask_setup(worker: "Worker") -> None:
    hide_memory()
    os.environ[HOST_KEY] = str(Path(str(worker.security.tls_worker_key)).resolve())


def dask_teardown(worker: object) -> None:
    del worker
    end_all()
