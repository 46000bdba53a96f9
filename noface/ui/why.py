"""The page of `noface show ID N`: how an attempt was judged, step by step, and what followed from it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from noface.model.failure import Failure, is_of_project
from noface.model.failure_document import Steps, last_output
from noface.model.quoting import printable_lines
from noface.store.records import AttemptRow
from noface.ui.logs import existing, gate_files
from noface.ui.page import evidence_lines, message_lines, paint, quoted
from noface.ui.show import action_words
from noface.ui.text import clean, fit, hanging, moment

_PROMPT_BYTES = 200_000
_EXCERPT_LINES, _EXCERPT_ABOVE = 40, 30
_TESTS_MAX = 30
_OF_PROJECT = ", of [[gate_rules]] in noface.toml"


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


def why_page(row: AttemptRow, following: AttemptRow | None, width: int) -> list[str]:
    """Return the lines of the page."""
    failure, action = row.failure, row.action
    outcome = row.outcome or "under way"
    title = paint(f"Attempt {row.number} of issue {clean(row.issue_id)}", "title")
    lines = [f"{title}  {paint(outcome, 'bad' if failure else 'good')}  {clean(row.model)}"]
    if failure is None:
        lines.append("  Nothing failed: every hard gate passed." if outcome == "PASSED" else "  It has no verdict yet.")
    else:
        lines += _decided(failure, width, row.partial, charged=row.charged)
    lines += _section("What is noted of it", row.notes, width)
    output = last_output(row.partial)
    if outcome != "PASSED" and output:
        lines += ["", paint("What the worker put out last", "title"), *quoted(output, width, "  ")]
    lines += _section("Logs", _logs(row), width)
    if action is not None:
        words = action_words(action.kind, action.reason, row.outcome)
        lines += ["", paint("What followed", "title"), *hanging(words, width, "  ")]
    if following is not None:
        heading = f"What the prompt of attempt {following.number} ({clean(following.model)}) said"
        lines += ["", paint(heading, "title"), f"  {clean(_prompt_of(following))}"]
        lines += quoted(_part_about(following, row.number), width, "  ")
    return lines


def _step(partial: Steps | None) -> str:
    if partial is None or partial["failed_step"] is None:
        return ""
    done = [step["name"] for step in partial["partial_results"]]
    at = partial["failed_step"]
    return f"{at + 1} of {partial['total_steps']}, {done[at]}" + (f"; done: {', '.join(done[:at])}" if at else "")


def _decided(failure: Failure, width: int, partial: Steps | None, *, charged: bool) -> Iterator[str]:
    yield from message_lines(failure.message, width)
    yield ""
    yield paint("What decided", "title")
    to_whom = "charged to the worker" if charged else "not charged to the worker"
    facts = {
        "step": _step(partial),
        "kind": f"{failure.kind} ({failure.category.replace('_', ' ')}), {to_whom}",
        "rule": failure.rule + (_OF_PROJECT if is_of_project(failure.rule) else ""),
        "gate": failure.gate,
        "location": failure.location,
        "resource": failure.ran_out,
        "signature": failure.signature,
        "retry at": "" if failure.retry_at is None else moment(failure.retry_at, 0.0),
    }
    for name, value in facts.items():
        if value or name == "rule":
            yield from hanging(f"{name}: {value}", width, "  ", "    ")
    yield from evidence_lines(failure.evidence, failure.message, width)
    yield from _section("Failing tests", failure.failing_tests[:_TESTS_MAX], width)
    yield from _section("What it asks", failure.questions, width)
    yield ""
    yield paint("What also matched", "title")
    if not failure.also_matched:
        yield "  Nothing else."
    for rule, line, why in failure.also_matched:
        yield from hanging(f"{rule}: {why}", width, "  • ")
        if line.strip():
            yield paint(fit(f"    │ {clean(line)}", width), "quiet")
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
