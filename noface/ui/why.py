"""The page of `noface show ID N`: how an attempt was judged, step by step, and what followed from it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from noface.model.failure import Failure
from noface.model.failure_document import last_output
from noface.model.quoting import printable_lines
from noface.model.taxonomy import PASSED
from noface.store.records import AttemptRow
from noface.ui.logs import existing, gate_files
from noface.ui.page import paint, quoted
from noface.ui.show import action_words, attempt_lines
from noface.ui.text import clean, hanging, moment

_PROMPT_BYTES = 200_000
_EXCERPT_LINES, _EXCERPT_ABOVE = 40, 30


def why_document(row: AttemptRow, following: AttemptRow | None) -> dict[str, object]:
    """Return what `noface show --why --json` prints of an attempt; `following` is the one after it."""
    return {
        "id": row.issue_id,
        "attempt": row.number,
        **{name: getattr(row, name) for name in ("model", "outcome", "charged", "failure", "gates", "notes")},
        "logs": _logs(row),
        "action": row.action,
        "next": None
        if following is None
        else {
            "number": following.number,
            "model": following.model,
            "prompt": _prompt_of(following),
            "told": _part_about(following, row.number),
        },
        "partial": row.partial,
        "task_failure": row.task_failure,
    }


def why_page(row: AttemptRow, following: AttemptRow | None, now: float, width: int) -> list[str]:
    """Return the lines of the page: what the issue's page has of the attempt, and what else there is."""
    failure, action = row.failure, row.action
    lines = [*attempt_lines(row, now, width)]
    if failure is None:
        passed = row.outcome == PASSED
        lines.append("  Nothing failed: every hard gate passed." if passed else "  It has no verdict yet.")
    else:
        lines.append("  charged to the worker" if row.charged else "  not charged to the worker")
        lines += _what_else(failure, width)
    output = last_output(row.partial)
    if row.outcome != PASSED and output:
        lines += ["", paint("What the worker put out last", "title"), *quoted(output, width, "  ")]
    lines += _section("Logs", _logs(row), width)
    if action is not None:
        lines += _section("What followed", [action_words(action.kind, action.reason, row.outcome)], width)
    if following is not None:
        heading = f"What the prompt of attempt {following.number} ({clean(following.model)}) said"
        lines += ["", paint(heading, "title"), f"  {clean(_prompt_of(following))}"]
        lines += quoted(_part_about(following, row.number), width, "  ")
    return lines


def _what_else(failure: Failure, width: int) -> Iterator[str]:
    if failure.retry_at is not None:
        yield f"  retry at: {moment(failure.retry_at, 0.0)}"
    lost = [f"{rule}: {why}: {line.strip()}" for rule, line, why in failure.also_matched]
    yield from _section("What also matched", lost or ["Nothing else."], width)
    lines = [line for line in printable_lines(failure.excerpt).splitlines() if line.strip()]
    decided = {clean(line) for line in failure.evidence}
    last = next((number for number in reversed(range(len(lines))) if clean(lines[number]) in decided), len(lines))
    start = max(min(last - _EXCERPT_ABOVE, len(lines) - _EXCERPT_LINES), 0)
    excerpt = lines[start : start + _EXCERPT_LINES]
    if excerpt:
        rows = quoted("\n".join(excerpt), width, "  ")
        yield from ("", paint("The lines to look at first", "title"), *rows)


def _section(title: str, items: Sequence[str], width: int) -> list[str]:
    if not items:
        return []
    return ["", paint(title, "title"), *(row for item in items for row in hanging(item, width, "  ", "    "))]


def _logs(row: AttemptRow) -> list[str]:
    directory, failure = Path(row.directory), row.failure
    logs = gate_files(directory, failure.gate) if failure is not None and failure.gate else []
    return list(map(str, logs or existing(directory / "agent.log", directory / "agent.err")))


def _prompt_of(row: AttemptRow) -> str:
    path = Path(row.directory) / "prompt.md"
    return str(path) if path.is_file() else "its prompt is gone"


def _part_about(row: AttemptRow, number: int) -> str:
    from noface.process.files import read_bounded

    try:
        prompt = read_bounded(Path(row.directory) / "prompt.md", _PROMPT_BYTES, 0)
    except OSError:
        return ""
    sections = re.split(r"^(?=## )", prompt, flags=re.MULTILINE)
    wanted = ("## This attempt", "## Hints", "## What happened before", "## A note")
    about = "".join(section for section in sections if section.startswith(wanted))
    own = [section for section in sections if f"attempt {number}" in section.lower()]
    return (about or "".join(own)).partition("The changes so far, against main:")[0].strip()
