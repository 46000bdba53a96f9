"""What noface is compared with: a loop around an agent, as people write it for a night. No noface in it.

    python loop.py plain|feedback REPOSITORY WORLD

Each issue gets a git worktree and up to five runs of the agent; the project's gates are run there, and where they pass
the branch is committed and merged into the checked-out main. `plain` starts each attempt anew from main with the same
prompt; `feedback` goes on in the same worktree, and says how the last attempt ended and what was printed. After a run
of the agent that failed, both wait a minute. Started again, they go on with what main does not have yet.
"""

import os
import signal
import subprocess
import sys
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nights.world import World

ATTEMPTS = 5
PAUSE_S = 60.0
_SHOWN = 3_000


class Loop:
    """One night of the loop."""

    def __init__(self, variant: str, repository: Path, world: World) -> None:
        self.feedback = variant == "feedback"
        self.repository = repository
        self.world = world
        self.config = tomllib.loads((repository / "noface.toml").read_text())
        self.gates = [gate["command"] for gate in self.config["gates"]]
        self.gate_s = min(float(gate.get("timeout", "20s").rstrip("s")) for gate in self.config["gates"])
        self.agent_s = float(next(iter(self.config["models"].values())).get("timeout", "30s").rstrip("s"))
        self.trees = world.folder.parent / "trees"
        self._merging = threading.Lock()

    def run(self) -> int:
        """Work through the issues; return 0 where all are on main, else 3."""
        issues = sorted((self.repository / "issues").glob("*.md"), key=lambda path: int(path.name.split("-")[0]))
        with ThreadPoolExecutor(self.config["run"]["workers"]) as pool:
            return 0 if all(list(pool.map(self.issue, issues))) else 3

    def issue(self, path: Path) -> bool:
        """Work on an issue; True once it is on main."""
        name = path.name.split("-")[0]
        text = path.read_text()
        try:
            front = tomllib.loads(text.split("+++")[1])
        except tomllib.TOMLDecodeError:
            return False
        prompt = f"# {front['title']}\n\n{text.split('+++')[2]}\n\nDo this. Run the tests until they pass."
        last = ""
        if f"\nIssue: {name}\n" in f"\n{self.git('log', '--format=%B', 'main')}\n":
            return True
        for attempt in range(1, ATTEMPTS + 1):
            tree = self.trees / name
            if attempt == 1 or not self.feedback:
                self.fresh(tree)
            said = f"\n\nYour last attempt failed:\n{last[-_SHOWN:]}" if self.feedback and last else ""
            last = self.attempt(name, attempt, tree, prompt + said, front.get("accept", []))
            if not last:
                print(f"issue {name}: merged", flush=True)
                return True
        print(f"issue {name}: given up after {ATTEMPTS} attempts: {last.strip()[-300:]}", flush=True)
        return False

    def attempt(self, name: str, attempt: int, tree: Path, prompt: str, accept: list[str]) -> str:
        """Do one attempt; return why it failed, "" where it is merged."""
        failed = self.agent(name, attempt, tree, prompt)
        kill("agent")
        if failed:
            self.world.wait(PAUSE_S)
            return failed
        for command in (*self.gates, *([accept] if isinstance(accept, str) else accept)):
            code, output = run(["bash", "-c", command], tree, self.gate_s)
            kill("gate")
            if code != 0:
                return f"`{command}` ended with exit code {code}:\n{output}"
        return self.merge(name, tree)

    def agent(self, name: str, attempt: int, tree: Path, prompt: str) -> str:
        """Run the agent; return how it failed, "" where it did not."""
        models = self.config["models"]
        model = models[self.config["retry"]["default_model"]]
        env = {"NOFACE_ISSUE_ID": name, "NOFACE_ATTEMPT": str(attempt), **model.get("env", {})}
        command = ["claude", "-p", "--output-format", "text", "--model", model.get("model", "small")]
        code, output = run(command, tree, self.agent_s, prompt, env)
        return "" if code == 0 else f"the agent ended with exit code {code}: {output}"

    def merge(self, name: str, tree: Path) -> str:
        """Commit what the worktree holds and merge it; return why that failed."""
        with self._merging:
            run(["git", "add", "-A"], tree)
            run(["git", "commit", "-qm", f"Issue {name}\n\nIssue: {name}"], tree)
            head = run(["git", "rev-parse", "HEAD"], tree)[1].strip()
            if run(["git", "diff", "--quiet", f"main...{head}"], self.repository)[0] == 0:
                return "nothing was changed"
            kill("merge")
            code, output = run(
                ["git", "merge", "--no-ff", "-qm", f"Merge issue {name}\n\nIssue: {name}", head], self.repository
            )
            if code != 0:
                run(["git", "merge", "--abort"], self.repository)
                run(["git", "reset", "-q", "--hard", "main"], tree)
                return f"git merge failed: {output}"
        return ""

    def fresh(self, tree: Path) -> None:
        """Make the worktree anew from main."""
        self.git("worktree", "remove", "--force", str(tree))
        run(["rm", "-rf", str(tree)], self.repository)
        self.git("worktree", "prune")
        self.git("worktree", "add", "-q", "--detach", str(tree), "main")

    def git(self, *args: str) -> str:
        """Run git in the repository; return what it printed."""
        return run(["git", *args], self.repository)[1]


def run(
    command: list[str], folder: Path, limit: float | None = None, text: str = "", env: dict[str, str] | None = None
) -> tuple[int, str]:
    """Run a program; return its exit code (124 where it took too long) and what it printed."""
    try:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **(env or {})}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        return 127, str(error)
    _children.add(process.pid)
    try:
        output = process.communicate(text, limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return 124, f"{process.communicate()[0]}\nstopped: it took too long"
    finally:
        _children.discard(process.pid)
    return process.returncode, output


_children: set[int] = set()
_hits: dict[str, int] = {}


def kill(point: str) -> None:
    """Die, where the night wants it here: `NIGHT_KILL=point:n`, at the n-th time."""
    name, _, count = os.environ.get("NIGHT_KILL", "").partition(":")
    _hits[point] = _hits.get(point, 0) + 1
    if name == point and _hits[point] == int(count or 1):
        os.kill(os.getpid(), signal.SIGKILL)


def stop(*_: object) -> None:
    """End as a person's Ctrl-C ends a shell's loop: with what it has started."""
    for pid in tuple(_children):
        os.killpg(pid, signal.SIGKILL)
    os._exit(130)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, stop)
    sys.exit(Loop(sys.argv[1], Path(sys.argv[2]), World(Path(sys.argv[3]))).run())
