"""Speaks as Claude Code does: stream-json if that is asked for, else plain text; and ends as it ends."""

import json
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from noface.selftest.scenario import Wrong

SESSION = "5e1f7e57-0000-4000-8000-000000000001"
_TICK_S = 0.25
_PATIENCE_S = 60.0
"""Longer than any limit of the selftest: a run that still lasts then has lost its supervisor, and ends."""
_USAGE = {"input_tokens": 1200, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 60}
_COST_USD = 0.01


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error of the provider: its HTTP status (None: no answer came), the result's text, the CLI's name for it.

    `{seconds}` in the text stands for the seconds until the end of a limit. `limited`: a rejected limit is announced
    first. `hangs`: the CLI goes on retrying and never ends. `stderr`: it ends before it has printed any event, with
    these words.
    """

    text: str = ""
    status: int | None = None
    name: str = "unknown"
    limited: bool = False
    hangs: bool = False
    stderr: str = ""


class Speaker:
    """The program's two streams. `typed`: stream-json was asked for."""

    def __init__(self, *, typed: bool) -> None:
        self.typed = typed

    def begin(self) -> None:
        """Say that the session has begun."""
        self._line({"type": "system", "subtype": "init", "cwd": ".", "tools": ["Edit", "Bash"]})

    def say(self, text: str) -> None:
        """Say something in between."""
        content = [{"type": "text", "text": text}]
        self._line({"type": "assistant", "message": {"role": "assistant", "content": content}}, text)

    def finish(self, words: str) -> int:
        """End well, with these last words."""
        self.say(words)
        self._result({"subtype": "success", "is_error": False, "result": words, "stop_reason": "end_turn"})
        return 0

    def fail(self, error: ApiError, until: float | None = None) -> int:
        """End with an error of the provider; `until` is when it ends, as far as that is known."""
        if error.stderr:
            sys.stderr.write(f"{error.stderr}\n")
            return 1
        self.begin()
        if error.hangs:
            for attempt in _ticks():
                entry = {"type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": 999}
                self._line({**entry, "error_status": None, "error": "ECONNREFUSED"})
            return 1
        text = error.text.replace("{seconds}", f"{max(1.0, (until or 0.0) - time.time()):.0f}")
        if error.limited:
            info = {"status": "rejected", "rateLimitType": "five_hour", **({"resetsAt": int(until)} if until else {})}
            self._line({"type": "rate_limit_event", "rate_limit_info": info})
        message = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]}
        self._line({"type": "assistant", "message": message, "error": error.name})
        self._result({"subtype": "success", "is_error": True, "api_error_status": error.status, "result": text})
        if not self.typed:
            sys.stderr.write(f"{text}\n")
        return 1

    def break_off(self, wrong: Wrong, words: str) -> int:
        """End as a run ends that breaks off; `words` are its error."""
        match wrong:
            case Wrong.STALLS:
                time.sleep(_PATIENCE_S)
            case Wrong.CHATTERS:
                for _ in _ticks():
                    self.say("Still looking at the labels.")
            case Wrong.KILLED:
                signal.raise_signal(signal.SIGSEGV)
            case Wrong.MALFORMED | Wrong.TURNS:
                malformed = wrong is Wrong.MALFORMED
                subtype = "error_max_structured_output_retries" if malformed else "error_max_turns"
                self._result({"subtype": subtype, "is_error": True, **({"errors": [words]} if words else {})})
                if not self.typed:
                    sys.stderr.write(f"Error: {subtype}: {words}\n")
            case Wrong.CONTEXT:
                return self.fail(ApiError(f"Prompt is too long: {words}", 400, "invalid_request"))
            case _:
                sys.stderr.write(f"{words}\n")
        return 1

    def _result(self, entry: dict[str, object]) -> None:
        self._line({"type": "result", "num_turns": 2, "total_cost_usd": _COST_USD, "usage": _USAGE, **entry})

    def _line(self, entry: dict[str, object], plain: str = "") -> None:
        if self.typed:
            sys.stdout.write(json.dumps({**entry, "session_id": SESSION}) + "\n")
        elif plain:
            sys.stdout.write(f"{plain}\n")
        sys.stdout.flush()


def _ticks() -> Iterator[int]:
    """Count slowly, until nobody can be waiting any more."""
    for tick in range(int(_PATIENCE_S / _TICK_S)):
        yield tick
        time.sleep(_TICK_S)
