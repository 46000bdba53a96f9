"""A repository whose main is to move by a landing, and landings that are held up half way."""

import shutil
import subprocess
import sys

from noface.git.landing import advance
from noface.git.plumbing import Plumbing
from noface.git.repository import discover

from .git_ground import ENV, a_bench
from .processes import wait_for

FILES = {"a.txt": "a\n", "gone.txt": "gone\n", "type.txt": "type\n", "run.sh": "run\n", "d/x": "x\n", "mine.txt": "m\n"}
LANDING = {"a.txt": "landed\n", "new/n.txt": "new\n", "type.txt": ("120000", "a.txt"), "run.sh": ("100755", "run\n")}
REMOVED = ("gone.txt", "d/x")
AFTER = {"a.txt": b"landed\n", "new/n.txt": b"new\n", "type.txt": "-> a.txt", "run.sh": b"run\n", "mine.txt": b"m\n"}


def the_bench(tmp_path):
    bench = a_bench(tmp_path, FILES)
    return bench, bench.main, bench.merged(LANDING, remove=REMOVED)


def land(bench, old, new):
    return advance(bench.plumbing, old, new, "noface: land issue 7")


def plumbing_at(path, main=""):
    return Plumbing(discover(path, main))


def left(path):
    """Return what noface may have left behind in a git dir's top, or beside main's ref."""
    names = {file.name for file in (path / ".git").iterdir()}
    refs = {file.name for file in (path / ".git/refs/heads").rglob("*.lock")}
    return {name for name in names | refs if "lock" in name} | {
        file.name for file in (path / ".git/noface").iterdir() if "index" in file.name
    }


LAND = """
import sys
from pathlib import Path
from noface.git.landing import advance
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
plumbing = Plumbing(discover(Path(sys.argv[1]), "main"))
sys.stdin.readline()
print(type(advance(plumbing, sys.argv[2], sys.argv[3], "landing")).__name__)
"""


def landing_that_pauses(tmp_path, bench, old, new, words, nth):
    """Start a landing whose n-th git command with these words waits until `go` is there; wait until it does."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "git"
    program.write_text(
        f"""#!/bin/sh
case "$*" in *"{words}"*)
  echo >>'{tmp_path}/calls'
  if [ "$(wc -l <'{tmp_path}/calls')" = {nth} ]; then
    touch '{tmp_path}/waiting'; while [ ! -e '{tmp_path}/go' ]; do sleep 0.02; done
  fi
esac
exec {shutil.which("git")} "$@"
"""
    )
    program.chmod(0o755)
    child = subprocess.Popen(
        [sys.executable, "-c", LAND, bench.path, old, new],
        env={**ENV, "PATH": f"{tmp_path / 'bin'}:{ENV['PATH']}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    child.stdin.write("go\n")
    child.stdin.flush()
    wait_for((tmp_path / "waiting").exists)
    return child
