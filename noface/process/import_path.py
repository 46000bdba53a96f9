"""Keeps what lies in the project out of noface's own imports: a worker may have written it.

`python -m` puts the current folder in front of sys.path, and an empty entry of PYTHONPATH, which
`PYTHONPATH=$PYTHONPATH:/x` makes where it was unset, means that folder too. A `typer.py` there would run as noface.

What `python -m noface` imports before this runs, `noface` itself above all, no module can prevent: where a project has
a folder of that name, the command `noface` or `python -P -m noface` is the way.
"""

import os
import sys
from collections.abc import Sequence


def leave_project_out() -> None:
    """Take the current folder, and what PYTHONPATH names of the project around it, out of sys.path."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    try:
        here = os.getcwd()  # noqa: PTH109 - nothing else may be imported yet
    except OSError:
        return  # the folder is gone: nothing in it can be imported
    own = os.path.abspath(os.path.join(__file__, *[os.pardir] * 3))  # noqa: PTH100, PTH118
    sys.path[:] = trusted(sys.path, named, here, _project(here), own)


def trusted(entries: Sequence[str], named: Sequence[str], here: str, project: str, own: str) -> list[str]:
    """Return those of `entries` that are not `here`, nor among `named` and inside `project`; `own` holds noface."""
    absolute = {path: os.path.realpath(os.path.join(here, path)) for path in (*entries, *named, here)}  # noqa: PTH118
    top = os.path.realpath(project)
    inside = {absolute[path] for path in named if f"{absolute[path]}/".startswith(f"{top}/")} - {own}
    return [entry for entry in entries if absolute[entry] not in {absolute[here], *inside}]


def _project(here: str) -> str:
    """Return the top of the working tree around `here`, or `here` where there is none."""
    folder = here
    while not os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return here
        folder = above
    return folder
