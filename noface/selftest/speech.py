"""Speaks as Claude Code does: stream-json where that is asked for, else plain text; and ends as it ends."""

import json
import signal
import sys
import time
from dataclasses import dataclass

from noface.selftest.provider_errors import ApiError
from noface.selftest.scenario import Wrong

SESSION = "5e1f7e57-0000-4000-8000-000000000001"
_TICK_S = 0.25
_PATIENCE_S = 60.0
"""Longer than any limit of the selftest: a run that still lasts then has lost its supervisor, and ends."""
_USAGE = {"input_tokens": 1200, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 60}
_COST_USD = 0.01


@dataclass(frozen=True, slots=True)
class Speaker:
    """The program's two streams. `typed`: stream-json was asked for."""

    typed: bool

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

    def fail(self, error: ApiError, until: float | None) -> int:
        """End with an error of the provider; `until` is when it ends, as far as that is known."""
        if error.stderr:
            sys.stderr.write(f"{error.stderr}\n")
            return 1
        self.begin()
        if error.hangs:
            return self._retry_for_ever()
        left = f"{max(1.0, (until or 0.0) - time.time()):.0f}"
        text = error.text.replace("{seconds}", left)
        if error.limited:
            info = {"status": "rejected", "rateLimitType": "five_hour", **({"resetsAt": int(until)} if until else {})}
            self._line({"type": "rate_limit_event", "rate_limit_info": info})
        message = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]}
        self._line({"type": "assistant", "message": message, "error": error.name})
        self._result({"subtype": "success", "is_error": True, "api_error_status": error.status, "result": text})
        if not self.typed:
            sys.stderr.write(f"{text}\n")
        return 1

    def go_wrong(self, wrong: Wrong, words: str) -> int:
        """End as a run ends that breaks off; `words` are its error."""
        match wrong:
            case Wrong.STALLS:
                time.sleep(_PATIENCE_S)
            case Wrong.CHATTERS:
                self._chatter()
            case Wrong.KILLED:
                signal.raise_signal(signal.SIGSEGV)
            case Wrong.MALFORMED:
                return self._broken_off("error_max_structured_output_retries", words)
            case Wrong.TURNS:
                return self._broken_off("error_max_turns", words)
            case Wrong.CONTEXT:
                return self.fail(ApiError(f"Prompt is too long: {words}", 400, "invalid_request"), None)
            case _:
                sys.stderr.write(f"{words}\n")
        return 1

    def _broken_off(self, subtype: str, words: str) -> int:
        errors = {"errors": [words]} if words else {}
        self._result({"subtype": subtype, "is_error": True, **errors})
        if not self.typed:
            sys.stderr.write(f"Error: {subtype}: {words}\n")
        return 1

    def _chatter(self) -> None:
        for _ in range(int(_PATIENCE_S / _TICK_S)):
            self.say("Still looking at the labels.")
            time.sleep(_TICK_S)

    def _retry_for_ever(self) -> int:
        for attempt in range(int(_PATIENCE_S / _TICK_S)):
            entry = {"type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": 999}
            self._line({**entry, "error_status": None, "error": "ECONNREFUSED"})
            time.sleep(_TICK_S)
        return 1

    def _result(self, entry: dict[str, object]) -> None:
        self._line({"type": "result", "num_turns": 2, "total_cost_usd": _COST_USD, "usage": _USAGE, **entry})

    def _line(self, entry: dict[str, object], plain: str = "") -> None:
        if self.typed:
            sys.stdout.write(json.dumps({**entry, "session_id": SESSION}) + "\n")
        elif plain:
            sys.stdout.write(f"{plain}\n")
        sys.stdout.flush()
