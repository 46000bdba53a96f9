"""What an agent's log says, as lines for people: a stream of JSON is translated, text stays as it is."""

from collections.abc import Mapping
from pathlib import Path

from noface.system.files import read_bounded
from noface.views.live_agents import agent_of
from noface.views.live_readable import Readable, typed_reader
from noface.views.text import clean_block

_LAST_BYTES = 64 * 1024


def log_lines(text: str, folder: Path, model: str, models: Mapping[str, object]) -> list[str]:
    """Return the lines of the log in an attempt's `folder` that `model` wrote.

    `models` are the tables of [models.NAME].
    """
    reader = typed_reader(agent_of(folder, model, models)) if "{" in text else None
    if reader is None:
        return text.splitlines()
    readable = Readable(reader)
    return [*readable.feed(text.encode()), *readable.rest()]


def last_lines(folder: Path, model: str, lines_max: int) -> tuple[str, ...]:
    """Return the last lines that the agent of an attempt wrote, () where there are none."""
    for name in ("agent.log", "agent.err"):
        path = folder / name
        try:
            size = path.stat().st_size
            text = clean_block(read_bounded(path, 0, _LAST_BYTES))
        except OSError:
            continue
        if size > _LAST_BYTES:
            text = text.split("\n", 3)[-1]  # neither the mark of what is left out, nor half a line
        shown = log_lines(text, folder, model, {}) if name == "agent.log" else text.splitlines()
        lines = [line for line in shown if line.strip()]
        if lines:
            return tuple(lines[-lines_max:])
    return ()
