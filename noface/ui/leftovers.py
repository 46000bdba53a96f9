"""The page of `noface tools clean`: what went, what was kept, and why."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from noface.model.backlog import natural_order
from noface.ui.page import paint
from noface.ui.text import clean, count, hanging, size


class What(StrEnum):
    """What kind of thing is left over."""

    WORKSPACE = "workspace"
    BRANCH = "branch"
    REF = "ref"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class Leftover:
    """One thing that noface made. `why` is the reason it is kept, "" where it may go; `issue` is an id or ""."""

    what: What
    name: str
    issue: str = ""
    oid: str = ""
    size_bytes: int = 0
    why: str = ""

    @property
    def bytes(self) -> int | None:
        """The room it takes; None for branches and refs, which take none of their own."""
        return self.size_bytes if self.what in (What.WORKSPACE, What.FILES) else None


def clean_document(leftovers: Sequence[Leftover], *, dry_run: bool) -> dict[str, object]:
    named = [({"what": each.what, "name": each.name, "issue": each.issue or None}, each) for each in leftovers]
    return {
        "dry_run": dry_run,
        "clean": [{**name, "bytes": each.bytes} for name, each in named if not each.why],
        "kept": [{**name, "why": each.why} for name, each in named if each.why],
    }


def clean_page(leftovers: Sequence[Leftover], width: int, *, dry_run: bool) -> list[str]:
    """Return the lines on what goes, then on what stays, with the reasons."""
    lines = ["Nothing to clean."]
    going, kept = [each for each in leftovers if not each.why], [each for each in leftovers if each.why]
    if going:
        freed = sum(each.bytes or 0 for each in going)
        title = "Would remove" if dry_run else "Removing"
        lines = [paint(f"{title} {size(freed)}:" if freed else f"{title}:", "title")]
    for issue, _, group in _grouped(going):
        lines += hanging(_summary(group), width, f"  {issue}  " if issue else "  ", "    ")
    lines += ["", paint("Kept:", "title")] if kept else []
    for issue, why, group in _grouped(kept):
        lines += hanging(f"{_summary(group)}: {why}", width, f"  {issue}  " if issue else "  ", "    ")
    return lines


def _grouped(leftovers: Iterable[Leftover]) -> Iterator[tuple[str, str, list[Leftover]]]:
    groups: dict[tuple[str, str], list[Leftover]] = {}
    for each in sorted(leftovers, key=lambda each: natural_order(each.issue)):
        groups.setdefault((each.issue, each.why), []).append(each)
    yield from ((issue, why, group) for (issue, why), group in groups.items())


def _summary(things: Sequence[Leftover]) -> str:
    """Name branches and workspaces, with the room they take; only count refs, which nobody knows by name."""
    parts = [f"branch {clean(each.name)}" for each in things if each.what is What.BRANCH]
    refs = sum(each.what is What.REF for each in things)
    if refs:
        parts.append(count(refs, "ref"))
    for what, word in ((What.WORKSPACE, "workspace"), (What.FILES, "files of attempt")):
        for each in things:
            room = f" ({size(each.bytes or 0)})" if not each.why else ""
            parts += [f"{word} {clean(each.name)}{room}"] if each.what is what else []
    return ", ".join(parts)
