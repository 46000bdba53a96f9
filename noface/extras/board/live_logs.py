"""What the workers under way print, as it comes: the last line of each, and the tokens that it tells of."""

from pathlib import Path

from noface.model.worker_run import Usage
from noface.ui.follow import Tail
from noface.ui.logs import Readable, agent_of, typed_reader
from noface.ui.text import clean

_BEGIN_BYTES = 1 << 20
_READS_MAX = 16
_KEPT_MAX = 100


SoFar = tuple[str, Usage]
"""How far a worker has come: the last line of its log, and what it has used as far as its program tells."""


class _Log:
    """The log of one attempt, read on from where the last look ended."""

    def __init__(self, folder: Path, model: str) -> None:
        self._tail = Tail(folder / "agent.log", _BEGIN_BYTES)
        self._reader = typed_reader(agent_of(folder, model, {}))
        self._readable = Readable(self._reader)
        self._last = ""

    def read(self) -> SoFar:
        for _ in range(_READS_MAX):
            data = self._tail.read()
            if not data:
                break
            lines = [line for line in self._readable.feed(data, cut=self._tail.cut) if line.strip()]
            self._last = clean(lines[-1]) if lines else self._last
        return self._last, self._reader.used() if self._reader is not None else Usage()


class LiveLogs:
    """The logs of what is under way. Those that nobody asked for at the last look are let go."""

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}

    def look(self, attempts: dict[str, str]) -> dict[str, SoFar]:
        """Return how far the attempts have come, by their folder; they are given by folder with their model."""
        for folder in self._logs.keys() - attempts.keys():
            del self._logs[folder]
        for folder, model in list(attempts.items())[:_KEPT_MAX]:
            if folder not in self._logs:
                self._logs[folder] = _Log(Path(folder), model)
        return {folder: log.read() for folder, log in self._logs.items()}
