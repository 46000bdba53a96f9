"""The page of `noface clean`: what went, what was kept, and why."""

from collections.abc import Callable, Iterable, Iterator, Sequence
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


def removal_lines(leftovers: Sequence[Leftover], width: int, *, dry_run: bool) -> list[str]:
    """Return the lines on what goes."""
    going = [each for each in leftovers if not each.why]
    if not going:
        return ["Nothing to clean."]
    freed = sum(each.size_bytes for each in going)
    title = "Would remove" if dry_run else "Removing"
    lines = [paint(f"{title} {size(freed)}:" if freed else f"{title}:", "title")]
    for name, things in _grouped(going, lambda each: each.issue):
        lines += hanging(_summary(things, sized=True), width, f"  {name}  " if name else "  ", "    ")
    return lines


def kept_lines(leftovers: Sequence[Leftover], width: int) -> list[str]:
    """Return the lines on what stays, with the reasons."""
    kept = [each for each in leftovers if each.why]
    if not kept:
        return []
    lines = ["", paint("Kept:", "title")]
    for name, things in _grouped(kept, lambda each: f"{each.issue}\0{each.why}"):
        issue, _, why = name.partition("\0")
        lines += hanging(f"{_summary(things, sized=False)}: {why}", width, f"  {issue}  " if issue else "  ", "    ")
    return lines


def _grouped(things: Iterable[Leftover], key: Callable[[Leftover], str]) -> Iterator[tuple[str, list[Leftover]]]:
    groups: dict[str, list[Leftover]] = {}
    for each in sorted(things, key=lambda each: natural_order(each.issue)):
        groups.setdefault(key(each), []).append(each)
    yield from groups.items()


def _summary(things: Sequence[Leftover], *, sized: bool) -> str:
    """Name branches and workspaces; only count refs, which nobody knows by name."""
    parts = [f"branch {clean(each.name)}" for each in things if each.what is What.BRANCH]
    refs = sum(each.what is What.REF for each in things)
    if refs:
        parts.append(count(refs, "ref"))
    for what, word in ((What.WORKSPACE, "workspace"), (What.FILES, "files of attempt")):
        sizes = {each.name: f" ({size(each.size_bytes)})" if sized else "" for each in things if each.what is what}
        parts += [f"{word} {clean(name)}{size_text}" for name, size_text in sizes.items()]
    return ", ".join(parts)
