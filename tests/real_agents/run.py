"""`make test-agents`: installs the real agent programs and runs tests/real_agents, where nothing but loopback is reached.

AGENTS says which versions: "newest" (without it), "tested" as noface/data/agents.toml names them, or "installed".

The tests run in a network namespace of their own, made by `unshare -rn`; where the system allows none they run all the
same, and say so: the programs are then only told to talk to the model server on loopback, not kept to it. A program
that cannot be installed is a failure.
"""

import fcntl
import fnmatch
import os
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

from install import ENVIRONMENT, FOLDER, INSTALLED, NEWEST, TESTED, install_all

_INSIDE = "--inside"
_SIOCSIFFLAGS = 0x8914
_UP = 0x1 | 0x40
_OWN = ("*_proxy", "*_PROXY", "*_API_KEY", "*_BASE_URL", "*_API_BASE", "*_TOKEN", "ANTHROPIC_*", "CLAUDE*", "OPENAI_*",
        "CODEX_*", "AIDER_*", "MSWEA_*", "LITELLM_*", "RUST_LOG")  # fmt: skip
"""Variables of the person who runs this: their keys and settings are not for these tests."""
_AT_ONCE = 6  # most of their time these tests wait


def main() -> int:
    """Install, then run; pytest's exit code, 2 where a program is missing."""
    if sys.argv[1:2] == [_INSIDE]:
        _loopback_up()
        return _tests(sys.argv[2:])
    which = os.environ.get(ENVIRONMENT, NEWEST)
    if which not in (NEWEST, TESTED, INSTALLED):
        print(f"{ENVIRONMENT} is {which!r}; it can be {NEWEST}, {TESTED} or {INSTALLED}", file=sys.stderr)
        return 2
    failed = install_all(which)
    if failed:
        print(f"not installed: {', '.join(failed)}; nothing was tested", file=sys.stderr)
        return 2
    if not _can_unshare():
        print("unshare -rn is not possible here: the programs could reach the network", file=sys.stderr)
        return _tests(sys.argv[1:])
    return subprocess.run(["unshare", "-rn", sys.executable, __file__, _INSIDE, *sys.argv[1:]], check=False).returncode


def _can_unshare() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-rn", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0


def _loopback_up() -> None:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _UP))


def _tests(more: list[str]) -> int:
    """Run pytest; the tests' folder is not below $TMPDIR, where Codex's sandbox works differently."""
    here = Path(__file__).parent
    options = ("-q", "-n", str(_AT_ONCE), "--dist", "worksteal", "-p", "no:cacheprovider")
    options += ("-o", f"pythonpath=tests {here.relative_to(here.parents[1])}")  # they share modules of their own
    argv = [sys.executable, "-m", "pytest", str(here), *options, f"--basetemp={FOLDER / 'tmp'}", *more]
    kept = {name: value for name, value in os.environ.items() if not any(fnmatch.fnmatch(name, own) for own in _OWN)}
    return subprocess.run(argv, cwd=here.parents[1], env=kept, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
