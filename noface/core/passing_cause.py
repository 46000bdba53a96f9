"""Tells whether a command that prepares a workspace failed for a cause that may be gone the next time."""

import re

from noface.core.classify.text import strip_codes
from noface.core.diagnosis import known_cause
from noface.core.failure import Failure
from noface.core.known_causes import RULES
from noface.core.taxonomy import FailureKind

_LINES_MAX = 40
_LINE_CHARS_MAX = 500
_SAME_HELPS = frozenset(("rate-limited", "timed-out", "refused"))
_WORDS = re.compile(
    r"\bE(?:AI_AGAIN|CONNRESET|CONNREFUSED|TIMEDOUT|SOCKETTIMEDOUT|TXTBSY|NETUNREACH|PIPE)\b|\bText file busy\b"
    r"|\bTemporary failure in name resolution\b|\bCould not resolve host\b|\bname resolution failed\b"
    r"|\b[Cc]onnection (?:reset|refused|timed out|aborted)\b"
    r"|\b[Nn]etwork is (?:unreachable|down)\b|\bTLS handshake timeout\b"
    r"|\bRead timed out\b|\bconnect timeout\b|\bunexpected EOF\b|\bProxyError\b|\bNewConnectionError\b"
    r"|\b(?:429 Too Many Requests|50[0234] [A-Z][A-Za-z ]{3,30}|50[0234] Server Error|returned error: 50[0234])\b"
    r"|\bServer returned (?:HTTP )?50[0234]\b|\bHTTP(?: [Ee]rror)?:? ?50[0234]\b"
)


def passing_cause(output: str) -> str:
    """Return the line of a failed command's output that names a cause which may pass, "" where none does.

    Only the last lines count: what a package manager got over by itself is no cause of its failure.
    """
    lines = [line[:_LINE_CHARS_MAX] for line in strip_codes(output).splitlines() if line.strip()][-_LINES_MAX:]
    for line in reversed(lines):
        if _WORDS.search(line) or _is_known(line.strip()):
            return line.strip()
    return ""


def _is_known(line: str) -> bool:
    known = known_cause(Failure(FailureKind.ENVIRONMENT, line, rule="setup-failed", gate="setup"))
    return known is not None and known.name in _SAME_HELPS


assert {rule.name for rule in RULES} >= _SAME_HELPS  # noqa: S101 - a renamed rule must not go unseen
