"""What a run of Claude Code has used before its result line tells: added up over the model's answers (2.1.197).

An answer comes as several lines of one message id, one for each part of its content; each repeats the answer's usage.
That was told when the answer began: what is read is exact, but of what is written it holds a first few tokens. Until
the answer's end is told (`stop_reason`), what is written is therefore estimated from the parts seen. What Claude Code
asks on the side (titles, summaries) is not in the stream, so the sum is rather too small than too large.
"""

import json
from dataclasses import dataclass
from typing import Any

from noface.agents.typed import table, text, total, whole

_ANSWERS_OPEN_MAX = 1_000
"""Subagents answer at the same time; of an answer further back no more parts come."""
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Tokens:
    """Counts of tokens. `read` includes what is written into the cache and what came from it (`cached`)."""

    read: int = 0
    written: int = 0
    cached: int = 0


@dataclass(frozen=True, slots=True)
class _Answer:
    tokens: Tokens
    chars: int


class AnswerTokens:
    """The tokens of all answers so far. Takes each line as it comes; of one answer the newest line counts."""

    def __init__(self) -> None:
        self._sum = Tokens()
        self._open: dict[str, _Answer] = {}

    @property
    def sum(self) -> Tokens | None:
        """What all answers used, None before any used something."""
        return self._sum if self._sum.read or self._sum.written else None

    def saw(self, message: dict[str, Any]) -> None:
        """Count a line's message. One without an id or without usage tells nothing."""
        name, usage = text(message.get("id")), table(message.get("usage"))
        read = total(*(usage.get(key) for key in _READ))
        if not name or read is None:
            return
        before = self._open.pop(name, _Answer(Tokens(), 0))
        chars = before.chars + _chars(message.get("content"))
        told = whole(usage.get("output_tokens")) or 0
        written = told if message.get("stop_reason") else max(told, -(-chars // _CHARS_PER_TOKEN))
        now = Tokens(read, written, whole(usage.get("cache_read_input_tokens")) or 0)
        self._sum = Tokens(
            self._sum.read + now.read - before.tokens.read,
            self._sum.written + now.written - before.tokens.written,
            self._sum.cached + now.cached - before.tokens.cached,
        )
        self._open[name] = _Answer(now, chars)
        if len(self._open) > _ANSWERS_OPEN_MAX:
            del self._open[next(iter(self._open))]


_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _chars(content: object) -> int:
    """Return how many characters the model wrote for the parts of an answer."""
    parts = [table(part) for part in content] if isinstance(content, list) else []
    return sum(_written(part) for part in parts)


def _written(part: dict[str, Any]) -> int:
    match part.get("type"):
        case "text":
            return len(text(part.get("text")))
        case "thinking":
            return len(text(part.get("thinking")))
        case "tool_use":
            return _size(part.get("input"))
        case _:
            return 0


def _size(value: object) -> int:
    try:
        return len(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return 0  # nested too deep to be what a tool is given
