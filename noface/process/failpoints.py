"""Named places where a test can make noface die or fail, to prove that it recovers from there.

`NOFACE_FAILPOINT=name[:n[:kill|raise|enospc|sleep]]` arms one: its n-th hit triggers, once; commas part several.
"""

import dataclasses
import errno
import functools
import os
import re
import signal
import threading
import time

from noface.errors import UsageError

VARIABLE = "NOFACE_FAILPOINT"
SLEEP_S = 3600.0
KINDS = ("kill", "raise", "enospc", "sleep")
WORDS_MAX = 3

FAILPOINTS = (
    "lock_taken",  # the repository's lock is held, nothing else is done yet
    "database_ready",  # the database is open and migrated
    "hub_made",  # noface's private git dir exists
    "run_started",  # the run's row is committed
    "event_shown",  # an event is recorded, and about to be shown to whoever looks on
    "attempt_started",  # the attempt's row and budget are committed, nothing has happened yet
    "objects_shared",  # what a ref is to hold lies in a pack, which nothing holds yet
    "base_held",  # a ref keeps the attempt's base from being pruned
    "workspace_built",  # the slot holds the attempt's starting tree
    "agent_started",  # the worker's program is about to be run
    "output_read",  # the worker's program is at work, and what it has printed is being read
    "agent_exited",  # the worker's program and all its descendants are gone
    "snapshot_taken",  # the slot's tree is in the object store, no ref keeps it yet
    "snapshot_recorded",  # the attempt's ref points at the snapshot's commit
    "gate_checkout",  # the gate slot holds the tree to prove
    "gate_passed",  # one gate is green
    "attempt_judged",  # the attempt's report is complete, still in memory
    "attempt_recorded",  # the attempt's outcome is committed to the database
    "action_recorded",  # what to do next is committed to the database
    "question_asked",  # a question's row is committed, the model is about to be asked
    "question_answered",  # the model has answered, still in memory
    "answer_recorded",  # the answer is committed, with all that follows from it for the issue
    "merge_built",  # the merge commit is in the object store
    "landing_intent",  # the intent to land is committed to the database
    "landing_ref_locked",  # main's ref is locked, its files are not touched yet
    "landing_files_updated",  # the files of the checked-out main are the new ones, the ref is not
    "landing_ref_moved",  # main is the new commit, the database does not know yet
    "landing_recorded",  # the landing is committed to the database
    "cleaned_up",  # branches, refs and slots that are no longer needed are gone
)
PUBLISHING_FAILPOINTS = (
    "pull_intent",  # the intent to push an issue's proven commit is committed to the database
    "branch_pushed",  # the remote has the commit, the database does not know yet
    "push_recorded",  # the push is committed to the database
    "pull_opened",  # the pull request is open with it, the database does not know yet
    "pull_recorded",  # the pull request is committed to the database
    "pull_seen",  # what the forge shows of pull requests has come back, still in memory
    "round_recorded",  # what checks or reviewers of a pull request ask for is committed, with what is done about it
    "pull_merged",  # that a pull request was merged elsewhere is committed to the database
    "pull_blocked",  # that a person must decide about a pull request is committed to the database
)
"""Those that a run comes to only if its work leaves it as pull requests."""
REMOTE_FAILPOINTS = (
    "ground_fetched",  # the remote's main is fetched, nothing is decided yet
    "follow_recorded",  # the intent to move main to what was fetched is committed to the database
    "followed",  # main is what was fetched, the database still holds the intent
    "lease_taken",  # the remote has the lease of the repository
    "lease_given_back",
    "landing_pushed",  # the remote's main is the proven commit, main here is not, and the database does not know yet
)
"""Those that only a run reaches whose main is behind a git remote's, or that pushes there."""
TRACKER_FAILPOINTS = (
    "tracker_told",  # the tracker has been told of an issue, the database does not know yet
    "tracker_told_recorded",  # what it was told is committed to the database
    "answer_heard",  # what a person has written there is committed, with all that follows from it
)
"""Those that a run comes to only if its issues lie on another machine."""
NOTIFY_FAILPOINTS = ("message_sent",)  # a service has taken a message, the database does not know yet
_DECLARED = frozenset(
    (*FAILPOINTS, *PUBLISHING_FAILPOINTS, *REMOTE_FAILPOINTS, *TRACKER_FAILPOINTS, *NOTIFY_FAILPOINTS)
)


class FailpointError(RuntimeError):
    """What a failpoint of the kind "raise" raises: it stands for any bug."""


@dataclasses.dataclass
class _Armed:
    name: str
    left: int
    kind: str

    def trigger(self) -> None:
        match self.kind:
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "raise":
                raise FailpointError(f"failpoint {self.name}")
            case "enospc":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), f"failpoint {self.name}")
            case _:
                time.sleep(SLEEP_S)


_counting = threading.Lock()


def hit(name: str) -> None:
    """Trigger the failpoints of this name whose turn has come. Raise UsageError for a NOFACE_FAILPOINT that is none."""
    assert name in _DECLARED, f"failpoint {name} is not declared in FAILPOINTS"  # noqa: S101  # a bug of the caller
    named = [each for each in _armed() if each.name == name]
    with _counting:  # each counts this hit, also if another one raises
        for armed in named:
            armed.left -= 1
        due = [armed for armed in named if armed.left == 0]
    for armed in due:
        armed.trigger()


@functools.cache
def _armed() -> tuple[_Armed, ...]:
    return tuple(map(_parse, filter(None, os.environ.get(VARIABLE, "").split(","))))


def _parse(text: str) -> _Armed:
    words = text.split(":")
    name, count, kind = (*words, *("", "1", "kill")[len(words) :])[:WORDS_MAX]
    if len(words) > WORDS_MAX or name not in _DECLARED or not re.fullmatch(r"[1-9]\d*", count) or kind not in KINDS:
        raise UsageError(
            f"{VARIABLE}={text}: there is no such failpoint",
            f"expected name[:n[:{'|'.join(KINDS)}]], parted by commas, with names of {', '.join(FAILPOINTS)}",
        )
    return _Armed(name, int(count), kind)
