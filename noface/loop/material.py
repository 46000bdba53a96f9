"""Gathers what prompts quote: earlier attempts, diffs, related files, answers, lessons."""

from pathlib import Path

from noface.core.attempt import PastAttempt
from noface.core.context_files import context_files
from noface.core.failure import PriorFailure
from noface.core.history import Advice, AdviceOutcome, History, Topic
from noface.core.issue import Issue
from noface.core.prompt_data import FileExcerpt, Told
from noface.git.refs import slug
from noface.loop.context import RunContext
from noface.system.files import read_regular

_PATCH_BYTES_MAX = 1_000_000
_FILES_MAX = 5
_FILE_BYTES_MAX = 8_000

_TITLES = {
    Topic.DIAGNOSIS: "A diagnosis of the last failure",
    Topic.REFLECTION: "What the last worker says of its own failure",
    Topic.CLARIFICATION: "Answers of the planner",
    Topic.BOUNDARY: "What the resolver says about the limits",
    Topic.MERGE_CONFLICT: "How the two changes go together",
    Topic.DEPENDENCY: "What became of the issues named",
    Topic.ARCHITECT: "Another design",
    Topic.BREAKDOWN: "What became of the parts",
    Topic.REVIEW: "The review",
}


def attempt_directory(attempts_dir: str, issue_id: str, number: int) -> str:
    """Return the folder of an attempt's logs and records."""
    return str(Path(attempts_dir) / slug(issue_id) / str(number))


def prior(attempt: PastAttempt) -> PriorFailure:
    """Return a failed attempt as the next worker is told of it."""
    failure = attempt.failure
    assert failure is not None  # noqa: S101 - the caller filtered
    return PriorFailure(
        number=attempt.number,
        model=attempt.model,
        kind=attempt.outcome,
        message=failure.message,
        location=failure.location,
        excerpt=failure.excerpt,
        failing_tests=failure.failing_tests,
        rule=failure.rule,
    )


def patch_of(context: RunContext, issue: Issue, number: int) -> str:
    """Return an attempt's diff against main, "" where there is none."""
    path = Path(attempt_directory(context.settings.attempts_dir, issue.id, number)) / "diff.patch"
    return (read_regular(path, _PATCH_BYTES_MAX) or b"").decode("utf-8", "replace")


def told_of(history: History) -> tuple[Told, ...]:
    """Return what was answered since the last attempt, and what holds from earlier: a design, the fate of parts."""
    last = history.current[-1].number if history.current else 0
    lasting = (Topic.ARCHITECT, Topic.BREAKDOWN, Topic.CLARIFICATION)
    usable = (AdviceOutcome.ADVISED, AdviceOutcome.PARTS_FAILED)
    found = [a for a in history.asked if a.outcome in usable and (a.after == last or a.topic in lasting)]
    return tuple(Told(_TITLES[advice.topic], _text(advice), advice.model) for advice in found if _text(advice))


def _text(advice: Advice) -> str:
    return "\n".join(part for part in (advice.cause, advice.text) if part)


def related_files(context: RunContext, history: History, commit: str) -> tuple[FileExcerpt, ...]:
    """Return the beginnings of the files that may help, as they are in `commit`."""
    plumbing, last = context.shop.plumbing, history.current[-1] if history.current else None
    named = tuple(path for advice in history.asked for path in advice.paths)
    tree = plumbing.tree(commit)
    failure = last.failure if last is not None else None
    matched = context_files(history.issue, failure, named, plumbing.paths(tree), _FILES_MAX)
    entries = plumbing.entries(commit, matched.paths)
    found = []
    with plumbing.blobs() as blobs:
        for path in matched.paths:
            mode, oid = entries.get(path, ("", ""))
            data = blobs.read(oid, _FILE_BYTES_MAX * 20) if mode.startswith("100") else None
            if data is not None and b"\0" not in data:
                found.append(FileExcerpt(path, data.decode("utf-8", "replace")[:_FILE_BYTES_MAX]))
    return tuple(found)
