"""When work that passed is shown to a reviewer before it lands (N2), and what a rejection is."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from noface.core.attempt import PastAttempt
from noface.core.failure import Failure
from noface.core.history import Advice
from noface.core.issue import Issue
from noface.core.patterns import matches_any
from noface.core.tampering import is_test_file
from noface.core.taxonomy import FailureKind

REJECTED_BY_REVIEWER = "reviewer"
"""The rule of failures that a reviewer's verdict made."""

REJECTED_BY_PERSON = "person-rejected"
"""The rule of failures that `noface reject` made."""


class When(StrEnum):
    """`[review] when`."""

    ALWAYS = "always"
    RISKY = "risky"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class ReviewRules:
    """`[review]`. A diff beyond `files` or `lines`, a report less sure than `confidence`, is a risk.

    `rounds_max`: so many rejections, then a person is asked. They do not count as attempts (docs/decisions.md).
    """

    when: When = When.RISKY
    paths: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    files: int = 10
    lines: int = 300
    confidence: float = 0.6
    rounds_max: int = 5


def review_due(rules: ReviewRules, issue: Issue, attempt: PastAttempt) -> str:
    """Return why an attempt that passed is to be reviewed, "" where it need not be."""
    if attempt.doubts:
        return attempt.doubts[0]
    if rules.when is When.NEVER:
        return ""
    if rules.when is When.ALWAYS:
        return "every change is reviewed"
    return _risk(rules, issue, attempt)


def _risk(rules: ReviewRules, issue: Issue, attempt: PastAttempt) -> str:
    label = next((label for label in issue.labels if label in rules.labels), None)
    if label is not None:
        return f'it has the label "{label}"'
    path = next((path for path in attempt.changed if matches_any(path, rules.paths)), None)
    if path is not None:
        return f"it changes {path}"
    if len(attempt.changed) > rules.files:
        return f"it changes {len(attempt.changed)} files"
    if attempt.lines > rules.lines:
        return f"it changes {attempt.lines} lines"
    confidence = attempt.report.confidence if attempt.report is not None else None
    if confidence is not None and confidence < rules.confidence:
        return f"its worker is only {confidence:.0%} sure of it"
    if not issue.accept and attempt.changed and not any(is_test_file(path) for path in attempt.changed):
        return "it comes without a test"
    return ""


def rejection(advice: Advice) -> Failure:
    """Return the failure that a reviewer's request for changes is. Not charged: rounds have a cap of their own."""
    told = " ".join(advice.cause.split())
    sign = hashlib.sha256(" ".join(advice.text.split()).encode("utf-8", "replace")).hexdigest()[:12]
    return Failure(
        FailureKind.REVIEW_REJECTED,
        f"the reviewer ({advice.model}) asks for changes: {told}",
        rule=REJECTED_BY_REVIEWER,
        signature=f"review:{sign}",
        evidence=(told,),
        excerpt=advice.text,
        charged=False,
    )
