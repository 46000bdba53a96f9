"""Names the failure of a check that ran on a forge: its log, without the runner's wrapping, is a gate's. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace

from noface.diagnosis.evidence import GateEvidence
from noface.diagnosis.gate import classify
from noface.diagnosis.scan import ProjectRules
from noface.diagnosis.text import signature_of
from noface.model.codec import view
from noface.model.failure import REVIEWER, Failure
from noface.model.pull_request import Check
from noface.model.quoting import one_line, short, some
from noface.model.taxonomy import FailureKind

UNREADABLE = "check-log-unreadable"
"""The rule of a failed check of which no log could be had."""

PULL_REVIEW = "pull-review"
PULL_QUESTION = "pull-question"
"""The rules of what people say of work on its pull request."""

_TIME = re.compile(r"^\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z ?", re.MULTILINE)
_CHECKOUT = re.compile(
    r"(?:/home/runner/work|/Users/runner/work|/__w|/github/workspace|[A-Z]:\\a)[/\\]([\w.-]+)[/\\]\1[/\\]"
)
_MARK = re.compile(r"^##\[(?P<mark>\w+)\](?P<text>.*)$")
_EXIT = re.compile(r"^Process completed with exit code (?P<code>\d{1,3})\.?$")
_RUN = re.compile(r"^Run (?P<command>.+)$")
_DROPPED = ("endgroup", "debug", "section", "add-mask")
_LINES_MAX = 400_000
_NAME_CHARS_MAX = 100
_FAILED = " of the pull request failed: "
_ALSO_MAX = 3
_ALSO_LINES_MAX = 15
_SUMMARY_CHARS_MAX = 1_000


def unwrapped(log: str) -> tuple[str, str, int | None]:
    """Return a job's log without what its runner put round it, the last step's command, and its exit code."""
    text = _CHECKOUT.sub("", _TIME.sub("", log.replace("\r\n", "\n").removeprefix("\ufeff")))
    lines: list[str] = []
    command, code = "", None
    for line in text.split("\n")[-_LINES_MAX:]:
        mark = _MARK.match(line)
        if mark is None:
            lines.append(line)
            continue
        if mark["mark"] in _DROPPED:
            continue
        if mark["mark"] == "group" and (ran := _RUN.match(mark["text"])) is not None:
            command = ran["command"]
        elif mark["mark"] == "error" and (ended := _EXIT.match(mark["text"])) is not None:
            code = int(ended["code"])
        else:
            lines.append(mark["text"])
    return "\n".join(lines), command, code


def check_failure(
    check: Check,
    log: str,
    why_unread: str = "",
    files: tuple[str, ...] | None = None,
    rules: ProjectRules | None = None,
    *,
    passed_on_base: bool = False,
) -> Failure:
    """Return the failure that a failed check is; `files` are the project's paths.

    `why_unread` says why there is no log, if there is none. What the environment did is charged to nobody, unless the
    check passed on the base: then the change brought it about.
    """
    name = one_line(check.name, _NAME_CHARS_MAX)
    if not log.strip():
        return _unread(check, name, why_unread)
    text, command, code = unwrapped(log)
    # A failed check has failed, whatever its log says of an exit code.
    verdict = classify(GateEvidence(command, code or 1, text, "", repo_files=files), rules)
    kind = verdict.kind or FailureKind.UNKNOWN
    return view(
        Failure,
        verdict,
        kind=kind,
        message=f"the check {name}{_FAILED}{verdict.message}{_where(check) if kind is FailureKind.UNKNOWN else ''}",
        evidence=(*verdict.evidence, *((check.url,) if check.url else ())),
        gate=check.name,
        charged=kind is not FailureKind.ENVIRONMENT or passed_on_base,
    )


def _where(check: Check) -> str:
    return f"; see {check.url}" if check.url else ""


def cause_of(failure: Failure) -> str:
    return failure.message.partition(_FAILED)[2] or failure.message


def _unread(check: Check, name: str, why: str) -> Failure:
    why_not = why or "it has none"
    return Failure(
        FailureKind.UNKNOWN,
        f"the check {name} of the pull request failed, and its log cannot be read ({why_not}){_where(check)}",
        rule=UNREADABLE,
        signature=signature_of(FailureKind.UNKNOWN, f"check {check.name} {check.summary}", ()),
        evidence=(check.url,) if check.url else (),
        excerpt=f"The check says: {short(check.summary, _SUMMARY_CHARS_MAX)}" if check.summary.strip() else "",
        gate=check.name,
    )


def review_failure(who: tuple[str, ...], words: str, points: str, *, asks_only: bool = False) -> Failure:
    """Return the failure of work whose reviewers ask for changes, or only ask."""
    asked = "has a question" if asks_only else "asked for changes"
    return Failure(
        FailureKind.REVIEW_REJECTED,
        f"{some(who, _ALSO_MAX)} {asked} on the pull request: {words}",
        rule=PULL_QUESTION if asks_only else PULL_REVIEW,
        signature=signature_of(FailureKind.REVIEW_REJECTED, " ".join(points.split()), ()),
        evidence=(words,),
        excerpt=points,
        charged=not asks_only,
        points=tuple(points.split("\n\n")),  # those of each reviewer
        by=REVIEWER,
    )


def together(failures: Sequence[Failure], review: Failure | None) -> Failure:
    """Return one failure of all that a round answers: the first check that says why it failed, with the others."""
    if not failures:
        assert review is not None  # noqa: S101  # a round without anything to answer is a bug of the caller
        return review
    ranked = sorted(failures, key=lambda failure: (failure.rule == UNREADABLE, not failure.charged))
    first, others = ranked[0], ranked[1:]
    also = f" (also red: {', '.join(str(other.gate) for other in others)})" if others else ""
    more = ["\n".join((other.message, *other.excerpt.splitlines()[:_ALSO_LINES_MAX])) for other in others[:_ALSO_MAX]]
    return replace(
        first,
        message=f"{first.message}{also}",
        # Sorted: checks end in any order, and the same failures have to have the same signature.
        signature=" ".join(sorted(failure.signature for failure in (*failures, *((review,) if review else ())))),
        excerpt="\n\n".join(part for part in (first.excerpt, *more) if part),
        failing_tests=tuple(dict.fromkeys(test for failure in ranked for test in failure.failing_tests)),
        charged=any(failure.charged for failure in failures) or review is not None,
        points=review.points if review is not None else (),
    )
