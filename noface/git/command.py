"""Runs git. The only module that imports GitPython, and of it only the command wrapper.

Every command runs as `env -i … git …`: GitPython copies noface's own environment, which may hold GIT_DIR and
friends when noface was started from a hook or an alias. Two kinds of git exist:

* sealed: no user or system configuration, no hooks, no fsmonitor, no prompts, durable objects. Everything noface
  does on its own account (SAFETY: "the safe design").
* user: the person's own HOME and configuration; to look at their repository, and to move files in their checkout.
"""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from noface.errors import GitError

GIT_SECONDS_MAX = 600.0

_SEALED_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.fsync=committed,loose-object,reference",
    "core.untrackedCache=false",
    "core.quotePath=false",
    "core.logAllRefUpdates=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "commit.gpgSign=false",
    "submodule.recurse=false",
)


@dataclass(frozen=True, slots=True)
class Output:
    """What a git command answered. `stdout` is bytes: paths need not be UTF-8."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        """Standard output as text, without the last newline."""
        return self.stdout.decode("utf-8", "surrogateescape").rstrip("\n")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who commits are by."""

    name: str = "noface"
    email: str = "noface@localhost"


@dataclass(frozen=True, slots=True)
class Git:
    """A git with a fixed environment; `cwd` is where it runs."""

    cwd: str
    env: tuple[tuple[str, str], ...]
    options: tuple[str, ...] = ()
    seconds_max: float = field(default=GIT_SECONDS_MAX)

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
        return cls(cwd=work_tree or git_dir, env=tuple(env.items()), options=options)

    @classmethod
    def user(cls, cwd: str, *, extra: Mapping[str, str] | None = None) -> Self:
        """Make a git that acts as the person at `cwd`: their configuration, but no inherited GIT_* variables."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        env |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", **(extra or {})}
        options = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
        return cls(cwd=cwd, env=tuple(env.items()), options=options)

    def argv(self, *args: str) -> list[str]:
        """Return the full command line of `git args`."""
        return ["env", "-i", *(f"{key}={value}" for key, value in self.env), "git", *self.options, *args]

    def run(self, *args: str, stdin: bytes | None = None) -> Output:
        """Run `git args` and return what it answered, whatever its exit code."""
        with tempfile.TemporaryFile() as feed:
            if stdin is not None:
                feed.write(stdin)
                feed.seek(0)
            code, stdout, stderr = self._wrapper().execute(
                self.argv(*args),
                istream=feed if stdin is not None else None,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                kill_after_timeout=self.seconds_max,
                start_new_session=True,  # Ctrl-C in the terminal must not cut a git command in half
            )
        return Output(code, bytes(stdout), str(stderr))

    def ask(self, *args: str, stdin: bytes | None = None) -> str:
        """Run `git args` and return its output as text; raise GitError where it fails."""
        output = self.run(*args, stdin=stdin)
        if output.code != 0:
            raise failed(args, output)
        return output.text

    def open(self, *args: str) -> Any:
        """Start `git args` with pipes at its three ends and return the process."""
        import subprocess

        return self._wrapper().execute(
            self.argv(*args), istream=subprocess.PIPE, as_process=True, start_new_session=True
        )

    def _wrapper(self) -> Any:
        import git

        return git.cmd.Git(self.cwd)


def failed(args: tuple[str, ...], output: Output) -> GitError:
    """Return the error for a git command that should not have failed."""
    words = " ".join(args[:3])
    return GitError(f"git {words} failed with code {output.code}: {output.stderr.strip() or '(no message)'}")
