"""Kills noface at random for as long as it is told to, beside a person at work, and looks after each death.

`make soak SECONDS=300 SEED=7`. A repository with several gates and more and more issues is worked on by `noface run`,
which is killed at random instants, at random failpoints, or by the death of one of its children (supervisor, fork
server, git, agent); or mistakes of its own are raised at random failpoints, several a run. Meanwhile a person commits
to main, rebases and switches branches, and packs, and `git gc`, `git prune` and `git repack` run one after the other
without a pause. After each run `noface tools fsck` and checks of this program's own must find nothing; at the end all issues
must have landed once, without a person's word and with every file, and every commit of main must pass the gates in a
fresh clone. Prints kills and violations; exit code 1 if there is a violation.
"""

import argparse
import collections
import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from noface.data import table

GATES = ("test -e a.txt", "sh check.sh", "test $(cat work/*.txt 2>/dev/null | sort | uniq -d | wc -l) = 0")
CONFIG = """
[project]
main = "main"
[[gates]]
name = "build"
kind = "build"
command = "test -e a.txt"
[[gates]]
name = "check"
command = "sh check.sh"
[[gates]]
name = "style"
hard = false
command = "test ! -e work/odd.txt"
[[gates]]
name = "unique"
command = "test $(cat work/*.txt 2>/dev/null | sort | uniq -d | wc -l) = 0"
[models.small]
agent = "command"
command = "sh {worker}"
timeout = "30s"
[models.big]
agent = "command"
command = "sh {worker}"
tier = 2
timeout = "30s"
[retry]
default_model = "small"
escalation_model = "big"
max_total_attempts = 50
[run]
slots_dir = "{slots}"
workers = 3
"""
WORKER = """\
id=$NOFACE_ISSUE_ID
mkdir -p work
case $((id % 7)) in
1) if [ "$NOFACE_ATTEMPT" = 1 ]; then echo x > bad; fi ;;
2) (setsid sleep 300 &) ;;
3) sleep 0.5 ;;
4) echo $id > work/odd.txt ;;
esac
[ "$NOFACE_ATTEMPT" != 1 ] && rm -f bad
sleep 0.$((id % 5))
mkdir -p parts/$id
for part in 1 2 3 4 5 6 7 8 9 10 11; do echo "part $part of $id" > parts/$id/$part.txt; done
echo "work of $id" > work/$id.txt
exit 0
"""
NOT_RUN = (
    "power loss (unsynced writes), a full disk, a read-only or network file system: tests/FAULTS.md names their tests",
    "real agents and other ecosystems (make test-agents)",
    "a reboot, a suspended machine, other users of the machine",
)
REACHED = tuple(name for name in table("failpoints")["run"] if not name.startswith(("question_", "answer_")))
UNENDED = ("lock_taken", "database_ready")
"""What is raised there ends the run, since nothing is begun yet."""
PARTS = 11
ISSUES_AHEAD = 6
REPAIR_EVERY = 4
ENDS_WITHIN_S = 15.0


