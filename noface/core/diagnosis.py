"""Diagnoses a failure by the patterns that are known, before any model is asked (S1, S4). Pure and total."""

import re
from dataclasses import dataclass

from noface.core.classify.text import strip_codes
from noface.core.failure import Failure
from noface.core.known_causes import RULES, CauseRule
from noface.core.quoting import one_line
from noface.core.remedies import Remedy
from noface.core.taxonomy import FailureKind

_LINES_MAX = 400
_LINE_CHARS_MAX = 400
_SUBJECT_CHARS_MAX = 200
_TEXT_CHARS_MAX = 100_000
_TALK = frozenset({
    FailureKind.NO_DIFF,
    FailureKind.AGENT_CONFUSION,
    FailureKind.AGENT_REFUSED,
    FailureKind.TIMEOUT,
    FailureKind.REVIEW_REJECTED,
    FailureKind.GATE_TAMPERING,
    FailureKind.BOUNDARY_VIOLATION,
})  # fmt: skip
"""Without a gate, the texts of these hold what a model said, which decides nothing (law 10)."""
_GATE_NAMED = re.compile(r"gate [^:\n]{1,80}: ")
_EXPECTED = re.compile(r"(?:Assertion|Key|Value|Type|Index|Attribute|Name)Error\b")
"""What these errors quote is a value of the program, and no error of the system."""
_PYTEST_MARK = re.compile(r"E {3,}")
_URL = re.compile(r"\bhttps?://[^\s'\"<>()\[\],;]{1,300}")
_CREDENTIALS = re.compile(r"(://)[^/@\s]{1,200}@")
_HOST = re.compile(r"host='(?P<host>[^']{1,100})', port=(?P<port>\d{1,5})|\b(?P<both>[\w.-]{1,100}:\d{2,5})\b")
_HOST_PORT = re.compile(r"\b(?:to|host) (?P<host>[\w.-]{1,100}) port (?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class KnownCause:
    """A failure whose cause is known: by which rule and line, about what, and what to do.

    `strategy` is one of the five of S3, `advice` text for the next prompt or a person; `delay_s` belongs to
    "retry_same". `subject` is the path, command or address concerned, as data.
    """

    name: str
    cause: str
    strategy: Remedy
    advice: str
    line: str
    subject: str = ""
    delay_s: float | None = None


def known_cause(failure: Failure) -> KnownCause | None:
    """Return what is known of a failure like this, None where no pattern of the table fits."""
    if failure.gate is None and failure.kind in _TALK:
        return None
    lines = _lines(failure)
    tests = failure.kind is FailureKind.TEST_FAILURE
    for rule in RULES:
        if tests and not rule.in_tests:
            continue
        for line in lines:
            found = _matched(rule, line)
            if found is not None:
                return _known(rule, found, line)
    return None


def _lines(failure: Failure) -> tuple[str, ...]:
    """Return the lines that may be a program's error: not indented, not of a diff, a quotation or a list."""
    message = _GATE_NAMED.sub("", failure.message[:_TEXT_CHARS_MAX], count=1)
    text = strip_codes("\n".join((message, *failure.evidence, failure.excerpt))[:_TEXT_CHARS_MAX])
    lines = (_PYTEST_MARK.sub("", line[:_LINE_CHARS_MAX], count=1).rstrip() for line in text.splitlines())
    telling = (line for line in lines if line and line[0] not in " \t+-@<>|*#`\\" and not _EXPECTED.match(line))
    return tuple(dict.fromkeys(telling))[:_LINES_MAX]


def _matched(rule: CauseRule, line: str) -> re.Match[str] | None:
    low = line.lower()
    return rule.regex.search(line) if any(need in low for need in rule.needs) else None


def _known(rule: CauseRule, found: re.Match[str], line: str) -> KnownCause:
    subject = one_line(_subject(found, line), _SUBJECT_CHARS_MAX).replace("`", "'")
    named = f"`{subject}`" if subject else rule.unnamed
    return KnownCause(
        name=rule.name,
        cause=_sentence(rule.cause, named),
        strategy=rule.remedy,
        advice=_sentence(rule.advice, named),
        line=one_line(_CREDENTIALS.sub(r"\1", line), _LINE_CHARS_MAX),
        subject=subject,
        delay_s=rule.delay_s,
    )


def _sentence(template: str, named: str) -> str:
    text = template.replace("{subject}", named)
    return text[:1].upper() + text[1:] if template.startswith("{") else text


def _subject(found: re.Match[str], line: str) -> str:
    """Return the path, command or address: a group of the pattern, else an address in the line."""
    named = next((text for text in found.groupdict().values() if text), "")
    if not named and (url := _URL.search(line)):
        named = url[0].rstrip(".")
    if not named and (host := _HOST_PORT.search(line) or _HOST.search(line)):
        parts = host.groupdict()
        named = parts.get("both") or f"{parts['host']}:{parts['port']}"
    return _CREDENTIALS.sub(r"\1", named)
