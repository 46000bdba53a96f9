"""Issues as Markdown files in a folder of the repository, `issues/` by default.

Only `*.md` directly in the folder counts; README.md and names that begin with "_" or "." are ignored, so that a
draft can lie beside the issues. `007-login.md` is issue 007, `login.md` is issue login; `issue_file.py` says
what a file may hold. noface adds files when asked and never changes or removes one.
"""

import re
import stat
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from noface.data.trackers import TrackerSettings
from noface.errors import NofaceError, UsageError
from noface.model.backlog import check
from noface.model.issue import Backlog, Issue
from noface.model.listed import IssueFault
from noface.trackers.folder import (
    RACY_NS,
    IssueFile,
    create_file,
    fingerprint,
    is_issue_name,
    printable,
    read_regular,
    scan,
)
from noface.trackers.issue_file import (
    FILE_BYTES_MAX,
    ParsedFile,
    checked_draft,
    fault,
    issue_id,
    next_id,
    read_issue,
    rendered,
    slug,
    too_large,
)

_SET_ASIDE = re.compile(r"_([0-9]+)-")


def open_files(settings: TrackerSettings, root: Path, state: Path) -> "FilesTracker":
    del state
    return FilesTracker(root, settings.path)


class FilesTracker:
    """The tracker over the folder of a repository. It remembers what it parsed: unchanged files cost one listing."""

    def __init__(self, root: Path, folder: str = "issues") -> None:
        self._root = root
        self._path = root / folder
        self._folder = folder.rstrip("/")
        self._parsed: dict[str, tuple[IssueFile, ParsedFile]] = {}
        self._last: tuple[tuple[IssueFile, ...], frozenset[str], Backlog] | None = None

    @property
    def protected(self) -> tuple[str, ...]:
        return (f"{self._folder.strip('/')}/**",)

    def fingerprint(self) -> str:
        return fingerprint(self._root, self._folder)

    def backlog(self, merged: Collection[str] = ()) -> Backlog:
        """Read the issues of the folder; a missing folder is an empty backlog with a warning.

        Raises UsageError if the folder cannot be listed.
        """
        try:
            listed_ns, entries = time.time_ns(), scan(self._path)
        except OSError as error:
            hint = "The place of the issues must be a folder that you can read."
            raise UsageError(f"cannot list {self._folder}: {error.strerror}", hint) from error
        if entries is None:
            hint = f"Put Markdown files into {self._folder}/, file for each piece of work."
            return Backlog(warnings=(IssueFault(self._folder, f"there is no folder {self._folder}", hint),))
        landed = frozenset(merged)
        if self._last is not None and self._last[:2] == (entries, landed):
            return self._last[2]
        parsed = self._read_all(entries, listed_ns)
        issues = [file.result for file in parsed if isinstance(file.result, Issue)]
        faults = [file.result for file in parsed if isinstance(file.result, IssueFault)]
        warnings = tuple(warning for file in parsed for warning in file.warnings)
        backlog = replace(check(issues, faults, landed), warnings=warnings)
        # Only when every file is settled may the next listing stand for their contents.
        self._last = (entries, landed, backlog) if len(self._parsed) == len(entries) else None
        return backlog

    def read(self, source: str) -> Issue | None:
        """Return what one file says, whatever others do; None if it is gone or faulty by itself."""
        name = source.removeprefix(f"{self._folder}/")
        with suppress(OSError):
            status = (self._path / name).lstat()
            entry = IssueFile(name, 0, status.st_size, 0, status.st_mode, 0)
            if is_issue_name(name) and isinstance(result := self._read(entry).result, Issue):
                return result
        return None

    def add(self, draft: Issue, merged: Collection[str] = ()) -> Issue:
        """Write `<next number>-<slug>.md`; see Tracker.add."""
        try:
            names = [entry.name for entry in scan(self._path) or ()]
        except OSError as error:
            raise UsageError(f"cannot list {self._folder}: {error.strerror}", "Nothing was added.") from error
        sound = checked_draft(draft, [*map(issue_id, names), *merged])
        content = rendered(sound)

        def choose_name(present: Sequence[str]) -> str:
            aside = [match[1] for name in present if (match := _SET_ASIDE.match(name))]
            number = next_id([*(issue_id(name) for name in present if is_issue_name(name)), *aside, *merged])
            return f"{number}-{slug(sound.title)}.md"

        name = create_file(self._path, choose_name, content)
        result = read_issue(self._source(name), name, content).result
        if isinstance(result, IssueFault):
            raise NofaceError(f"{result.source} was added but is faulty: {result.problem}", result.hint)
        return result

    def _read_all(self, entries: Sequence[IssueFile], listed_ns: int) -> list[ParsedFile]:
        parsed: list[ParsedFile] = []
        settled_files: dict[str, tuple[IssueFile, ParsedFile]] = {}
        for entry in entries:
            known = self._parsed.get(entry.name)
            settled = listed_ns - entry.mtime_ns > RACY_NS
            if known is not None and known[0] == entry:
                file = known[1]
            else:
                try:
                    file = self._read(entry)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    settled = False
                    file = self._fault(entry.name, f"cannot be read: {error.strerror}", "Check its permissions.")
            parsed.append(file)
            if settled:
                settled_files[entry.name] = (entry, file)
        self._parsed = settled_files
        return parsed

    def _read(self, entry: IssueFile) -> ParsedFile:
        if not stat.S_ISREG(entry.mode):
            hint = "Move the folder, link or pipe away, or give it a name that begins with an underscore."
            return self._fault(entry.name, "is no regular file", hint)
        size = entry.size_bytes
        if size <= FILE_BYTES_MAX:
            data = read_regular(self._path / entry.name, FILE_BYTES_MAX + 1)
            if len(data) <= FILE_BYTES_MAX:
                return read_issue(self._source(entry.name), entry.name, data)
            size = len(data)
        return ParsedFile(too_large(self._source(entry.name), entry.name, size))

    def _fault(self, name: str, problem: str, hint: str) -> ParsedFile:
        return ParsedFile(fault(self._source(name), name, problem, hint))

    def _source(self, name: str) -> str:
        return f"{self._folder}/{printable(name)}"
