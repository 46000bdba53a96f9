"""Named places where a test can make noface die or fail, to prove that it recovers from there.

`NOFACE_FAILPOINT=name[:n[:kill|raise|enospc|sleep]]` arms one: its n-th hit triggers, once; commas part several.
data/failpoints.toml names them.
"""

import dataclasses
import errno
import functools
import os
import re
import signal
import threading
import time

from noface.data import table
from noface.errors import UsageError

VARIABLE = "NOFACE_FAILPOINT"
SLEEP_S = 3600.0
KINDS = ("kill", "raise", "enospc", "sleep")
WORDS_MAX = 3


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
    known = [each for section in table("failpoints").values() for each in section]
    if len(words) > WORDS_MAX or name not in known or not re.fullmatch(r"[1-9]\d*", count) or kind not in KINDS:
        raise UsageError(
            f"{VARIABLE}={text}: there is no such failpoint",
            f"expected name[:n[:{'|'.join(KINDS)}]], parted by commas, with names of {', '.join(known)}",
        )
    return _Armed(name, int(count), kind)
