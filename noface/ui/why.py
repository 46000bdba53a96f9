"""The page of `noface why ID N`: how an attempt was judged, step by step, and what followed from it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from noface.model.actions import NextAction
from noface.model.codec import view
from noface.model.failure import Failure, is_of_project
from noface.model.failure_document import Exhausted, Steps, TaskFailure, last_output
from noface.recovery.learned_start import why_it_began
from noface.store.records import AttemptRow, GateRun
from noface.ui.logs import existing, gate_files
from noface.ui.page import evidence_lines, message_lines, paint, quoted
from noface.ui.show import action_words
from noface.ui.story import ShownFailure, failure_document
from noface.ui.text import clean, clean_block, fit, hanging, moment

_PROMPT_BYTES = 200_000
_EXCERPT_LINES, _EXCERPT_ABOVE = 40, 30
_TESTS_MAX = 30
_OF_PROJECT = ", of [[gate_rules]] in noface.toml"


@dataclass(frozen=True, slots=True)
class OtherMatch:
    """A rule that matched as well and lost."""

    rule: str
    line: str
    why: str


@dataclass(frozen=True, slots=True)
class Evidence(ShownFailure):
    """How an attempt failed, and what decided that."""

    signature: str
    retry_at: float | None
    also_matched: tuple[OtherMatch, ...]
    excerpt: str


@dataclass(frozen=True, slots=True)
class NextAttempt:
    """The attempt that followed; `told` is what its prompt says about this one."""

    number: int
    model: str
    prompt: str
    told: str


@dataclass(frozen=True, slots=True)
class WhyDocument:
    """What `noface why --json` prints: the evidence chain of an attempt."""

    id: str
    attempt: int
    model: str
    outcome: str | None
    charged: bool
    failure: Evidence | None
    gates: tuple[GateRun, ...]
    notes: tuple[str, ...]
    logs: tuple[str, ...]
    action: NextAction | None
    next: NextAttempt | None
    partial: Steps | None
    task_failure: TaskFailure | Exhausted | None


def why_document(row: AttemptRow, following: AttemptRow | None) -> WhyDocument:
    """Return the evidence chain of an attempt; `following` is the attempt after it, if there is one."""
    return view(
        WhyDocument,
        row,
        id=row.issue_id,
        attempt=row.number,
        failure=None if row.failure is None else _evidence(row.failure),
        logs=tuple(map(str, _logs(Path(row.directory), row.failure))),
        next=None if following is None else _next(following, row.number),
        task_failure=failure_document(row),
    )


def why_page(document: WhyDocument, width: int) -> list[str]:
    """Return the lines of the page."""
    failure, action = document.failure, document.action
    outcome = document.outcome or "under way"
    title = paint(f"Attempt {document.attempt} of issue {clean(document.id)}", "title")
    lines = [f"{title}  {paint(outcome, 'bad' if failure else 'good')}  {clean(document.model)}"]
    if failure is None:
        lines.append("  Nothing failed: every hard gate passed." if outcome == "PASSED" else "  It has no verdict yet.")
    else:
        lines += _decided(failure, width, document.partial, charged=document.charged)
    why = why_it_began(document.notes)
    lines += _section("Why this model", why, width)
    lines += _section("What is noted of it", [note for note in document.notes if note not in why], width)
    output = last_output(document.partial)
    if outcome != "PASSED" and output:
        lines += ["", paint("What the worker put out last", "title"), *quoted(output, width, "  ")]
    lines += _section("Logs", document.logs, width)
    if action is not None:
        words = action_words(action.kind, action.reason, document.outcome)
        lines += ["", paint("What followed", "title"), *hanging(words, width, "  ")]
    if document.next is not None:
        lines += _prompt_lines(document.next, width)
    return lines


def _step(partial: Steps | None) -> str:
    """Say which step of an attempt failed, of how many, and which it had done."""
    if partial is None or partial["failed_step"] is None:
        return ""
    done = [step["name"] for step in partial["partial_results"]]
    at = partial["failed_step"]
    return f"{at + 1} of {partial['total_steps']}, {done[at]}" + (f"; done: {', '.join(done[:at])}" if at else "")


def _decided(failure: Evidence, width: int, partial: Steps | None, *, charged: bool) -> Iterator[str]:
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
    for also in failure.also_matched:
        yield from hanging(f"{also.rule}: {also.why}", width, "  • ")
        if also.line.strip():
            yield paint(fit(f"    │ {clean(also.line)}", width), "quiet")
    excerpt = _to_look_at(failure)
    if excerpt:
        rows = quoted("\n".join(excerpt), width, "  ")
        yield from ("", paint("The lines to look at first", "title"), *rows)


def _to_look_at(failure: Evidence) -> list[str]:
    """Return the lines of an excerpt round the last one that decided; where none did, the last ones."""
    lines = [line for line in clean_block(failure.excerpt).splitlines() if line.strip()]
    decided = {clean(line) for line in failure.evidence}
    last = next((number for number in reversed(range(len(lines))) if clean(lines[number]) in decided), len(lines))
    start = max(min(last - _EXCERPT_ABOVE, len(lines) - _EXCERPT_LINES), 0)
    return lines[start : start + _EXCERPT_LINES]


def _section(title: str, items: Sequence[str], width: int) -> list[str]:
    if not items:
        return []
    return ["", paint(title, "title"), *(row for item in items for row in hanging(item, width, "  ", "    "))]


def _prompt_lines(following: NextAttempt, width: int) -> list[str]:
    heading = f"What the prompt of attempt {following.number} ({clean(following.model)}) said"
    lines = ["", paint(heading, "title"), f"  {clean(following.prompt)}"]
    return lines + list(quoted(following.told, width, "  "))


def _evidence(failure: Failure) -> Evidence:
    also = tuple(OtherMatch(rule, line, why) for rule, line, why in failure.also_matched)
    return view(Evidence, failure, also_matched=also)


def _logs(directory: Path, failure: Failure | None) -> list[Path]:
    """Return the logs to read: of the gate that decided, else of the worker."""
    logs = gate_files(directory, failure.gate) if failure is not None and failure.gate else []
    return logs or existing(directory / "agent.log", directory / "agent.err")


def _next(row: AttemptRow, number: int) -> NextAttempt:
    path = Path(row.directory) / "prompt.md"
    place = str(path) if path.is_file() else "its prompt is gone"
    return NextAttempt(row.number, row.model, place, _part_about(path, number))


def _part_about(path: Path, number: int) -> str:
    """Return what a prompt says of the attempts before it: its sections on this attempt and on what happened."""
    from noface.process.files import read_bounded

    try:
        prompt = read_bounded(path, _PROMPT_BYTES, 0)
    except OSError:
        return ""
    sections = re.split(r"^(?=## )", prompt, flags=re.MULTILINE)
    wanted = ("## This attempt", "## Hints", "## What happened before", "## A note")
    about = "".join(section for section in sections if section.startswith(wanted))
    own = [section for section in sections if f"attempt {number}" in section.lower()]
    return (about or "".join(own)).partition("The changes so far, against main:")[0].strip()
