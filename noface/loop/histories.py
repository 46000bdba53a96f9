"""Puts together what the policy decides from, out of the state database."""

from dataclasses import replace

from noface.core.history import Advice, History
from noface.core.issue import Issue, IssueState
from noface.store.questions import Questions
from noface.store.reader import Reader


def history_of(reader: Reader, questions: Questions, issue: Issue, state: IssueState | None) -> History:
    """Return an issue's history; `state` None where noface has not seen it yet.

    What an answer said must be merged first is left out once it is.
    """
    state = state or IssueState(issue.id)
    return History(
        issue,
        reader.past(issue.id),
        state.epoch,
        tuple(_still_needed(advice, reader) for advice in questions.advice(issue.id)),
        questions.approvals(issue.id),
        state.wanted_model,
        state.wanted_attempts,
        questions.unanswered(issue.id, state.epoch),
    )


def _still_needed(advice: Advice, reader: Reader) -> Advice:
    if not advice.needs:
        return advice
    open_ones = tuple(need for need in advice.needs if reader.issue(need) is not None and not reader.state(need).done)
    return replace(advice, needs=open_ones)
