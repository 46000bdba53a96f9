"""The commit messages noface writes; the trailers tell from git alone what happened."""

from noface.core.attempt import AttemptOrder
from noface.core.issue import Issue

_SUBJECT_MAX = 100


def attempt_message(order: AttemptOrder, outcome: str) -> str:
    """Return the message of an attempt's commit; `outcome` is empty while it is not known."""
    subject = _subject(f"{order.issue.title} (attempt {order.number})")
    trailers = [f"Noface-Issue: {order.issue.id}", f"Noface-Attempt: {order.number}"]
    if outcome:
        trailers.append(f"Noface-Outcome: {outcome}")
    return subject + "\n\n" + "\n".join(trailers) + "\n"


def landing_message(issue: Issue, number: int) -> str:
    """Return the message of the commit that brings an issue to main."""
    return _subject(issue.title) + f"\n\nNoface-Issue: {issue.id}\nNoface-Attempt: {number}\n"


def _subject(text: str) -> str:
    flat = " ".join(text.split()) or "(no title)"
    return flat if len(flat) <= _SUBJECT_MAX else flat[: _SUBJECT_MAX - 1] + "…"