class Soak:
    """One repository, noface on it, and what must stay as it is."""

    def __init__(self, folder: Path, seed: int, left_out: frozenset[str]) -> None:
        self.folder, self.path = folder, folder / "repo"
        self.dice = random.Random(seed)
        self.state = self.path / ".git" / "noface"
        self.kills: collections.Counter[str] = collections.Counter()
        self.violations: list[str] = []
        self.issues = 0
        self.runs = 0
        self.own_ends: collections.Counter[int] = collections.Counter()
        self.seen_work: dict[str, str] = {}
        self.seen_merged: dict[str, str] = {}
        self.person = Person(self, seed + 1, left_out)
        self._lay_out()

    def _lay_out(self) -> None:
        self.path.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")
        self.git("config", "gc.auto", "0")
        worker = self.folder / "worker.sh"
        worker.write_text(WORKER)
        self.write("a.txt", "one\n")
        self.write("mine.txt", "one\n")
        self.write("staged.txt", "one\n")
        self.write("check.sh", "test ! -e bad\n")
        self.write(".gitignore", "ignored.txt\n")
        self.write("noface.toml", CONFIG.format(worker=worker, slots=self.folder / "slots"))
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self.base = self.git("rev-parse", "HEAD")
        self.git("worktree", "add", "-q", "-b", "side", str(self.folder / "side"))
        self.write("mine.txt", "stashed\n")
        self.git("stash", "-q")
        self.write("staged.txt", "one\nstaged\n")
        self.git("add", "staged.txt")
        self.write("mine.txt", "one\nmine, not committed\n")
        self.write("notes.txt", "mine\n")
        self.write("ignored.txt", "mine too\n")
        hook = self.path / ".git" / "hooks" / "post-checkout"
        hook.write_text("#!/bin/sh\nexit 0\n")
        self.owned = self.persons_things()

    def environment(self, **extra: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "NOFACE_"))}
        home = {"HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache"), "COLUMNS": "80"}
        return {**kept, **home, **extra}

    def run_git(self, *args: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["git", *args], cwd=cwd or self.path, env=self.environment(), capture_output=True, text=True, check=False
        )

    def git(self, *args: str, cwd: Path | None = None) -> str:
        done = self.run_git(*args, cwd=cwd)
        if done.returncode != 0:
            raise RuntimeError(f"git {args}: {done.stderr}")
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def noface(self, *args: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-P", "-m", "noface", *args]
        return subprocess.run(
            command, cwd=self.path, env=self.environment(), capture_output=True, text=True, timeout=300, check=False
        )

    def violation(self, text: str) -> None:
        self.violations.append(text)
        print(f"VIOLATION after {sum(self.kills.values())} kills: {text}", flush=True)

    # What happens

    def add_issues(self) -> None:
        """Keep some issues ahead of the workers; their files are the person's, untracked."""
        merged = len(self.seen_merged)
        while self.issues < merged + ISSUES_AHEAD:
            self.issues += 1
            self.write(f"issues/{self.issues}-x.md", f"# Issue {self.issues}\n\nWrite work/{self.issues}.txt.\n")

    def one_death(self) -> None:
        """Start a run, kill it or one of its children at random, and wait for its end."""
        self.runs += 1
        touched = False
        way = self.dice.choice(["instant", "failpoint", "failpoint", "child", "twice", "faults", "faults", "faults"])
        extra = {}
        if way == "failpoint":
            kind = self.dice.choice(["kill", "kill", "kill", "enospc"])
            extra["NOFACE_FAILPOINT"] = f"{self.dice.choice(REACHED)}:{self.dice.randint(1, 3)}:{kind}"
            touched = kind == "enospc"
        if way == "faults":
            names = [self.dice.choice(REACHED) for _ in range(self.dice.randint(1, 6))]
            extra["NOFACE_FAILPOINT"] = ",".join(f"{name}:{self.dice.randint(1, 6)}:raise" for name in names)
        with (self.folder / "run.log").open("w") as log:
            running = subprocess.Popen(
                [sys.executable, "-P", "-m", "noface", "run"],
                cwd=self.path,
                env=self.environment(**extra),
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        limit_s = (
            8.0
            if way == "failpoint"
            else 20.0
            if way == "faults"
            else self.dice.choice([0.3, 1.0, 2.0, 4.0]) * (0.3 + self.dice.random())
        )
        if way == "child":
            limit_s = max(limit_s, 1.5)
            touched = self._kill_children(running, limit_s)
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(limit_s if way != "child" else 0.5)
        if running.poll() is None:
            running.kill()
            running.wait()
            self.kills["noface, " + ("waiting for a failpoint" if extra else "at a random instant")] += 1
        elif running.returncode == -signal.SIGKILL:
            self.kills["noface, at " + extra.get("NOFACE_FAILPOINT", "?").partition(":")[0]] += 1
        else:
            self._ended_itself(running.returncode, touched=touched, armed=extra.get("NOFACE_FAILPOINT", ""))
        if way != "twice" and not touched:
            self.no_processes_left()

    def _kill_children(self, running: "subprocess.Popen[bytes]", limit_s: float) -> bool:
        deadline, touched = time.monotonic() + limit_s, False
        while time.monotonic() < deadline and running.poll() is None:
            time.sleep(self.dice.random() * 0.6)
            with contextlib.suppress(psutil.Error):
                below = psutil.Process(running.pid).children(recursive=True)
                if below:
                    victim = self.dice.choice(below)
                    name = " ".join(victim.cmdline()[:4])
                    kind = "git" if " git" in name or name.startswith("git") else "other"
                    kind = "supervisor or fork server" if "noface" in name or "-c" in name.split() else kind
                    victim.kill()
                    self.kills[f"a child: {kind}"] += 1
                    touched = True
        return touched

    def _ended_itself(self, code: int, *, touched: bool, armed: str) -> None:
        self.own_ends[code] += 1
        text = (self.folder / "run.log").read_text(errors="replace")
        raised = ":raise" in armed
        self.kills["a mistake raised, and told"] += text.count("noface itself failed at") if raised else 0
        told = "itself failed 3 times in a row" in text or "itself failed twice, at the checks before" in text
        stopped = raised and (told or any(name in armed for name in UNENDED))
        unlike = code not in (0, 3) and not touched and not stopped
        if "Traceback" in text or ("noface itself failed" in text and not raised) or unlike:
            self.violation(f"a run that nobody killed ended with {code}: {text[-600:]}")

    # What must hold

    def processes(self) -> list[int]:
        mark = f"NOFACE_STATE={self.state}".encode()
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        return found

    def no_processes_left(self) -> None:
        deadline = time.monotonic() + ENDS_WITHIN_S
        while left := self.processes():
            if time.monotonic() > deadline:
                self.violation(f"processes outlive a killed noface: {left}")
                for pid in left:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                return
            time.sleep(0.05)

    def fsck(self, *args: str) -> None:
        done = self.noface("tools", "fsck", "--json", *args)
        try:
            findings = json.loads(done.stdout)["findings"]
        except (ValueError, KeyError):
            self.violation(f"fsck {args} failed: {done.stdout[-300:]} {done.stderr[-300:]}")
            return
        wrong = ("person",) if not args else ("person", "repairable")
        for each in findings:
            if each["severity"] in wrong or each["kind"] == "step-unexpected":
                self.violation(f"fsck {' '.join(args)}: {each['subject']}: {each['message']} ({each['kind']})")

    def landed(self) -> list[tuple[str, str]]:
        shape = "--format=%H %(trailers:key=Noface-Issue,valueonly,separator=%x20)"
        lines = self.git("log", "--first-parent", "--reverse", shape, f"{self.base}..main").splitlines()
        pairs = [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in lines]
        return [(commit, issue or self._several(commit)) for commit, issue in pairs]

    def _several(self, commit: str) -> str:
        """Return the issues whose own commits stand behind the second parent of one that lands them together."""
        own = "--format=%(trailers:key=Noface-Issue,valueonly,separator=%x20)"
        return (
            self.run_git("log", "--first-parent", own, f"{commit}^1..{commit}^2", "--")
            .stdout.replace("\n", " ")
            .strip()
        )

    def nothing_lost_or_doubled(self) -> None:
        with self.person.lock:
            of_the_person = list(self.person.commits)
        history = self.landed()
        ids = [issue for _, issues in history for issue in issues.split()]
        for issue in {each for each in ids if ids.count(each) > 1}:
            self.violation(f"issue {issue} has landed {ids.count(issue)} times")
        held = {issue: commit for commit, issues in history for issue in issues.split()}
        for issue, commit in self.seen_merged.items():
            if held.get(issue) != commit:
                self.violation(f"main held issue {issue} as {commit[:12]}, and does not any more")
        self.seen_merged = held
        commits = {commit for commit, _ in history}
        for commit in of_the_person:
            if commit not in commits:
                self.violation(f"the person's commit {commit[:12]} is not on main any more")
        refs = dict(
            line.split(" ")
            for line in self.git("for-each-ref", "--format=%(refname) %(tree)", "refs/noface/issues").splitlines()
        )
        for ref, tree in self.seen_work.items():
            if refs.get(ref) != tree:
                self.violation(f"{ref} held the tree {tree[:12]}, and holds {refs.get(ref)}")
        self.seen_work = {ref: tree for ref, tree in refs.items() if ref.rpartition("/")[2].isdigit()}

    def persons_things(self) -> dict[str, str]:
        git_dir = self.path / ".git"
        files = ("mine.txt", "staged.txt", "notes.txt", "ignored.txt")
        texts = {name: (self.path / name).read_text() for name in files}
        return {
            **texts,
            "config": (git_dir / "config").read_text(),
            "hooks": repr(sorted((file.name, file.read_bytes()) for file in (git_dir / "hooks").iterdir())),
            "exclude": (git_dir / "info" / "exclude").read_text(),
            "staged": self.git("diff", "--cached", "--stat"),
            "changed": self.git("diff", "--stat"),
            "stash": self.git("stash", "list", "-p", "--full-index"),
        }

    def persons_things_are_theirs(self) -> None:
        with self.person.lock:
            now = self.persons_things()
        for what, before in self.owned.items():
            if now[what] != before:
                self.violation(f"the person's {what} changed: {now[what][:300]!r}, not {before[:300]!r}")

    def after_a_death(self, number: int) -> None:
        if number % REPAIR_EVERY == 0:
            self.fsck("--repair")
            self.no_processes_left()
            self.persons_things_are_theirs()
        else:
            self.fsck()
        self.nothing_lost_or_doubled()

    def at_the_end(self) -> None:
        """Let a run end by itself; then run the gates on every commit of main in a fresh clone."""
        self.person.stop()
        done = self.noface("run")
        if done.returncode != 0:
            self.violation(f"the last run ended with {done.returncode}: {done.stdout[-800:]}{done.stderr[-300:]}")
        self.fsck("--repair")
        self.nothing_lost_or_doubled()
        self.persons_things_are_theirs()
        self.no_processes_left()
        missing = [str(n) for n in range(1, self.issues + 1) if str(n) not in self.seen_merged]
        if missing:
            self.violation(f"issues that never landed: {', '.join(missing)}")
        with sqlite3.connect(self.state / "state.db") as database:
            self.attempts = database.execute("SELECT COUNT(*) FROM attempts").fetchone()[0]
        clone = self.folder / "clone"
        self.git("clone", "-q", str(self.path), str(clone), cwd=self.folder)
        for commit, issues in self.landed():
            self.git("checkout", "-q", "--detach", commit, cwd=clone)
            for gate in GATES:
                if subprocess.run(["bash", "-c", gate], cwd=clone, check=False).returncode != 0:
                    self.violation(f"main's commit {commit[:12]} (issues {issues or '-'}) fails {gate!r}")
            for issue in issues.split():
                work, parts = clone / "work" / f"{issue}.txt", len(list((clone / "parts" / issue).glob("*")))
                if not work.exists() or work.read_text() != f"work of {issue}\n" or parts != PARTS:
                    self.violation(f"main's commit {commit[:12]} holds {parts} of {PARTS} parts of issue {issue}")


class Person:
    """Somebody at work in the same repository: one action after the other, in a thread."""

    def __init__(self, soak: Soak, seed: int, left_out: frozenset[str]) -> None:
        self._soak = soak
        actions = [self._commit, self._rebase, self._switch, self._prune, self._pack, self._look, self._look]
        self._actions = [action for action in actions if action.__name__.strip("_") not in left_out]
        self._dice = random.Random(seed)
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._work, daemon=True)]
        if "gc" not in left_out:
            self._threads.append(threading.Thread(target=self._clean, daemon=True))
        self.lock = threading.Lock()
        self._away = False
        self.commits: list[str] = []
        self.did: collections.Counter[str] = collections.Counter()

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End, on main; a lock that a killed noface left is settled first."""
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._soak.fsck("--repair")
        self._come_back()

    def _work(self) -> None:
        number = 0
        while not self._ended.wait(0.2 + self._dice.random()):
            number += 1
            action = self._dice.choice(self._actions)
            with self.lock:
                self._come_back()
                if (action != self._commit or not self._away) and action(number):
                    self.did[action.__name__.strip("_")] += 1

    def _clean(self) -> None:
        """Have git clean up without a pause, beside noface; in between the person does their work."""
        for each in itertools.cycle((("gc", "-q"), ("prune",), ("repack", "-adq"), ("gc", "-q", "--prune=now"))):
            if self._ended.is_set():
                return
            with self.lock:  # git's own commits are not safe from a prune beside them
                done = self._soak.run_git(*each)
            time.sleep(0.01)
            self.did[f"{each[0]} in a loop"] += done.returncode == 0

    def _commit(self, number: int) -> bool:
        """Commit one file to the checked-out main; where git is locked, they give up and come back later."""
        soak, name = self._soak, f"person/{number}.txt"
        soak.write(name, f"{number}\n")
        done = soak.run_git("add", name).returncode == 0
        done = done and soak.run_git("commit", "-q", "-o", name, "-m", f"person {number}").returncode == 0
        if done:
            self.commits.append(soak.git("rev-parse", "HEAD"))
        else:
            while soak.run_git("reset", "-q", "--", name).returncode != 0 and not self._ended.wait(0.1):
                pass  # a lock is in the way
            (soak.path / name).unlink(missing_ok=True)
        return done

    def _rebase(self, number: int) -> bool:
        """Commit to the branch of another worktree, and rebase it onto main."""
        side = self._soak.folder / "side"
        (side / f"side-{number % 5}.txt").write_text(f"{number}\n")
        self._soak.run_git("add", "-A", cwd=side)
        self._soak.run_git("commit", "-qm", f"side {number}", cwd=side)
        done = self._soak.run_git("rebase", "-q", "main", cwd=side)
        if done.returncode != 0:
            self._soak.run_git("rebase", "--abort", cwd=side)
        return done.returncode == 0

    def _switch(self, number: int) -> bool:
        """Switch the checkout to another branch at main, and back; where git is locked, at the next action."""
        del number
        if self._soak.run_git("switch", "-q", "-C", "elsewhere").returncode != 0:
            return False
        self._away = True
        time.sleep(self._dice.random() * 0.3)
        self._come_back()
        return True

    def _come_back(self) -> None:
        if self._away:
            self._away = self._soak.run_git("switch", "-q", "main").returncode != 0

    def _prune(self, number: int) -> bool:
        del number
        return self._soak.run_git("gc", "-q", "--prune=now").returncode == 0

    def _pack(self, number: int) -> bool:
        del number
        return self._soak.run_git("pack-refs", "--all").returncode == 0

    def _look(self, number: int) -> bool:
        del number
        return self._soak.run_git("status", "--porcelain").returncode == 0


def report(soak: Soak, seed: int, started: float, left_out: frozenset[str]) -> None:
    landed = len(soak.seen_merged)
    print(f"\nseed {seed}: {time.monotonic() - started:.0f} s, {soak.runs} runs, {soak.attempts} attempts, ", end="")
    print(f"{landed} landings, {len(soak.person.commits)} commits of the person")
    print("kills:")
    for what, number in soak.kills.most_common():
        print(f"  {number:5}  {what}")
    print("the person: " + ", ".join(f"{what} {number}" for what, number in soak.person.did.most_common()))
    print("runs that ended by themselves: " + repr(dict(soak.own_ends)))
    print("not run: " + "\n         ".join([*NOT_RUN, *(f"{each} (left out)" for each in left_out)]))
    print(f"{sum(soak.kills.values())} kills, {len(soak.violations)} violations")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000)
    parser.add_argument("--keep", action="store_true", help="keep the repository, as where there is a violation")
    parser.add_argument(
        "--leave-out", default="", help="actions of the person, with commas: gc, prune, switch, rebase …"
    )
    given = parser.parse_args()
    left_out = frozenset(filter(None, given.leave_out.split(",")))
    folder = Path(tempfile.mkdtemp(prefix="noface-soak-"))
    print(f"seed {given.seed}, {given.seconds:.0f} s, in {folder}", flush=True)
    soak = Soak(folder, given.seed, left_out)
    soak.attempts = 0
    started, number = time.monotonic(), 0
    soak.person.start()
    while time.monotonic() - started < given.seconds:
        number += 1
        soak.add_issues()
        soak.one_death()
        soak.after_a_death(number)
        if number % 20 == 0:
            kills = sum(soak.kills.values())
            print(f"{time.monotonic() - started:6.0f} s  {kills} kills, {len(soak.seen_merged)} landings, ", end="")
            print(f"{len(soak.violations)} violations", flush=True)
    soak.at_the_end()
    report(soak, given.seed, started, left_out)
    if not soak.violations and not given.keep:
        shutil.rmtree(folder)
    return 1 if soak.violations else 0


if __name__ == "__main__":
    sys.exit(main())
