"""Runs git. The only module that imports GitPython, and of it only the command wrapper.

* sealed: no user or system configuration, no hooks, no prompts, and an environment made for it. Everything noface does
  on its own account (docs/facts.md, "Sealed git").
* user: the person's own HOME and configuration; to look at their repository, and to move files in their checkout.
"""

import os
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from signal import SIGINT, SIGKILL
from typing import IO, Any, Self

from noface.errors import GitError

GIT_SECONDS_MAX = 600.0
_AGAIN_MAX = 2
"""So often a command is begun again that Ctrl-C ended: it had no session of its own yet, and had done nothing."""

_SEALED_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.fsync=pack,pack-metadata,reference",  # what refs hold lies in packs (own_objects.py)
    "core.untrackedCache=false",
    "core.quotePath=false",
    "core.logAllRefUpdates=false",
    "core.filesRefLockTimeout=3000",
    "core.packedRefsTimeout=3000",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "commit.gpgSign=false",
    "submodule.recurse=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
)
# Where a person's configuration stands; every other GIT_* variable may come from a hook or an alias.
_USER_CONFIG_VARIABLES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


@dataclass(frozen=True, slots=True)
class Output:
    """What a git command answered. `stdout` is bytes: paths need not be UTF-8."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    @property
    def parts(self) -> list[str]:
        return [part for part in self.stdout.decode("utf-8", "surrogateescape").split("\0") if part]

    def problem(self, name: str) -> str:
        return "" if self.code == 0 else self.stderr.strip() or f"{name} ended with code {self.code}"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who commits are by."""

    name: str = "noface"
    email: str = "noface@localhost"


@dataclass(frozen=True, slots=True)
class Git:
    """A git that runs in `cwd` with the variables of `environment`: with these `alone`, or beside noface's own.

    Others can read arguments, and there may be tokens in variables. `inherit` are descriptors that its processes hold.
    """

    cwd: str
    environment: tuple[tuple[str, str], ...] = field(repr=False)
    alone: bool = False
    options: tuple[str, ...] = ()
    seconds_max: float = GIT_SECONDS_MAX
    inherit: tuple[int, ...] = ()

    @classmethod
    def sealed(
        cls,
        git_dir: str,
        *,
        work_tree: str | None = None,
        objects: str | None = None,
        identity: Identity | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> Self:
        """Make a git that sees only `git_dir` (and the object store `objects`) and runs nobody's programs."""
        who = identity or Identity()
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": "/nonexistent",
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_DIR": git_dir,
            "GIT_AUTHOR_NAME": who.name,
            "GIT_AUTHOR_EMAIL": who.email,
            "GIT_COMMITTER_NAME": who.name,
            "GIT_COMMITTER_EMAIL": who.email,
        }
        if work_tree is not None:
            env["GIT_WORK_TREE"] = work_tree
        if objects is not None:
            env["GIT_OBJECT_DIRECTORY"] = objects
        env.update(extra or {})
        options = tuple(part for setting in _SEALED_CONFIG for part in ("-c", setting))
        return cls(work_tree or git_dir, tuple(env.items()), alone=True, options=options)

    @classmethod
    def user(cls, cwd: str, *, extra: Mapping[str, str] | None = None, inherit: tuple[int, ...] = ()) -> Self:
        env = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", **(extra or {})}
        options = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
        return cls(cwd, tuple(env.items()), options=options, inherit=inherit)

    def argv(self, *args: str) -> list[str]:
        """Return the command line; `-C`, since GitPython runs it elsewhere if the process's folder is gone."""
        left = {*_USER_CONFIG_VARIABLES, *(name for name, _ in self.environment)}
        foreign = [] if self.alone else [name for name in os.environ if name.startswith("GIT_") and name not in left]
        unset = ["env", *(part for name in foreign for part in ("-u", name))] if foreign else []
        return [*unset, "git", "-C", self.cwd, *self.options, *args]

    def run(self, *args: str, stdin: bytes | str | None = None) -> Output:
        """Run `git args` and return what it answered, whatever its exit code."""
        if stdin is None:
            return self._execute(args, None)
        import tempfile  # slow to import, and commands that only look do without

        with tempfile.TemporaryFile() as feed:
            feed.write(stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin)
            return self._execute(args, feed)

    def answer(self, *args: str, stdin: bytes | str | None = None, codes: tuple[int, ...] = (0,)) -> Output:
        output = self.run(*args, stdin=stdin)
        if output.code not in codes:
            raise failed(args, output)
        return output

    def ask(self, *args: str, stdin: bytes | str | None = None) -> str:
        return self.answer(*args, stdin=stdin).text

    def open(self, *args: str, stdin: IO[bytes] | int = subprocess.PIPE) -> Any:
        """Start `git args` with pipes, or `stdin`, in a session of its own: Ctrl-C must not cut it in half."""
        argv, env, keep, pipe = self.argv(*args), dict(self.environment), self.inherit, subprocess.PIPE
        if self.alone:
            return subprocess.Popen(
                argv, stdin=stdin, stdout=pipe, stderr=pipe, env=env, start_new_session=True, pass_fds=keep
            )
        import git

        wrapper: Any = git.cmd.Git("/")
        started = wrapper.execute(argv, istream=stdin, as_process=True, env=env, start_new_session=True, pass_fds=keep)
        process, started.proc = started.proc, None  # else the process ends once the wrapper is forgotten
        return process

    def _execute(self, args: tuple[str, ...], feed: IO[bytes] | None) -> Output:
        output = self._begun(args, feed)
        again = _AGAIN_MAX
        while output.code == -SIGINT and again:
            output, again = self._begun(args, feed), again - 1
        return output

    def _begun(self, args: tuple[str, ...], feed: IO[bytes] | None) -> Output:
        if feed is not None:
            feed.seek(0)
        process = self.open(*args, stdin=feed or subprocess.DEVNULL)
        try:
            stdout, stderr = process.communicate(timeout=self.seconds_max)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, SIGKILL)
            stdout, stderr = process.communicate()
            stderr = f"it took longer than {self.seconds_max:g} s".encode()
        return Output(process.returncode, stdout, stderr.decode("utf-8", "replace").removesuffix("\n"))


def failed(args: tuple[str, ...], output: Output) -> GitError:
    words = " ".join([word for word in args if not word.startswith("-")][:3])
    return GitError(f"git {words} failed with code {output.code}: {output.stderr.strip() or '(no message)'}")


class GitProcess:
    """A git process that answers through pipes, begun when asked and anew if it has ended; threads may share it."""

    _command: tuple[str, ...]

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = threading.Lock()
        self._process: Any = None

    def __del__(self) -> None:
        self._end()

    def close(self) -> None:
        with self._lock:
            self._end()

    def _running(self) -> Any:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = self._git.open(*self._command)
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        end_process(process)


def end_process(process: Any) -> None:
    """Close a process's input, wait for its end and close the rest; None, or one that is gone already, is fine."""
    if process is None:
        return
    try:
        process.stdin.close()
    except OSError:
        pass  # it died, and what was written last cannot be flushed
    process.wait()
    process.stdout.close()
    process.stderr.close()
