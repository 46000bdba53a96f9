"""Issues of beads (`bd`), which noface reads and never writes: `bd export`, or the file `.beads/issues.jsonl`."""

import os
import shlex
import stat
import subprocess
import time
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path

from noface.data.trackers import TrackerSettings
from noface.errors import UsageError
from noface.extras.beads.file import FILE_NAMES, find, fingerprint, in_dolt, is_older, stamp
from noface.extras.beads.issue import Beads, read_beads
from noface.model.backlog import checked, part_waiting
from noface.model.issue import Backlog, Issue
from noface.model.listed import IssueFault
from noface.trackers.folder import RACY_NS, read_regular

FILE_BYTES_MAX = 256 * 1_048_576
_ASKED_S, _SAID_CHARS_MAX = 20.0, 300


def open_beads(settings: TrackerSettings, root: Path, _state: Path) -> "BeadsTracker":
    return BeadsTracker(root, settings.path, settings.gates)


class BeadsTracker:
    """The tracker over a beads folder. It remembers what it parsed: an unchanged file costs a look at it."""

    def __init__(self, root: Path, folder: str = ".beads", gates: tuple[str, ...] = ()) -> None:
        self._root, self._path = root, root / folder
        self._folder = folder.rstrip("/")
        self._gates = gates
        self._known: tuple[object, Beads] | None = None

    @property
    def protected(self) -> tuple[str, ...]:
        return (f"{self._folder.strip('/')}/**",)

    def fingerprint(self) -> str:
        return fingerprint(self._path, self._gates)

    def backlog(self, merged: Collection[str] = ()) -> Backlog:
        """Read the issues; a missing file is an empty backlog with a warning. Raises UsageError."""
        path, dolt = find(self._path), in_dolt(self._path)
        if path is None and not dolt:
            hint = "`bd init` makes one; [tracker] path says where it is, if it is elsewhere."
            problem = f"there is no {FILE_NAMES[0]} in {self._folder}"
            return Backlog(warnings=(IssueFault(self._folder, problem, hint),))
        beads = self._exported() if path is None or dolt or is_older(path) else self._read(path)
        hint = "Set that to open with `bd update`, close it, or take the dependency out."
        sound, waiting = part_waiting(beads.issues, beads.aside, merged, hint)
        return replace(checked(sound, [*beads.faults, *waiting], merged, beads.done), warnings=beads.warnings)

    def add(self, draft: Issue, merged: Collection[str] = ()) -> Issue:  # noqa: ARG002 - Tracker.add has it
        """Refuse: beads has a database beside the file. Raises UsageError with the command that adds the issue."""
        command = ["bd", "create", draft.title, "-p", str(min(draft.priority, 4))]
        command += ["-l", ",".join(draft.labels)] if draft.labels else []
        command += ["-d", draft.body] if draft.body else []
        command += ["--deps", ",".join(draft.depends_on)] if draft.depends_on else []
        raise UsageError("noface does not write to beads", f"Nothing was added. Add it with: {shlex.join(command)}")

    def _exported(self) -> Beads:
        """Ask bd itself, since the file may be an old copy; if it does not answer, what it said before still counts."""
        mark = self.fingerprint()
        if self._known is not None and self._known[0] == mark:
            return self._known[1]
        asked = _asked(self._root)
        if isinstance(asked, bytes):
            beads = read_beads("bd", asked, self._gates)
            self._known = (mark, beads)
            return beads
        problem = f"beads keeps its issues in a database, of which {FILE_NAMES[0]} may be an old copy, and {asked}"
        if self._known is None:
            raise UsageError(problem, "`bd export` has to answer here: it says what is open.")
        beads = self._known[1]
        return replace(beads, warnings=(*beads.warnings, IssueFault(self._folder, problem, "It is asked again.")))

    def _read(self, path: Path) -> Beads:
        looked_ns = time.time_ns()
        mark = stamp(path)
        if self._known is not None and mark is not None and self._known[0] == mark:
            return self._known[1]
        place = f"{self._folder}/{path.name}"
        if mark is not None and not stat.S_ISREG(mark[-1]):
            raise UsageError(f"{place} is no regular file", "Let [tracker] path name the folder of the file itself.")
        try:
            data = read_regular(path, FILE_BYTES_MAX + 1)
        except OSError as error:
            raise UsageError(f"cannot read {place}: {error.strerror}", "Check its permissions.") from error
        if len(data) > FILE_BYTES_MAX:
            raise UsageError(f"{place} has more than {FILE_BYTES_MAX} bytes", "`bd compact` makes it smaller.")
        beads = read_beads(place, data, self._gates)
        settled = mark is not None and looked_ns - mark[1] > RACY_NS and mark == stamp(path)
        self._known = (mark, beads) if settled else None
        return beads


def _asked(root: Path) -> bytes | str:
    """Return what `bd export` prints, or why it prints nothing."""
    env = os.environ | {"BEADS_NO_DAEMON": "1", "BD_NON_INTERACTIVE": "1"}
    run = partial(subprocess.run, cwd=root, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=_ASKED_S)
    try:
        asked = run(["bd", "export"], check=True)
    except FileNotFoundError:
        return "bd is not on PATH"
    except subprocess.CalledProcessError as error:
        said = " ".join(error.stderr.decode("utf-8", "replace").split())[-_SAID_CHARS_MAX:]
        return f"bd export fails: {said or f'exit code {error.returncode}'}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bd export does not answer: {error}"
    return asked.stdout if len(asked.stdout) <= FILE_BYTES_MAX else f"bd export prints more than {FILE_BYTES_MAX} bytes"
