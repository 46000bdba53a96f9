"""What a worker run had used that noface did not see the end of, as far as its log tells: spent money is not forgotten.

The log is read once, whole: it is bounded like every log, and what it tells is priced like any run's.
"""

import os
from pathlib import Path

from noface.core.prices import priced
from noface.core.worker_run import ModelSpec, Usage
from noface.loop.workshop import Workshop
from noface.system.environment import agent_environment
from noface.system.files import open_regular

_CHUNK_BYTES = 1 << 20


def lost_usage(shop: Workshop, model: ModelSpec, log: Path) -> Usage:
    """Return what the run that wrote `log` had used; nothing where there is no log. `model` is with its variables."""
    agent = shop.agents.get(model.agent)
    descriptor = open_regular(log) if agent is not None else None
    if agent is None or descriptor is None:
        return Usage()
    reader = agent.reader(dict(agent_environment(agent.environment, model, model.env)))
    with os.fdopen(descriptor, "rb") as file:
        left = shop.log_bytes_max
        while left > 0 and (data := file.read(min(_CHUNK_BYTES, left))):
            left -= len(data)
            reader.feed(data)
    return priced(reader.used(), model)
