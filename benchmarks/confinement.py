"""What it costs to start a command: bare, under supervision, in a PID namespace, in a sandbox with a home of 60 entries."""

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from noface.model.access import Network
from noface.process.sandbox import CONNECTORS, Box, find_bubblewrap
from noface.process.sandbox_home import Home, home_rules
from noface.process.supervise import Command, Launcher

STARTS = 30
ENTRIES = 60
PATH = os.environ["PATH"]


def confinement() -> None:
    """Print the medians as ratios to a bare start."""
    with tempfile.TemporaryDirectory() as name, Launcher(namespaces=False) as plain, Launcher() as namespaced:
        folder = Path(name)
        found = find_bubblewrap(shutil.which("bwrap"))
        bare = _median(lambda: subprocess.run(["true"], check=True, env={"PATH": PATH}))
        print(f"start of a command: bare {bare * 1000:.1f} ms")
        kinds = {"supervised": (plain, None), "PID namespace": (namespaced, None)}
        if found.works:
            kinds["sandbox"] = (plain, _box(folder, found.program))
            own = replace(_box(folder, found.program), network=Network.AUTO)
            kinds |= {"with a loopback of its own": (plain, own)}
            kinds |= {"and a service": (plain, replace(own, services=("localhost:5432",)))}
            for connector in filter(shutil.which, CONNECTORS):
                outside = replace(own, network=Network.OWN, connector=str(shutil.which(connector)))
                kinds[f"and the outside by {connector}"] = (plain, outside)
        for kind, (launcher, box) in kinds.items():
            taken = _median(lambda launcher=launcher, box=box: _start(launcher, folder, box))
            print(f"  {kind}: {taken / bare:.1f}x ({taken * 1000:.1f} ms)")
        if not found.works:
            print(f"  sandbox: not measured, {found.problem}")


def _box(folder: Path, program: str) -> Box:
    for entry in range(ENTRIES):
        (folder / "home" / f".entry{entry}").mkdir(parents=True, exist_ok=True)
    for kind in ("fresh", "caches", "tmp"):
        (folder / kind).mkdir(exist_ok=True)
    rules = home_rules(str(folder / "home"), {"PATH": PATH})
    home = Home(str(folder / "home"), str(folder / "fresh"), str(folder / "caches"), rules)
    return Box(program, (home,), str(folder / "tmp"), writable=(str(folder),))


def _start(launcher: Launcher, folder: Path, box: Box | None) -> None:
    log = str(folder / "log")
    ended = launcher.run(
        Command(("true",), str(folder), (("PATH", PATH),), None, log, log, 60.0, None, 1 << 20, box=box)
    )
    assert ended.exit_code == 0, ended


def _median(start: Callable[[], object]) -> float:
    taken = []
    for _ in range(STARTS):
        began = time.perf_counter()
        start()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)
