"""What noface asks of dask.distributed, on both sides; nothing of it is imported before it is needed.

A person's own settings of dask hold for all else. These do not bend: noface's policy owns retries and memory, and a
cut connection has to be noticed soon.
"""

import logging
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import MappingProxyType

from noface.errors import UsageError

SETTINGS: dict[str, object] = {
    "distributed.comm.timeouts.connect": "15s",
    "distributed.comm.timeouts.tcp": "15s",
    "distributed.worker.profile.enabled": False,
    "distributed.worker.http.routes": [],  # its web server cannot be left out; so it has nothing to say
    "distributed.scheduler.http.routes": [],
    "distributed.diagnostics.nvml": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.tick.limit": "30s",  # it warns of a busy machine
}
_LOGGERS = ("distributed", "tornado", "asyncio")
_LOG_BYTES_MAX = 5_000_000


def check_installed() -> None:
    """Raise UsageError, which says how to install it, if the extra `cluster` is missing."""
    if missing := next((name for name in ("cryptography", "distributed") if find_spec(name) is None), ""):
        from noface.process.installation import bringing

        raise UsageError(
            f"Work on other machines needs a library that is not installed ({missing}).",
            f"Install the extra 'noface-loop[cluster]': `{bringing('cluster')}`.",
        )


def use_settings(more: Mapping[str, object] = MappingProxyType({})) -> None:
    import dask

    dask.config.set({**SETTINGS, **more})


def log_to(path: Path) -> None:
    """Have what dask.distributed says of itself go to a file, and not to the terminal."""
    from distributed.versions import VersionMismatchWarning  # its loggers get their handlers as it is imported

    # It compares numpy, which noface does not use; versions that matter are compared in the hello.
    warnings.simplefilter("ignore", VersionMismatchWarning)
    handler = RotatingFileHandler(path, maxBytes=_LOG_BYTES_MAX, backupCount=1, encoding="utf-8", errors="replace")
    handler.addFilter(
        lambda record: not str(record.msg).startswith("Run out-of-band function")
    )  # each call, two a second
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    known = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _LOGGERS]
    for name in {*_LOGGERS, *known}:
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name in _LOGGERS else []
        logger.propagate = name not in _LOGGERS
