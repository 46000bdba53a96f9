"""The one-time codes by which people answer messages: each stands for what one issue waited for when it was made.

The database holds digests only: who reads it cannot answer. A code is good once, and not for what was decided since.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping

from noface.engine.context import RunContext
from noface.store.records import IssueRow

CODE_CHARS = 10
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without those that look alike
_FACT = "answer_codes"
_KEPT_MAX = 500


class Codes:
    """Makes codes and takes them; each change is part of the caller's transaction, or one of its own."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def new(self, row: IssueRow) -> str:
        code = "".join(secrets.choice(_LETTERS) for _ in range(CODE_CHARS))
        self._write({**self._known(), _digest(code): [row.id, *self._mark(row)]})
        return code

    def take(self, code: str) -> tuple[IssueRow | None, str]:
        """Return the issue that a code stands for, or why it cannot be answered by it; the code is used up."""
        known = self._known()
        issue_id, *mark = known.get(_digest(code), [""])
        row = self._context.reader.issue(str(issue_id)) if issue_id else None
        if row is None:
            return None, "there is no such code"
        if not mark:
            return None, f"that was answered already: {row.id} is {row.status}"
        self._write({**known, _digest(code): [issue_id]})
        if mark != self._mark(row):
            return None, f"{row.id} has gone on since: it is {row.status}"
        return row, ""

    def _mark(self, row: IssueRow) -> list[object]:
        return [row.status, row.epoch, self._context.reader.next_number(row.id)]

    def _known(self) -> dict[str, list[object]]:
        known: dict[str, list[object]] = json.loads(self._context.reader.fact(_FACT) or "{}")
        return known

    def _write(self, codes: Mapping[str, list[object]]) -> None:
        newest = dict([*codes.items()][-_KEPT_MAX:])
        self._context.journal.fact(_FACT, json.dumps(newest))


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
