"""What the demonstration showed, read from the record of the run: nothing here knows which bugs were drawn."""

import textwrap
from collections.abc import Callable, Iterator

from noface.store.reader import Reader
from noface.store.records import AttemptRow, IssueRow
from noface.ui.narrate import printable

_WIDTH = 80


def lines(reader: Reader) -> Iterator[str]:
    """Yield a line for each thing worth seeing, with the issue that showed it."""
    yield "\nWhat you have just seen:"
    rows = [row for row in reader.issues() if row.present]
    stories = [(row, reader.attempts(row.id)) for row in rows]
    yield from _first("merged at the first attempt", stories, _at_once)
    yield from _first("merged after feedback, same model", stories, _after_feedback)
    yield from _first("merged after moving up to the stronger model", stories, _after_escalation)
    yield from _first("waited for the issue it depends on", stories, _dependent)
    yield from _first("a wrong change that a red gate kept off main", stories, _kept_out)
    yield from _first("ended blocked, with the reason", stories, _blocked)


Story = tuple[IssueRow, list[AttemptRow]]
Words = Callable[[IssueRow, list[AttemptRow]], str | None]


def _first(what: str, stories: list[Story], words: Words) -> Iterator[str]:
    matches = [(row, sentence) for row, attempts in stories if (sentence := words(row, attempts)) is not None]
    if not matches:
        yield f"  (none this time: {what})"
        return
    row, sentence = matches[0]
    more = f" (and {len(matches) - 1} more)" if len(matches) > 1 else ""
    yield f"  {what}{more}"
    text = f"{row.id}: {printable(sentence)}"
    yield from textwrap.wrap(text, _WIDTH, initial_indent="      ", subsequent_indent="      ")


def _at_once(row: IssueRow, attempts: list[AttemptRow]) -> str | None:
    return row.title if row.status == "merged" and len(attempts) == 1 else None


def _after_feedback(row: IssueRow, attempts: list[AttemptRow]) -> str | None:
    if row.status != "merged" or len(attempts) < 2 or attempts[-1].tier > attempts[0].tier:  # noqa: PLR2004 - a retry
        return None
    return f"{row.title}: attempt 1 ended {attempts[0].outcome}, attempt {len(attempts)} passed"


def _after_escalation(row: IssueRow, attempts: list[AttemptRow]) -> str | None:
    if row.status != "merged" or attempts[-1].tier <= attempts[0].tier:
        return None
    return f"{row.title}: {attempts[-1].model} did it in attempt {len(attempts)}"


def _dependent(row: IssueRow, _attempts: list[AttemptRow]) -> str | None:
    needed = row.depends_on
    return f"{row.title}: after {', '.join(needed)}" if needed and row.status == "merged" else None


def _kept_out(_row: IssueRow, attempts: list[AttemptRow]) -> str | None:
    for attempt in attempts:
        failure = attempt.failure
        if failure is not None and failure.gate and not failure.gate.startswith("accept"):
            return f"attempt {attempt.number}: {failure.message}"
    return None


def _blocked(row: IssueRow, _attempts: list[AttemptRow]) -> str | None:
    return f"{row.title}: {row.block.summary}" if row.status == "blocked" and row.block is not None else None
