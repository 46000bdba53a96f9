"""Hosts: how many attempts there can be at once on other machines, and what it takes until they begin.

Each host is an sshd of this machine's, on loopback, with folders of its own: so these are the costs of noface, of ssh and
of dask.distributed, on cores that all hosts share. Agents that wait take no processor time, as those that ask a model.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from support.ssh_ground import WHY_NOT, Sshd  # noqa: E402 - the tests' own server

AGENT_S = 5
ROUNDS = 2
TIMEOUT_S = 300


def hosts() -> None:
    """Print what hosts bring."""
    if WHY_NOT:
        print(f"hosts: not measured: {WHY_NOT}")
        return
    with tempfile.TemporaryDirectory() as name:
        ground = Ground(Path(name), 4)
        try:
            ratios = []
            for _ in range(ROUNDS):
                few, many = (ground.run(count, issues=8 * count, attempts=2) for count in (1, 4))
                ratios.append(many.rate / few.rate)
            shown = ", ".join(f"{ratio:.1f}" for ratio in ratios)
            print(f"hosts, agents of {AGENT_S} s, 2 at once on each: 4 carry out {shown} times what 1 does")
            most = ground.run(4, issues=64, attempts=8)
            print(f"  8 on each of 4: {most.at_once} at once; the first host is there after {most.up_s:.1f} s")
        finally:
            ground.close()


class Run:
    """What the events of a run say: attempts that hosts ended a second once all were there, how many there were at once, with
    those here.

    `up_s` is how long it took until the first host was there.
    """

    def __init__(self, events: list[dict]) -> None:
        began = next(event["at"] for event in events if event["event"] == "run_started")
        ups = [event["at"] for event in events if event["event"] == "host_up"]
        there = {e["issue"] for e in events if e["event"] == "progress" and e["text"].startswith("on host")}
        ends = [e["at"] for e in events if e["event"] == "attempt_finished" and e["issue"] in there]
        ends = [end for end in ends if end > max(ups)]  # hosts come one after the other
        self.up_s, self.rate = min(ups) - began, len(ends) / (max(ends) - max(ups))
        steps = [(e["at"], 1 if e["event"] == "attempt_started" else -1) for e in events if e["event"] in _STEPS]
        now = self.at_once = 0
        for _, step in sorted(steps):
            now += step
            self.at_once = max(now, self.at_once)


_STEPS = ("attempt_started", "attempt_finished")


class Ground:
    """Servers on loopback, and a repository for each run."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.servers = []
        for number in range(count):
            server = Sshd(folder / f"sshd{number}", {"XDG_STATE_HOME": str(folder / f"state{number}")})
            server.host = f"host{number}"
            server.configure()
            server.start()
            self.servers.append(server)
        config = "\n".join((server.folder / "config").read_text() for server in self.servers)
        (folder / "config").write_text(config)
        (folder / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {folder / "config"} "$@"\n')
        (folder / "ssh").chmod(0o755)
        self.runs = 0

    def run(self, hosts: int, *, issues: int, attempts: int, gate: str = "true") -> Run:
        self.runs += 1
        repo = self.folder / f"repo{self.runs}"
        (repo / "issues").mkdir(parents=True)
        agent = f"sleep {AGENT_S}; echo x > $(date +%s%N).txt"
        names = [server.host for server in self.servers[:hosts]]
        noface = Path(sys.executable).with_name("noface")
        (repo / "noface.toml").write_text(
            f'[[gates]]\nname = "g"\ncommand = {json.dumps(gate)}\n[models.m]\nagent = "command"\n'
            f'command = {json.dumps(agent)}\n[retry]\ndefault_model = "m"\n[run]\nworkers = 1\n'
            f'slots_dir = "{self.folder / "slots"}"\n[sandbox]\nkind = "none"\n[executor]\nhosts = {json.dumps(names)}\n'
            f'attempts = {attempts}\ncommand = "{noface}"\n'
        )
        for number in range(issues):
            (repo / "issues" / f"{number}-x.md").write_text(f"# Issue {number}\n\nDo it.\n")
        identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
        for args in (("init", "-q", "-b", "main"), ("add", "-A"), (*identity, "commit", "-qm", "start")):
            subprocess.run(["git", *args], cwd=repo, check=True)
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        done = subprocess.run(
            [noface, "run", "--json"], cwd=repo, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr
        return Run([json.loads(line) for line in done.stdout.splitlines()])

    def close(self) -> None:
        for server in self.servers:
            server.stop()
