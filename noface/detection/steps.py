"""What is run for a change: a step of CI, and a session of tox, nox or a task runner, both as lines of shell."""

import re
from dataclasses import dataclass

from noface import data
from noface.detection.detected import Wanted

CI = data.table("ci")
NOISE = re.compile(CI["noise"]["pattern"])
"""Variables that say nothing about the checks."""


@dataclass(frozen=True, slots=True)
class CiStep:
    """A script that a job runs: `where` names file and job, `folder` is where it runs, "" for the top.

    `other` is why it can't be taken over as it is, "" where it can; without a script, whose workflow the job is.
    """

    script: str
    where: str
    folder: str = ""
    env: tuple[tuple[str, str], ...] = ()
    other: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """What a runner runs in an environment of its own, in which folder, and what it installs there."""

    name: str
    lines: tuple[str, ...]
    wanted: Wanted
    folder: str = ""


def option_values(words: list[str], *options: str) -> list[str] | None:
    """Return what is given with an option, None without it."""
    for index, word in enumerate(words):
        option, _, value = word.partition("=")
        if word in options and index + 1 < len(words):
            rest = words[index + 1 :]
            end = next((place for place, each in enumerate(rest) if each.startswith("-")), len(rest))
            return [name for each in rest[: end or 1] for name in re.split(r"[,\s]", each) if name]
        if option in options and value:
            return [name for name in value.split(",") if name]
    return None
