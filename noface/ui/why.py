"""The page of `noface why ID N`: how an attempt was judged, step by step, and what followed from it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from noface.diagnosis.scan import is_of_project
from noface.model.codec import encode
from noface.model.failure import Failure
from noface.store.records import AttemptRow
from noface.ui.logs import existing, gate_files
from noface.ui.page import Record, paint, quoted
from noface.ui.text import clean, fit, hanging

_TOLD_BYTES = 200_000
_EXCERPT_LINES = 40
_TESTS_MAX = 30
_OF_PROJECT = ", of [[gate_rules]] in noface.toml"


def why_document(row: AttemptRow, following: AttemptRow | None) -> Record:
    """Return the evidence chain of an attempt; `following` is the attempt after it, if there is one."""
    failure = row.failure
    return {
        "id": row.issue_id,
        "attempt": row.number,
        "model": row.model,
        "outcome": row.outcome,
        "charged": row.charged,
        "failure": None if failure is None else _failure(failure),
        "gates": encode(row.gates),
        "notes": list(row.notes),
        "logs": [str(path) for path in _logs(Path(row.directory), failure)],
        "action": encode(row.action),
        "next": None if following is None else _next(following, row.number),
    }


def why_page(document: Record, width: int) -> list[str]:
    """Return the lines of the page."""
    failure = document["failure"]
    outcome = document["outcome"] or "under way"
    title = paint(f"Attempt {document['attempt']} of issue {clean(document['id'])}", "title")
    lines = [f"{title}  {paint(outcome, 'bad' if failure else 'good')}  {clean(document['model'])}"]
    if failure is None:
        lines.append("  Nothing failed: every hard gate passed." if outcome == "PASSED" else "  It has no verdict yet.")
    else:
        lines += _verdict(failure, document, width)
    lines += _section("Logs", document["logs"], width)
    if document["action"] is not None:
        action = document["action"]
        lines += ["", paint("What followed", "title"), *hanging(f"{action['kind']}: {action['reason']}", width, "  ")]
    if document["next"] is not None:
        lines += _told(document["next"], width)
    return lines


def _verdict(failure: Record, document: Record, width: int) -> Iterator[str]:
    yield from hanging(failure["message"], width, "  ", rows_max=6)
    yield ""
    yield paint("What decided", "title")
    charged = "charged to the worker" if document["charged"] else "not charged to the worker"
    facts = [
        ("kind", f"{failure['kind']} ({failure['category'].replace('_', ' ')}), {charged}"),
        ("rule", failure["rule"] + (_OF_PROJECT if is_of_project(failure["rule"]) else "")),
    ]
    facts += [(name, failure[name]) for name in ("gate", "location", "signature") if failure[name]]
    if failure["retry_at"] is not None:
        facts.append(("retry at", f"{failure['retry_at']:.0f}"))
    for name, value in facts:
        yield from hanging(f"{name}: {value}", width, "  ", "    ")
    yield from quoted("\n".join(failure["evidence"]), width, "  ")
    yield from _section("Failing tests", failure["failing_tests"][:_TESTS_MAX], width)
    yield from _section("What it asks", failure["questions"], width)
    yield ""
    yield paint("What also matched", "title")
    if not failure["also_matched"]:
        yield "  Nothing else."
    for also in failure["also_matched"]:
        yield from hanging(f"{also['rule']}: {also['why']}", width, "  • ")
        if also["line"].strip():
            yield paint(fit(f"    │ {clean(also['line'])}", width), "quiet")
    excerpt = list(quoted(failure["excerpt"], width, "  "))[:_EXCERPT_LINES]
    if excerpt:
        yield from ("", paint("The lines to look at first", "title"), *excerpt)


def _section(title: str, items: Sequence[str], width: int) -> list[str]:
    if not items:
        return []
    return ["", paint(title, "title"), *(row for item in items for row in hanging(item, width, "  ", "    "))]


def _told(following: Record, width: int) -> list[str]:
    heading = f"What attempt {following['number']} ({clean(following['model'])}) was told"
    lines = ["", paint(heading, "title"), f"  {clean(following['prompt'])}"]
    return lines + list(quoted(following["told"], width, "  "))


def _failure(failure: Failure) -> Record:
    return {
        "kind": failure.kind.value,
        "category": failure.category.value,
        "message": failure.message,
        "rule": failure.rule,
        "gate": failure.gate,
        "location": failure.location,
        "signature": failure.signature,
        "evidence": list(failure.evidence),
        "failing_tests": list(failure.failing_tests),
        "questions": list(failure.questions),
        "retry_at": failure.retry_at,
        "also_matched": [{"rule": rule, "line": line, "why": why} for rule, line, why in failure.also_matched],
        "excerpt": failure.excerpt,
    }


def _logs(directory: Path, failure: Failure | None) -> list[Path]:
    """Return the logs to read: of the gate that decided, else of the worker."""
    found = gate_files(directory, failure.gate) if failure is not None and failure.gate else []
    return found or existing(directory / "agent.log", directory / "agent.err")


def _next(row: AttemptRow, number: int) -> Record:
    path = Path(row.directory) / "prompt.md"
    return {
        "number": row.number,
        "model": row.model,
        "prompt": str(path) if path.is_file() else "its prompt is gone",
        "told": _part_about(path, number),
    }


def _part_about(path: Path, number: int) -> str:
    """Return what a prompt says of the attempts before it: its sections on this attempt and on what happened."""
    from noface.process.files import read_bounded

    try:
        prompt = read_bounded(path, _TOLD_BYTES, 0)
    except OSError:
        return ""
    sections = re.split(r"^(?=## )", prompt, flags=re.MULTILINE)
    wanted = ("## This attempt", "## Hints", "## What happened before", "## A note")
    told = "".join(section for section in sections if section.startswith(wanted))
    own = [section for section in sections if f"attempt {number}" in section.lower()]
    return (told or "".join(own)).partition("The changes so far, against main:")[0].strip()
