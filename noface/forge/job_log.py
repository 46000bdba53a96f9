"""A workflow job's log, cut to the steps that failed. Pure.

GitHub puts the time before each line. A step begins with the group `Run …`; one that failed holds a line that is marked
as an error. A step that may fail looks the same, so all that failed stay. Where none is found the whole log stays.
"""

import re
from itertools import pairwise

_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z ?", re.MULTILINE)
_BEGINS = re.compile(r"##\[group\]Run |Post job cleanup\.|Cleaning up orphan processes")
_FAILED = re.compile(r"##\[error\](?:Process completed with exit code|The operation was canceled|.* has timed out)")
_ERROR = "##[error]"


def failed_steps(log: str) -> str:
    """Return the lines of the steps that failed, without their times; the whole log if none can be told."""
    text = _TIME.sub("", log.replace("\r\n", "\n").removeprefix("\ufeff"))
    lines = text.split("\n")
    begins = [0, *(at for at, line in enumerate(lines) if at and _BEGINS.match(line)), len(lines)]
    steps = [lines[start:end] for start, end in pairwise(begins)]
    failed = [step for step in steps if any(_FAILED.match(line) for line in step)]
    failed = failed or [step for step in steps if any(line.startswith(_ERROR) for line in step)]
    return "\n".join(line for step in failed for line in step) if failed else text
