"""Somebody else, who changes the same lines on main while a worker is at it."""

import os
import subprocess

from noface.selftest.scenario import Scenario, shared_file
from noface.selftest.world import World

_TRIES = 20
_IDENTITY = {"NAME": "Colleague", "EMAIL": "colleague@localhost"}


def interfere(scenario: Scenario, world: World, attempt: int) -> None:
    """Commit another version of the shared file to main, by compare-and-swap; no checkout is touched.

    Raises RuntimeError where git fails, or main moves each time.
    """
    home = world.repository
    text = f"{world.secret(scenario.id, 'main')}\nversion {attempt} of a colleague\nend\n"
    blob = _git(home, "hash-object", "-w", "--stdin", given=text)
    index = {"GIT_INDEX_FILE": str(world.folder / f"index-{scenario.id}-{attempt}")}
    for _ in range(_TRIES):
        main = _git(home, "rev-parse", "refs/heads/main")
        _git(home, "read-tree", main, env=index)
        _git(home, "update-index", "--add", "--cacheinfo", f"100644,{blob},{shared_file(scenario.id)}", env=index)
        tree = _git(home, "write-tree", env=index)
        commit = _git(home, "commit-tree", tree, "-p", main, "-m", f"A colleague's change beside {scenario.id}")
        if _run(home, ("update-ref", "refs/heads/main", commit, main)).returncode == 0:
            return
    raise RuntimeError(f"main moved {_TRIES} times under a colleague's commit")


def _git(home: str, *arguments: str, given: str = "", env: dict[str, str] | None = None) -> str:
    done = _run(home, arguments, given, env)
    if done.returncode:
        raise RuntimeError(f"git {arguments[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def _run(
    home: str, arguments: tuple[str, ...], given: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    clean |= {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _IDENTITY.items()}
    return subprocess.run(
        ["git", "-C", home, *arguments],
        env={**clean, **(env or {})},
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
