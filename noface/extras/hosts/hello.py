"""What a host says of itself: which noface it runs, and what it could carry attempts out with."""

import hashlib
import os
import platform
import shutil
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple

from noface import __version__
from noface.data import table

_CODE_CHARS = 12


class Hello(NamedTuple):
    """A host, as it introduces itself."""

    noface: Annotated[str, "The version of noface."]
    code: Annotated[str, "A digest of the code of noface: two states of one version differ in it."]
    distributed: Annotated[str | None, "The version of dask.distributed, null without the extra `cluster`."]
    python: Annotated[str, "The version of Python."]
    git: Annotated[str | None, "The version of git, null if there is none that noface can work with."]
    port: Annotated[int, "The port on its loopback at which its worker will listen; 0 if none is about to."]
    cores: Annotated[int, "Processors that it may use."]
    memory_bytes: Annotated[int, "Its memory."]
    disk_free_bytes: Annotated[int, "Room on the disk of its workspaces."]
    sandbox: Annotated[str, "What attempts are boxed in with, or why they are not."]
    boxed: Annotated[bool, "True if attempts are boxed in."]
    agents: Annotated[tuple[str, ...], "Agent programs that are on its PATH."]


def hello(folder: Path, port: int = 0) -> Hello:
    """Look at this machine; `folder` is that of its work."""
    import psutil

    from noface.errors import UsageError
    from noface.git.command import Git
    from noface.git.repository import check_version
    from noface.process.sandbox import find_bubblewrap

    bubblewrap = find_bubblewrap(shutil.which("bwrap"))
    box = f"bubblewrap {bubblewrap.version}" if bubblewrap.works else f"none: {bubblewrap.problem}"
    git = Git.user("/")
    try:
        check_version(git)
        git_version = git.run("version").text.removeprefix("git version ").strip()
    except UsageError:
        git_version = None
    there = next(each for each in (folder, *folder.parents) if each.exists())
    programs = [name for name, agent in table("agents").items() if "install" in agent]
    return Hello(
        noface=__version__,
        code=code_digest(),
        distributed=version("distributed") if find_spec("distributed") else None,
        python=platform.python_version(),
        git=git_version,
        port=port,
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_bytes=psutil.virtual_memory().total,
        disk_free_bytes=shutil.disk_usage(there).free,
        sandbox=box,
        boxed=bubblewrap.works,
        agents=tuple(name for name in programs if shutil.which(name) is not None),
    )


_UNKNOWN = Hello("", "", None, "", None, 0, 0, 0, 0, "", False, ())


def parse_hello(value: Mapping[str, object]) -> Hello | None:
    """Return what another machine says of itself, None if it does not say what it runs."""
    fields: list[object] = []
    for name, unknown in _UNKNOWN._asdict().items():
        given = value.get(name, unknown)
        field = tuple(map(str, given)) if isinstance(given, list) else given
        kinds = (str, type(None)) if unknown is None else (type(unknown),)
        fields.append(field if type(field) in kinds else unknown)
    there = Hello._make(fields)
    return there if there.noface else None


def difference(here: Hello, there: Hello) -> str:
    """Say what has to be the same on both sides and is not, "" if all of it is."""
    if there.distributed is None:
        return "the extra `cluster` is not installed there"
    if here.noface != there.noface:
        return f"noface is {there.noface} there and {here.noface} here"
    if here.code != there.code:
        return f"noface {here.noface} there ({there.code or 'unknown'}) is not the same as here ({here.code})"
    if here.distributed != there.distributed:
        return f"dask.distributed is {there.distributed} there and {here.distributed or 'missing'} here"
    return ""


@cache
def code_digest() -> str:
    """Return a digest of all that noface is made of; a number of a version stands for many states of the code."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.parent.name != "__pycache__" and path.is_file():
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:_CODE_CHARS]
