"""Diagnoses a failure by the known causes (causes.toml), before any model is asked (S1, S4). Pure and total."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from noface.data import expanded, table
from noface.diagnosis.agent_errors import is_of_the_work
from noface.diagnosis.text import strip_codes
from noface.model.codec import view
from noface.model.failure import NO_ANSWER, OUT_OF_REACH, OUTSIDE_CAUSE, Failure
from noface.model.quoting import one_line
from noface.model.taxonomy import DiagnosisStrategy, FailureKind

_LINES_MAX = 400
_LAST_LINES_MAX = 40
_LAST_LINE_CHARS_MAX = 500
_LINE_CHARS_MAX = 400
_SUBJECT_CHARS_MAX = 200
_TEXT_CHARS_MAX = 100_000
_DISK_FULL = "disk-full"
_REFUSED = "not-permitted"
_RATE_LIMITED = "rate-limited"
_OF_COMMANDS = frozenset({FailureKind.ENVIRONMENT, FailureKind.RUNTIME_ERROR, FailureKind.UNKNOWN})
"""The kinds of a command that broke off with an error; the others say what is wrong with the work."""
_ELSEWHERE = re.compile(r"(?:[\w+]{1,10}://|git@)?[^/\s:]{0,100}\.[a-z]{2,20}(?:[:/]|\Z)")
_MADE_UP = re.compile(r"(?:[/@.]|\A)(?:example(?:\.\w+)?|localhost|\w+\.(?:test|invalid|localhost))(?:[:/]|\Z)")
"""Names that tests and documents make up (RFC 2606)."""
_SHORT_DELAY_S = 5.0
_FINAL_LINES = 3
_TEST_NAME = re.compile(r"^(?:FAILED|ERROR) \S{1,300} - ")
"""What pytest's summary puts before the error of a test."""
_GATE_NAMED = re.compile(r"gate [^:\n]{1,80}: ")
_EXPECTED = re.compile(r"(?:Assertion|Key|Value|Type|Index|Attribute|Name)Error\b")
"""What these errors quote is a value of the program, and no error of the system."""
PYTEST_MARK = re.compile(r"(?:^|(?<=: ))E {3,}")
_URL = re.compile(r"\bhttps?://[^\s'\"<>()\[\],;]{1,300}")
_CREDENTIALS = re.compile(r"(://)[^/@\s]{1,200}@")
_HOST = re.compile(r"host='(?P<host>[^']{1,100})', port=(?P<port>\d{1,5})|\b(?P<both>[\w.-]{1,100}:\d{2,5})\b")
_HOST_PORT = re.compile(r"\b(?:to|host) (?P<host>[\w.-]{1,100}) port (?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class CauseRule:
    """An entry of causes.toml, which says what its fields are; `pattern` is its patterns as one."""

    name: str
    strategy: DiagnosisStrategy
    needs: tuple[str, ...]
    pattern: str
    cause: str
    advice: str
    unnamed: str
    example: str
    in_tests: bool = True
    delay_s: float | None = None
    passing: bool = False

    def search(self, line: str) -> re.Match[str] | None:
        low = line.lower()
        return _compiled(self.pattern).search(line) if any(need in low for need in self.needs) else None


@cache
def known_causes() -> tuple[CauseRule, ...]:
    return tuple(_rule(**entry) for entry in table("causes")["causes"])


def _rule(strategy: str, needs: list[str], patterns: list[str], codes: str = "", **rest: Any) -> CauseRule:
    pattern = expanded("|".join(patterns), {**table("causes")["pieces"], "codes": f"(?:{codes})"})
    return CauseRule(strategy=DiagnosisStrategy(strategy), needs=tuple(needs), pattern=pattern, **rest)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@dataclass(frozen=True, slots=True)
class KnownCause:
    """A failure whose cause is known: by which rule and line, about what, and what to do.

    `strategy` is one of the five of S3, `advice` text for the next prompt or a person; `delay_s` belongs to
    "retry_same". `subject` is the path, command or address concerned, as data.
    """

    name: str
    cause: str
    strategy: DiagnosisStrategy
    advice: str
    line: str
    subject: str = ""
    delay_s: float | None = None
    passing: bool = False


def known_cause(failure: Failure) -> KnownCause | None:
    """Return what is known of a failure like this, None if no pattern of the table fits."""
    if failure.rule == OUT_OF_REACH or (failure.gate is None and failure.kind.info.talk):
        return None  # that a file is not there is what the sandbox made of it
    lines = _lines(failure)
    tests = failure.kind is FailureKind.TEST_FAILURE or bool(failure.failing_tests)
    rules = (rule for rule in known_causes() if rule.in_tests or not tests)
    found = ((rule, match, line) for rule in rules for line in lines if (match := rule.search(line)))
    return next((_known(*each) for each in found), None)


def passing_cause(output: str) -> str:
    lines = [line for line in strip_codes(output).splitlines() if line.strip()]
    found = final_error(reversed(lines[-_LAST_LINES_MAX:]))
    return found.line if found is not None and not found.disk_full else ""


def _cause_of(line: str) -> KnownCause | None:
    return known_cause(Failure(FailureKind.ENVIRONMENT, line, rule="final-error", gate="command"))


@dataclass(frozen=True, slots=True)
class FinalError:
    """The final error of a failed command, which lies outside the work: after `delay_s` it may succeed."""

    line: str
    delay_s: float
    disk_full: bool = False


def final_error(last_lines: Iterable[str]) -> FinalError | None:
    """Return the known cause outside the work that a failed command ended with; None if its error is another one.

    `last_lines` are the lines that decide, the last ones or the one that a rule picked. What a command prints before
    them it got over. A test that compares errors prints them, too: a value that was expected is no cause.
    """
    words = _compiled("|".join(table("causes")["passing_words"]))
    for text in last_lines:
        line = _TEST_NAME.sub("", PYTEST_MARK.sub("", strip_codes(text)[:_LAST_LINE_CHARS_MAX].strip(), count=1))
        if not line or _EXPECTED.match(line):
            continue
        known = _cause_of(line)
        if known is not None and known.name == _DISK_FULL:
            return FinalError(known.line, _SHORT_DELAY_S, disk_full=True)
        if words.search(line) or (known is not None and known.passing):
            delay_s = known.delay_s if known is not None and known.delay_s is not None else _SHORT_DELAY_S
            return FinalError(one_line(_CREDENTIALS.sub(r"\1", line), _LINE_CHARS_MAX), delay_s)
    return None


_KILLS = {9: "SIGKILL", 15: "SIGTERM", 1: "SIGHUP"}
_SHELL_SAYS_SIGNAL = 128


def killed_by(exit_code: int | None) -> str:
    """Say that somebody ended a command, by its exit code, "" if nobody did: no program sends itself such a signal."""
    code = exit_code or 0
    name = _KILLS.get(-code if code < 0 else code - _SHELL_SAYS_SIGNAL)
    return f"it was ended by {name}" if name is not None else ""


_OVERLOADED = re.compile(r"\b50[0234]\b")
HERE = re.compile(r"\b(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|0\.0\.0\.0)\b|::1\b|\[::\]")
"""What names this machine, where the work's own services are."""
_NO_NETWORK = re.compile(
    r"\b(?:EADDRINUSE|[Aa]ddress already in use|ETXTBSY|Text file busy|EPIPE|unexpected EOF|is locked|SQLITE_BUSY|lock"
    r"|deadlock|temporarily unavailable|resource busy)\b"
)


def of_its_provider(error: Failure, *, idle: bool = False) -> Failure:
    """Return the failure of a plain command as its provider's, if it ended with that of another machine (N1).

    Who refuses access need not be named if the command was `idle`, and changed nothing: no work made that up.
    """
    if error.rule == NO_ANSWER:
        return replace(error, kind=FailureKind.NETWORK, charged=False)
    last = error.evidence[-1] if error.evidence else ""
    if idle and not HERE.search(last) and (refused := _cause_of(last)) is not None and refused.name == _REFUSED:
        message = f"{refused.cause} The worker ended with: {refused.line}"
        return replace(error, kind=FailureKind.AUTH, rule="command-access", message=message, charged=False)
    final = final_error(error.evidence[-1:]) if error.rule == OUTSIDE_CAUSE else None
    if final is None or HERE.search(final.line) or is_of_the_work(final.line) or _NO_NETWORK.search(final.line):
        return error
    known = _cause_of(final.line)
    kind = FailureKind.OVERLOADED if _OVERLOADED.search(final.line) else FailureKind.NETWORK
    if (known is not None and known.name == _RATE_LIMITED) or "429 Too Many Requests" in final.line:
        kind = FailureKind.RATE_LIMITED
    return replace(error, kind=kind, rule=f"command-{kind.lower().replace('_', '-')}", charged=False)


def final_error_of(failure: Failure) -> FinalError | None:
    return final_error(_deciding(failure))


def _deciding(failure: Failure) -> tuple[str, ...]:
    message = _GATE_NAMED.sub("", failure.message, count=1)
    last = [line for line in failure.excerpt.splitlines() if line.strip()][-_FINAL_LINES:]
    return message, *failure.evidence, *reversed(last)


def access_refused(last_lines: Iterable[str], *, anybody: bool = False) -> KnownCause | None:
    """Return who refused access if a failed command ended with that; None if its error is another one.

    It takes a person, so it has to be certain (law 10): a service of another machine, named by its address or by a
    program that speaks to no other. One on this machine, or of a made-up name, is the work's own. `anybody`: who asks
    has seen to that.
    """
    remote = _compiled("|".join(table("causes")["remote_programs"]))
    for text in last_lines:
        known = _cause_of(strip_codes(text)[:_LAST_LINE_CHARS_MAX].strip())
        if known is None or known.name != _REFUSED or (_MADE_UP.search(known.subject) and not anybody):
            continue
        if anybody or _ELSEWHERE.match(known.subject) or (not known.subject and remote.match(known.line)):
            return known
    return None


def access_refused_of(failure: Failure) -> KnownCause | None:
    """Return the same of a failure, by the lines that decided. Tests make up such answers: if one failed, None."""
    if failure.kind not in _OF_COMMANDS or failure.failing_tests:
        return None
    return access_refused(_deciding(failure))


def _lines(failure: Failure) -> tuple[str, ...]:
    message = _GATE_NAMED.sub("", failure.message[:_TEXT_CHARS_MAX], count=1)
    text = strip_codes("\n".join((message, *failure.evidence, failure.excerpt))[:_TEXT_CHARS_MAX])
    lines = (PYTEST_MARK.sub("", line[:_LINE_CHARS_MAX], count=1).rstrip() for line in text.splitlines())
    telling = (line for line in lines if line and line[0] not in " \t+-@<>|*#`\\" and not _EXPECTED.match(line))
    return tuple(dict.fromkeys(telling))[:_LINES_MAX]


def _known(rule: CauseRule, match: re.Match[str], line: str) -> KnownCause:
    subject = one_line(_subject(match, line), _SUBJECT_CHARS_MAX).replace("`", "'")
    named = f"`{subject}`" if subject else rule.unnamed
    sentences = {"cause": _sentence(rule.cause, named), "advice": _sentence(rule.advice, named)}
    line = one_line(_CREDENTIALS.sub(r"\1", line), _LINE_CHARS_MAX)
    return view(KnownCause, rule, line=line, subject=subject, **sentences)


def _sentence(template: str, named: str) -> str:
    text = template.replace("{subject}", named)
    return text[:1].upper() + text[1:] if template.startswith("{") else text


def _subject(match: re.Match[str], line: str) -> str:
    named = next((text for text in match.groupdict().values() if text), "")
    if not named and (url := _URL.search(line)):
        named = url[0].rstrip(".:")
    if not named and (host := _HOST_PORT.search(line) or _HOST.search(line)):
        parts = host.groupdict()
        named = parts.get("both") or f"{parts['host']}:{parts['port']}"
    return _CREDENTIALS.sub(r"\1", named)


# Whether a gate may have failed only because others ran beside it. Words decide nothing here: they say when one more
# run, alone on the same files, is worth its time. What passes then has passed; what fails then has failed by itself.

_COMPANY_CHARS_MAX = 60_000


def contention_line(failure: Failure) -> str:
    """Return the line of a gate's failure that tells of something that only one can have at a time, "" without any."""
    text = "\n".join((failure.message, *failure.evidence, failure.excerpt))[:_COMPANY_CHARS_MAX]
    words = _compiled(f"(?i:{'|'.join(table('causes')['contention_words'])})")
    return next((line.strip() for line in strip_codes(text).splitlines() if words.search(line)), "")
