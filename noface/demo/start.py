"""Where a search starts: on what the workspace holds, or on main's version of the files an earlier attempt changed."""

import os
import subprocess
from pathlib import Path

GIT_SECONDS_MAX = 20


def main_versions(workspace: Path, main: str) -> dict[str, bytes]:
    """Main's text of each Python file that the workspace holds with another one; empty where git can't tell."""
    if not main:
        return {}
    listed = _git(workspace, "diff", "--name-only", "--no-renames", "--diff-filter=M", "-z", main, "--", "*.py")
    names = [name.decode("utf-8", "surrogateescape") for name in (listed or b"").split(b"\0") if name]
    texts = {name: _git(workspace, "show", f"{main}:{name}") for name in names}
    return {name: text for name, text in texts.items() if text is not None}


def _git(workspace: Path, *arguments: str) -> bytes | None:
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=workspace,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
