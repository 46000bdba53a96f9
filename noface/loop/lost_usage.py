"""What a worker run had used that noface did not see the end of, as far as its log tells: spent money is not forgotten.

The log is read once, whole: it is bounded like every log, and what it tells is priced like any run's.
"""

import os
from contextlib import suppress
from pathlib import Path

from noface.agents.base import SESSION
from noface.core.prices import priced
from noface.core.worker_run import AgentRun, EndedBy, ModelSpec, Usage
from noface.loop.boxes import session_environment
from noface.loop.workshop import Workshop
from noface.system.environment import agent_environment
from noface.system.files import open_regular

_CHUNK_BYTES = 1 << 20


def lost_run(shop: Workshop, model: ModelSpec, log: Path) -> AgentRun | None:
    """Return the run that wrote `log` as far as that tells, None where it tells no usage."""
    usage = lost_usage(shop, model, log)
    if usage.cost_usd is None and usage.tokens is None:
        return None
    return AgentRun(exit_code=None, signal=None, ended_by=EndedBy.LOST, seconds=0.0, usage=usage)


def lost_usage(shop: Workshop, model: ModelSpec, log: Path) -> Usage:
    """Return what the run that wrote `log` had used; nothing where there is no log. `model` is with its variables."""
    agent = shop.agents.get(model.agent)
    descriptor = open_regular(log) if agent is not None else None
    if agent is None or descriptor is None:
        return Usage()
    env = agent_environment(agent.environment, model, model.env)
    session = log.parent / SESSION
    boxed = any(session.glob("home*"))
    reader = agent.reader(session_environment(str(session), env, agent.homes) if boxed else dict(env))
    # Where the disk fails, what has been read till then has to do: noface may be ending because of it.
    with suppress(OSError), os.fdopen(descriptor, "rb") as file:
        left = shop.log_bytes_max
        while left > 0 and (data := file.read(min(_CHUNK_BYTES, left))):
            left -= len(data)
            reader.feed(data)
    return priced(reader.used(), model)
