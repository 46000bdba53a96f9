"""Makes a slot ready: checkout, and `[project] setup` where the slot is new or its inputs changed.

A digest of the kept paths (node_modules, .venv) shows whether somebody has written there. It is of the file system's
facts about each file: size and mtime can be set back, ctime cannot. ctime also changes where a package store (uv, pnpm)
links a file into another project, so of a file with several names the content counts.
"""

import hashlib
import os
import select
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from noface.attempt.copied_setup import copy_setup
from noface.attempt.disk import as_disk_full, full_places
from noface.attempt.environment import AttemptEnvironment, MainSeen, Scope, SetupState
from noface.attempt.isolation import gate_box, gate_variables, shell_command
from noface.diagnosis.known_causes import final_error, killed_by, passing_cause
from noface.git.removal import remove, remove_below
from noface.git.workspace import Slot, checkout, give_git, in_use, submodules_in, write_forms
from noface.model.failure import SETUP_PASSING, Failure
from noface.model.patterns import matches_any
from noface.model.protection import always_protected
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import EndedBy
from noface.process.command import OnOutput
from noface.process.files import read_bounded, read_regular, write_atomic

_LINKED_FILES_MAX = 1 << 20


def kept_digest(paths: Iterable[Path]) -> str:
    """Return a digest of name, type, size, mtime, and ctime or content, of all files below `paths`."""
    digest = hashlib.sha256()
    for path in paths:
        for entry in _entries(os.fspath(path)):
            digest.update(repr(entry).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _entries(top: str) -> Iterator[tuple[str, int, int, int, int | str]]:
    pending = [top]
    while pending:
        path = pending.pop()
        try:
            status = os.lstat(path)
            if stat.S_ISDIR(status.st_mode):
                pending.extend(sorted((entry.path for entry in os.scandir(path)), reverse=True))
                continue
        except OSError:
            continue
        state: int | str = status.st_ctime_ns
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            state = _content(path, status.st_ino, status.st_size, status.st_ctime_ns)
        yield path, status.st_mode, status.st_size, status.st_mtime_ns, state


@lru_cache(maxsize=_LINKED_FILES_MAX)
def _content(path: str, _inode: int, _size: int, _ctime_ns: int) -> str:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - there are very many of them
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


_TAIL_BYTES = 8_000
_STAMP_BYTES_MAX = 64 << 20
_TAIL_LINES = 10
SETUP_FAILED = "setup-failed"
"""The rule of a setup that fails."""
INCOMPLETE = "workspace-incomplete"
"""The rule of a workspace that would hold less than a checkout of the person."""
SETUP_PAUSES_S = (2.0, 8.0)
_FINAL_LINES = 4
_SHOWN_MAX = 3
_FIRST_LOOK_S = 5.0
_LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Preparation:
    """Makes a slot ready; what it starts there is known by the `token`."""

    scope: Scope
    slot: Slot
    token: str

    def prepare(self, commit: str) -> Failure | None:
        """Check `commit` out in the slot and set it up; return why that failed, if it did."""
        env, slot = self.scope.env, self.slot
        _clear_beside(slot)
        if (missing := check_out(env, slot, commit)) is not None:  # it may have to empty the slot, with the stamp
            return missing
        stamp = setup_stamp(env, commit)
        if not env.setup.command or _is_set_up(slot, stamp):
            return None
        slot.setup_stamp.unlink(missing_ok=True)
        _unlink_kept(slot)
        copied = self._copied(stamp)
        failure = copied if isinstance(copied, Failure) else None
        if copied is False:
            # Tools look for a repository: husky sets its hooks up, setuptools-scm reads the version.
            give_git(slot, "setup", env.plumbing.resolve(commit) or env.plumbing.main())
            for pause in (*SETUP_PAUSES_S, 0.0):  # a cause that may pass is charged to nobody
                failure = self._set_up_once(commit)
                if failure is None or self.scope.cancel.cancelled or failure.rule != SETUP_PASSING:
                    break
                select.select([self.scope.cancel], [], [], pause)
        if failure is not None:
            return failure
        made = (path for path in slot.keep if os.path.lexists(slot.path / path))
        write_atomic(slot.setup_stamp, "\n".join((stamp, *made)))
        return None

    def _copied(self, stamp: str) -> Failure | bool:
        """Copy what setup made on main's tree, which is made first if that is due; a failure is that of setup."""
        env, slot = self.scope.env, self.slot
        source = env.setup_slot()
        if slot.name == source.name or not env.address:
            return False
        while not env.setting_up.acquire(timeout=_LOOK_S):  # another's setup may take long
            if self.scope.cancel.cancelled:
                return False
        try:
            if not _is_set_up(source, stamp) or not _kept_untouched(source):
                main = env.plumbing.main()
                if setup_stamp(env, main) != stamp:
                    return False
                forget_setup(source)
                failure = replace(self, slot=source).prepare_and_note(main)
                if failure is not None:
                    return failure
        finally:
            env.setting_up.release()
        return copy_setup(self.scope, source, slot)

    def prepare_for_gates(self, commit: str, main: str) -> Failure | None:
        """Check `commit` out for gates. The kept paths come from setup on main's tree, which no worker wrote (law 11).

        If the change itself alters a setup input (a new dependency), setup runs on the change, once.
        """
        env, slot, setup = self.scope.env, self.slot, bool(self.scope.env.setup.command)
        if not _kept_untouched(slot):
            forget_setup(slot)
        if setup_differs(env, commit, main):
            forget_setup(slot)
            failure = self.prepare_and_note(commit)
            slot.setup_stamp.unlink(missing_ok=True)  # the next use sets it up from main again
            if failure is None or failure.rule != SETUP_FAILED:
                return failure
            note = f"the change alters what [project] setup depends on, compared with main ({main[:12]})"
            message = f"{failure.message}, since the change alters what it depends on"
            evidence = (*failure.evidence, note)
            kind = FailureKind.RUNTIME_ERROR
            return replace(failure, kind=kind, message=message, charged=True, evidence=evidence)
        if setup and not _is_set_up(slot, setup_stamp(env, main)):
            forget_setup(slot)
            if (failure := self.prepare_and_note(main)) is not None:
                return failure
        failure = check_out(env, slot, commit)
        if failure is None and setup and _read(slot.setup_stamp) is None:  # the checkout had to empty the folder
            failure = self.prepare_and_note(main) or check_out(env, slot, commit)
        return failure

    def prepare_and_note(self, commit: str) -> Failure | None:
        failure = self.prepare(commit)
        if self.slot.keep:
            kept = kept_digest(self.slot.path / path for path in self.slot.keep)
            write_atomic(self.slot.kept_stamp, kept, durable=False)
        return failure

    def _set_up_once(self, commit: str) -> Failure | None:
        """Run setup; its word for a full disk is believed if there is no room, or where it set up what main has."""
        env, slot = self.scope.env, self.slot
        log = slot.private_git_dir / "setup.log"
        place = gate_box(env, slot, gate_variables(env, env.setup.env_pass, self.token), slot.private_git_dir)
        limit, boxed = env.setup.timeout_s, env.setup.boxed
        command = shell_command(env, env.setup.command, slot.path, (log, log), place, timeout_s=limit, boxed=boxed)
        self.scope.send(MainSeen("", env.setup.command, state=SetupState.BEGINS))
        look = looking(env, log, lambda line, seconds: self.scope.send(MainSeen("", line, seconds)))
        ended = env.launcher.run(command, self.scope.cancel, look)
        if ended.exit_code == 0 and ended.ended_by is EndedBy.ITSELF:
            self.scope.send(MainSeen("", "", ended.seconds, SetupState.DONE))
            return None
        how = ended.error or f"ended with exit code {ended.code}"
        if ended.ended_by is EndedBy.TIMEOUT:
            how = f"did not end within {env.setup.timeout_s:.0f} s"
        tail = env.masker.text(read_bounded(log, 0, _TAIL_BYTES)) if log.exists() else ""
        last = final_error(reversed([line for line in tail.splitlines() if line.strip()][-_FINAL_LINES:]))
        by_limit = ended.ended_by is not EndedBy.ITSELF or ended.output_limit or bool(ended.out_of_memory)
        from_outside = ended.error if ended.ended_by is EndedBy.LOST else "" if by_limit else killed_by(ended.code)
        cause = passing_cause(tail) or from_outside
        hope = f"; it may pass: {cause}" if cause else ""
        failure = Failure(
            FailureKind.ENVIRONMENT,
            f"[project] setup `{env.setup.command}` {how}{hope}",
            rule=SETUP_PASSING if cause else SETUP_FAILED,
            evidence=(*tail.splitlines()[-_TAIL_LINES:], f"log: {log}"),
            excerpt=tail,
            signature=SETUP_FAILED,
            charged=False,
        )
        if last is None or not last.disk_full:
            return failure
        places = full_places(env)
        on_main = env.plumbing.is_ancestor(env.plumbing.resolve(commit) or commit, env.plumbing.main())
        return as_disk_full(failure, last, places) if places or on_main else failure


def _is_set_up(slot: Slot, stamp: str) -> bool:
    then, *made = (_read(slot.setup_stamp) or "").split("\n")
    return then == stamp and all(os.path.lexists(slot.path / path) for path in made)


def setup_differs(env: AttemptEnvironment, commit: str, main: str) -> bool:
    """True if a commit changes what setup depends on: where setup fails then, it fails by that change."""
    return bool(env.setup.command) and setup_stamp(env, commit) != setup_stamp(env, main)


def _clear_beside(slot: Slot) -> None:
    """Remove what a worker put in the folders above: agents and tools read settings and instructions there."""
    own = slot.path.name
    with os.scandir(slot.path.parent) as entries:
        planted = [entry.path for entry in entries if entry.name != own and not entry.name.startswith(f"{own}.")]
    with os.scandir(slot.path.parent.parent) as entries:
        planted += [entry.path for entry in entries if matches_any(entry.name, always_protected())]
    for path in planted:
        remove(Path(path))


def check_out(env: AttemptEnvironment, slot: Slot, commit: str) -> Failure | None:
    """Check a commit out as a checkout of the person would hold it; return why that cannot be."""
    checkout(slot, commit)
    with in_use(slot) as git:
        inner = submodules_in(slot, git, commit)
        why = write_forms(slot, env.plumbing, git, commit, env.plumbing.main())
    behind = tuple(f"{one.path} at {one.commit[:12]}" for one in inner if one.git_dir is not None and not one.whole)
    if behind:
        why = f"`git submodule update --init --recursive` has to fetch {some(behind, _SHOWN_MAX)}"
    if not why:
        return None
    message = f"workspaces cannot hold what a checkout does: {why}"
    return Failure(FailureKind.ENVIRONMENT, message, rule=INCOMPLETE, signature=INCOMPLETE, charged=False)


def forget_setup(slot: Slot) -> None:
    slot.setup_stamp.unlink(missing_ok=True)
    slot.kept_stamp.unlink(missing_ok=True)
    for path in slot.keep:
        remove_below(slot.path, path)


def _unlink_kept(slot: Slot) -> None:
    """Remove kept paths that are links, or lie behind one that leads out: setup outside a sandbox would empty them."""
    inside = os.path.realpath(slot.path) + "/"
    for path in map(Path, slot.keep):
        for place in (*reversed(list(path.parents)[:-1]), path):
            here = slot.path / place
            if here.is_symlink() and (place == path or not os.path.realpath(here).startswith(inside)):
                remove_below(slot.path, str(place))
                break


def _kept_untouched(slot: Slot) -> bool:
    if not slot.keep:
        return True
    if any((slot.path / parent).is_symlink() for path in slot.keep for parent in list(Path(path).parents)[:-1]):
        return False
    return (_read(slot.kept_stamp) or kept_digest(())) == kept_digest(slot.path / path for path in slot.keep)


def setup_stamp(env: AttemptEnvironment, commit: str) -> str:
    """Return what names the inputs of setup on a commit or tree: what it makes there, as far as that is up to it."""
    if not env.setup.command:
        return ""
    globs = tuple(path for path in env.setup.inputs if any(mark in path for mark in "*?["))
    found = tuple(path for path in env.plumbing.paths(commit) if matches_any(path, globs)) if globs else ()
    named = tuple(path for path in env.setup.inputs if path not in globs)
    entries = sorted(env.plumbing.entries(commit, (*named, *found)).items())
    return hashlib.sha256(repr((env.setup.command, entries)).encode("utf-8", "surrogateescape")).hexdigest()


def _read(stamp: Path) -> str | None:
    data = read_regular(stamp, _STAMP_BYTES_MAX)
    return data.decode("utf-8", "replace") if data is not None else None


def looking(env: AttemptEnvironment, log: Path, tell: Callable[[str, float], None]) -> OnOutput:
    """Return what tells how far a command is, by its last line and seconds, each time after twice as long."""
    began, due = time.monotonic(), _FIRST_LOOK_S

    def look() -> float:
        nonlocal due
        now = time.monotonic()
        if now - began >= due:
            due *= 2
            lines = env.masker.text(read_bounded(log, 0, _TAIL_BYTES)).splitlines() if log.exists() else []
            last = next((line.strip() for line in reversed(lines) if line.strip()), "")
            tell(last, now - began)
        return now

    return look
