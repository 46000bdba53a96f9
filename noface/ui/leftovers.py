"""The page of `noface clean`: what went, what was kept, and why."""

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


@dataclass(frozen=True, slots=True)
class Removed:
    """Something that goes; `bytes` is null for branches and refs, which take no room of their own."""

    what: What
    name: str
    issue: str | None
    bytes: int | None


@dataclass(frozen=True, slots=True)
class KeptLeftover:
    """Something that stays, and why."""

    what: What
    name: str
    issue: str | None
    why: str


@dataclass(frozen=True, slots=True)
class CleanDocument:
    """What `noface clean --json` prints."""

    dry_run: bool
    clean: tuple[Removed, ...]
    kept: tuple[KeptLeftover, ...]


def clean_document(leftovers: Sequence[Leftover], *, dry_run: bool) -> CleanDocument:
    """Return the document of `noface clean --json`."""
    sized = (What.WORKSPACE, What.FILES)
    return CleanDocument(
        dry_run=dry_run,
        clean=tuple(
            Removed(each.what, each.name, each.issue or None, each.size_bytes if each.what in sized else None)
            for each in leftovers
            if not each.why
        ),
        kept=tuple(KeptLeftover(each.what, each.name, each.issue or None, each.why) for each in leftovers if each.why),
    )


def clean_page(document: CleanDocument, width: int) -> list[str]:
    """Return the lines on what goes, then on what stays, with the reasons."""
    lines = ["Nothing to clean."]
    if document.clean:
        freed = sum(each.bytes or 0 for each in document.clean)
        title = "Would remove" if document.dry_run else "Removing"
        lines = [paint(f"{title} {size(freed)}:" if freed else f"{title}:", "title")]
    for issue, _, going in _grouped(document.clean):
        lines += hanging(_summary(going), width, f"  {issue}  " if issue else "  ", "    ")
    lines += ["", paint("Kept:", "title")] if document.kept else []
    for issue, why, kept in _grouped(document.kept):
        lines += hanging(f"{_summary(kept)}: {why}", width, f"  {issue}  " if issue else "  ", "    ")
    return lines


def _grouped(things: Iterable[Removed | KeptLeftover]) -> Iterator[tuple[str, str, list[Removed | KeptLeftover]]]:
    """Yield those of one issue that have one reason to be kept."""
    groups: dict[tuple[str, str], list[Removed | KeptLeftover]] = {}
    for each in sorted(things, key=lambda each: natural_order(each.issue or "")):
        groups.setdefault((each.issue or "", each.why if isinstance(each, KeptLeftover) else ""), []).append(each)
    yield from ((issue, why, group) for (issue, why), group in groups.items())


def _summary(things: Sequence[Removed | KeptLeftover]) -> str:
    """Name branches and workspaces, with the room they take; only count refs, which nobody knows by name."""
    parts = [f"branch {clean(each.name)}" for each in things if each.what is What.BRANCH]
    refs = sum(each.what is What.REF for each in things)
    if refs:
        parts.append(count(refs, "ref"))
    for what, word in ((What.WORKSPACE, "workspace"), (What.FILES, "files of attempt")):
        for each in things:
            room = f" ({size(each.bytes or 0)})" if isinstance(each, Removed) else ""
            parts += [f"{word} {clean(each.name)}{room}"] if each.what is what else []
    return ", ".join(parts)
