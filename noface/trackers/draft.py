"""Drafts of issues: whether one would be sound, which number it gets, and how it is written down."""

from collections.abc import Collection, Iterable

from noface.core.backlog import id_problem, number_of, same_id, unknown_dependency
from noface.core.issue import DEFAULT_PRIORITY, IssueFault
from noface.errors import UsageError
from noface.trackers.base import IssueDraft
from noface.trackers.issue_file import read_issue

DEFAULT_WIDTH = 3
"""Digits of the first number of a backlog without numbers: 001."""


def checked_draft(draft: IssueDraft, known: Collection[str]) -> IssueDraft:
    """Return the draft as it is stored: its dependencies by their ids in `known`, its text cleaned.

    Raises UsageError naming everything wrong with it.
    """
    from noface.trackers.front_matter import validate

    matter, found = validate(_values(draft))
    problems = [problem for _, problem in found]
    if any("\ud800" <= char <= "\udfff" or char == "\0" for char in draft.body):
        problems.append("the body holds characters that no text file can (NUL or half of a surrogate pair)")
    by_id = {same_id(name): name for name in known}
    for name in draft.depends_on:
        if same_id(name.strip()) not in by_id:
            problem, hint = unknown_dependency(name, known)
            problems.append(f"{problem} ({hint.rstrip('.')})")
    if matter is None or matter.title is None or problems:
        raise _refusal("; ".join(problems))
    checked = IssueDraft(
        title=matter.title,
        body=draft.body.replace("\r\n", "\n").replace("\r", "\n").strip("\n"),
        labels=tuple(dict.fromkeys(matter.labels)),
        priority=matter.priority,
        depends_on=tuple(dict.fromkeys(by_id[same_id(name)] for name in matter.depends_on)),
        paths=tuple(matter.paths),
        accept=tuple(matter.accept),
        model=matter.model,
    )
    # Whatever rule a reader has, a draft that passes here will be read back.
    outcome = read_issue("the draft", "1-draft.md", rendered(checked)).found
    if isinstance(outcome, IssueFault):
        raise _refusal(outcome.problem)
    return checked


def rendered(draft: IssueDraft) -> bytes:
    """Write the file's content: front matter with the title and what differs from the defaults, then the body."""
    import tomli_w

    body = f"\n{draft.body}\n" if draft.body else ""
    return f"+++\n{tomli_w.dumps(_values(draft))}+++\n{body}".encode()


def next_id(used: Iterable[str]) -> str:
    """Return the number above all numeric ids of `used`, padded with zeros as they are.

    Raises UsageError where that number is too long for an id.
    """
    numbers = [name for name in used if number_of(name) is not None and id_problem(name) is None]
    padded = [len(name) for name in numbers if name.startswith("0") and len(name) > 1]
    width = max(padded, default=1) if numbers else DEFAULT_WIDTH
    following = str(max(map(int, numbers), default=0) + 1).zfill(width)
    if problem := id_problem(following):
        raise UsageError(
            f"there is no number left: {problem}", "Give the issue with the largest number a name instead."
        )
    return following


def _refusal(problems: str) -> UsageError:
    return UsageError(f"this issue cannot be added: {problems}", "Nothing was written. Correct it and add it again.")


def _values(draft: IssueDraft) -> dict[str, object]:
    values: dict[str, object] = {"title": draft.title}
    if draft.priority != DEFAULT_PRIORITY:
        values["priority"] = draft.priority
    for key in ("labels", "depends_on", "paths", "accept"):
        if entries := getattr(draft, key):
            values[key] = list(entries)
    if draft.model is not None:
        values["model"] = draft.model
    return values
