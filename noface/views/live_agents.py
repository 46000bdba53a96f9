"""Finds out which agent wrote a log: by the attempt's order, else by the model's name in the configuration."""

import json
from collections.abc import Mapping
from pathlib import Path

from noface.system.files import read_regular

_ORDER_FILE = "order.json"
_ORDER_BYTES_MAX = 16 << 20


def agent_of(folder: Path, model: str, models: Mapping[str, object]) -> str:
    """Return the agent of the log in `folder`, "" where nobody knows.

    `models` are the tables of [models.NAME] by name; `model` is the one that wrote the log.
    """
    try:
        told = read_regular(folder / _ORDER_FILE, _ORDER_BYTES_MAX) or b""
        return str(json.loads(told)["model"]["agent"])
    except (ValueError, TypeError, KeyError, RecursionError):
        entry = models.get(model)
        return str(entry.get("agent", "")) if isinstance(entry, Mapping) else ""
