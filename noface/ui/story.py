"""The document of `noface show ID`: the story of an issue, attempt by attempt, with what decided each."""

from typing import Annotated, NamedTuple

from noface.model.description import Inline
from noface.model.history import Decided
from noface.store.overview import Gap
from noface.store.reader import Reader
from noface.store.records import AttemptRow, IssueRow, PullRow, QuestionRow
from noface.ui.blocked import BlockedIssue, waiting_of
from noface.ui.status import as_they_stand, progress

_FOR_A_PERSON = ("blocked", "approval")


class Story(NamedTuple):
    """An issue with all that was tried."""

    issue: Annotated[IssueRow, Inline]
    parts: Annotated[tuple[IssueRow, ...], "Its parts, where it was divided."]
    block: Annotated[BlockedIssue | None, "What a person is asked; null where nothing is."]
    attempts: Annotated[tuple[AttemptRow, ...], "Its attempts, oldest first."]
    asked: Annotated[tuple[QuestionRow, ...], "What was asked about it, oldest first."]
    decisions: Annotated[tuple[Decided, ...], "What people decided on it, oldest first."]
    gaps: Annotated[tuple[Gap, ...], "What workers reported as missing, each thing once."]
    pull_request: Annotated[PullRow | None, "Its newest pull request; null before there is one."]

    @property
    def charged_attempts(self) -> Annotated[int, "The attempts that count, since it was last given back."]:
        return self.issue.attempts

    @property
    def progress(self) -> Annotated[str, "How many of its parts are merged; empty without any."]:
        return progress([(part.status, part.satisfied) for part in self.parts])


def show_document(reader: Reader, row: IssueRow) -> Story:
    """Return the issue, and all that is recorded of it."""
    issues = [*as_they_stand(reader.around(row))]
    attempts = tuple(reader.attempts(row.id))
    gaps: dict[str, Gap] = {}
    for attempt in attempts:
        for gap in attempt.report.gaps if attempt.report is not None else ():
            gaps.setdefault(gap, Gap(attempt.issue_id, attempt.number, gap))
    return Story(
        issue=issues[0]._replace(all_attempts=len(attempts)),
        parts=tuple(each for each in issues if each.parent == row.id),
        block=waiting_of(row) if row.block is not None and row.status in _FOR_A_PERSON else None,
        attempts=attempts,
        asked=tuple(reader.questions(row.id)),
        decisions=reader.decisions(row.id),
        gaps=tuple(gaps.values()),
        pull_request=reader.pull(row.id),
    )
