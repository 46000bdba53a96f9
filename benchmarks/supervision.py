"""CPU time of noface and its supervisors while many agents talk at once (aim: less than one core for 32 at 1 MB/s each).

The agents are processes of their own, as in a run: a launcher, a supervisor each, their logs followed and read by the
adapter's reader. What the agents themselves burn does not count.
"""

import json
import os
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil

from noface.agents.base import AGENTS, AgentEvent
from noface.attempt.worker.agent_watch import LogFollower
from noface.process.supervise import Command, Exit, Launcher

CHATTER = """
import os, sys, time
line = open(sys.argv[1], "rb").read()
block = line * (int(float(sys.argv[2]) * 100_000) // len(line) + 1)
until = time.monotonic() + float(sys.argv[3])
due = time.monotonic()
while time.monotonic() < until:
    rest = memoryview(block)
    while rest:
        rest = rest[os.write(1, rest):]
    due += 0.1
    time.sleep(max(0.0, due - time.monotonic()))
"""
TEXT = "2026-01-01 12:00:00 INFO src/app/module.py: compiled, checked, and found to be in order\n"
TOOL = {
    "type": "assistant",
    "message": {
        "content": [{"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "a.py", "new": "x" * 1500}}]
    },
}
LINES = {"command": TEXT, "claude": json.dumps(TOOL) + "\n"}


def supervision(agent: str, *, children: int = 32, mb_per_s: float = 1.0, seconds: float = 10.0) -> float:
    """Return the CPU seconds of noface and its supervisors in each second of wall time."""
    with tempfile.TemporaryDirectory() as name, Launcher() as launcher:
        folder = Path(name)
        (folder / "line").write_text(LINES[agent])
        launcher.warm_up()
        sampler = Sampler(launcher)
        with ThreadPoolExecutor(children) as pool:
            began, before = time.monotonic(), time.process_time()
            sampler.start()
            rates = (str(mb_per_s), str(seconds))
            ended = list(pool.map(lambda n: chat(launcher, folder, agent, n, rates), range(children)))
            wall, ours = time.monotonic() - began, time.process_time() - before
        supervisors = sampler.stop()
        written = sum(file.stat().st_size for file in folder.glob("*.log"))
    assert all(one.exit_code == 0 and not one.survivors_killed for one in ended)
    used = (ours - sampler.own + supervisors) / wall
    print(
        f"supervision, {children} agents ({agent}) writing {written / wall / 1e6:.0f} MB/s: {used:.2f} CPU seconds a"
        f" second  (noface {(ours - sampler.own) / wall:.2f}, supervisors {supervisors / wall:.2f}; aim: below 1)"
    )
    return used


def quiet(_event: AgentEvent, alive: bool) -> None:
    """Show nothing."""
    del alive


def chat(launcher: Launcher, folder: Path, agent: str, number: int, rates: tuple[str, str]) -> Exit:
    """Run one agent that talks, as `run_agent` does."""
    out, err = folder / f"{number}.log", folder / f"{number}.err"
    follower = LogFollower(out, err, AGENTS[agent].reader(), quiet)
    command = Command(
        argv=(sys.executable, "-S", "-c", CHATTER, str(folder / "line"), *rates),
        cwd=str(folder),
        env=(("PATH", os.environ["PATH"]),),
        stdin=None,
        stdout=str(out),
        stderr=str(err),
        timeout_s=600.0,
        idle_timeout_s=300.0,
        log_max_bytes=1 << 30,
    )
    with closing(follower):
        ended = launcher.run(command, on_output=follower.poll)
        follower.poll()
        return ended


class Sampler:
    """Watches the CPU times of the fork server and the supervisors, which are gone when a command has ended."""

    def __init__(self, launcher: Launcher) -> None:
        self._fork_server = psutil.Process(launcher.fork_server_pid)
        self._seen: dict[int, float] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.own = 0.0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> float:
        """Return the CPU seconds seen, of processes and not of their children."""
        self._done.set()
        self._thread.join()
        return sum(self._seen.values())

    def _watch(self) -> None:
        while not self._done.wait(0.5):
            began = time.thread_time()
            for process in (self._fork_server, *self._fork_server.children()):
                try:
                    times = process.cpu_times()
                    self._seen[process.pid] = times.user + times.system
                except psutil.Error:
                    continue
            self.own += time.thread_time() - began


if __name__ == "__main__":
    for kind in sys.argv[1:] or LINES:
        supervision(kind)
