"""The error tree: what went wrong, what to do about it, and the exit code it leads to.

Every error a person can cause or mend is a NofaceError. The command line prints its message and hint and
exits with its code; anything else is a bug of noface and shows as one.
"""

import errno
from typing import ClassVar

EXIT_DONE = 0
EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_ATTENTION = 3
EXIT_LIMIT = 4
EXIT_INTERRUPTED = 130


_GO_ON = "Nothing is lost; the next `noface run` goes on."
OF_THE_MACHINE = {
    errno.ENOSPC: f"Make room on the disk. {_GO_ON}",
    errno.EDQUOT: f"Make room within your quota. {_GO_ON}",
    errno.EROFS: f"The git folder and the workspaces must be writable: mount them read-write. {_GO_ON}",
    errno.EIO: f"The disk reported an error: see the system log. {_GO_ON}",
    errno.EMFILE: f"Too many files are open: raise `ulimit -n`. {_GO_ON}",
    errno.ENFILE: f"Too many files are open on this machine. {_GO_ON}",
    errno.ENAMETOOLONG: "No file has so long a name: give a shorter one.",
    errno.ENOMEM: f"Memory has run out: run fewer workers at once. {_GO_ON}",
}
"""What a person does about an error of the system that is nobody's bug, by its number."""


class NofaceError(Exception):
    """Something a person should read: `message` says what is wrong, `hint` what to do next."""

    exit_code: ClassVar[int] = EXIT_FAILURE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def reason(self) -> str:
        return f"{self.message.rstrip('.')}. {self.hint}".strip()


class UsageError(NofaceError):
    """The command or the repository is not in a state noface can work with; nothing was changed."""

    exit_code = EXIT_USAGE


class ConfigError(UsageError):
    """noface.toml is missing or wrong; the message lists every problem found."""


class LockedError(UsageError):
    """Another noface holds this repository."""


class LockLostError(NofaceError):
    """What this noface had locked, or keeps its state in, was removed or replaced; it has stopped."""


class BaselineRedError(NofaceError):
    """A hard gate fails on main before any work was done (kind BASELINE_RED)."""

    exit_code = EXIT_ATTENTION


class GitError(NofaceError):
    """A git command failed in a way noface has no answer to."""


class SigningError(NofaceError):
    """A commit cannot be signed with the person's key: it is missing, locked, or its program asks for something."""


class DiskFullError(NofaceError):
    """A disk has no room left; a run that met it stops in good order."""


class RefLockedError(GitError):
    """A ref cannot be moved, since a lock file of another git stands in the way; the message names it."""


class ForgeError(NofaceError):
    """The code host refused something, for good: until a person changes a permission, a name, a setting."""


class ForgeAwayError(ForgeError):
    """The code host does not answer now: an outage, or a rate limit. `until` says when to ask again (epoch seconds)."""

    def __init__(self, message: str, until: float, hint: str = "") -> None:
        super().__init__(message, hint)
        self.until = until

    @property
    def reason(self) -> str:
        """What is wrong: there is nothing to do but to wait."""
        return self.message


class RemoteError(GitError):
    """A git remote cannot be fetched from, or does not take a push. Nothing is lost: the next run tries again.

    `passing`: it goes by itself. `cause` is a value of `git.remote_causes.RemoteCause`.
    """

    def __init__(self, message: str, hint: str = "", *, passing: bool = False, cause: str = "unknown") -> None:
        super().__init__(message, hint)
        self.passing = passing
        self.cause = cause


class HostError(NofaceError):
    """Another machine cannot carry attempts out: it is not reached, lets nobody in, or runs another noface."""


class DivergedError(NofaceError):
    """Main and the remote's main went different ways; a person has to bring them together before work can land."""

    exit_code = EXIT_ATTENTION


class UnpushedError(NofaceError):
    """Main has commits that the remote lacks, and a push would publish them though nobody has asked for that."""

    exit_code = EXIT_ATTENTION


class FollowError(NofaceError):
    """Main cannot be moved to what was fetched: something of the person's is in the way."""

    exit_code = EXIT_ATTENTION


class StoreError(NofaceError):
    """The state database cannot be used; it is never overwritten."""
