"""Shows whether generated nights are fair: `oracle` lands the right work alone, `credulous` whatever an agent leaves.

    python oracle.py oracle|credulous REPOSITORY WORLD

The oracle knows a night's truth, which no other player does; what is wrong with its night is the benchmark's fault.
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nights.loop import Loop, run, stop
from nights.world import World


class Oracle(Loop):
    """Has what happens in the night happen first, then does what issues ask for that must land."""

    def run(self) -> int:
        """Work through the issues in an order that their dependencies allow."""
        night = self.world.night
        for name in night["meanwhile"]:
            if not (self.world.folder / "asks" / f"{name}.done").exists():
                run(["meanwhile", name], self.repository, 30.0)
        for number in night["expect"]["landed"] + [ids[0] for ids in night["expect"]["one_of"]]:
            if f"\nIssue: {number}\n" not in f"\n{self.git('log', '--format=%B', 'main')}\n":
                self.land(number, night)
        return 3

    def land(self, number: str, night: dict[str, object]) -> None:
        issue = next(one for one in night["issue"] if one["id"] == number)  # type: ignore[attr-defined]
        right = [turn["do"] for turn in issue["turn"] if turn.get("truth") == "right"]
        done = [f"right-{number}"] if f"right-{number}" in night["tools"] else []  # type: ignore[operator]
        tree = self.trees / number
        self.fresh(tree)
        for script in (*done, *(right[:1] if "FANCY" in right[0] or not done else [])):
            run(["bash", "-c", script], tree, 30.0, env={"NOFACE_ISSUE_ID": number})
        print(number, self.merge(number, tree), flush=True)

    def merge(self, name: str, tree: Path) -> str:
        """Commit what the worktree holds onto main, whatever branch is checked out or file staged beside it."""
        old = self.git("rev-parse", "main").strip()
        run(["git", "add", "-A"], tree)
        run(["git", "commit", "-qm", f"Issue {name}\n\nIssue: {name}"], tree)
        new = run(["git", "rev-parse", "HEAD"], tree)[1].strip()
        if self.git("symbolic-ref", "--short", "HEAD").strip() == "main":
            refused = run(["git", "read-tree", "-m", "-u", old, new], self.repository)[1]
            if refused:
                return refused
        return self.git("update-ref", "refs/heads/main", new, old)


class Credulous(Loop):
    """Merges what the agent's first run leaves, without a look at it."""

    def __init__(self, variant: str, repository: Path, world: World) -> None:
        super().__init__(variant, repository, world)
        self.gates = []

    def attempt(self, name: str, attempt: int, tree: Path, prompt: str, _accept: list[str]) -> str:
        """Do one attempt, and take its success for granted."""
        self.agent(name, attempt, tree, prompt)
        return self.merge(name, tree)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, stop)
    player = Oracle if sys.argv[1] == "oracle" else Credulous
    # What ends a night's noface in the middle of its work ends an oracle at once.
    os.environ.pop("NIGHT_KILL", None)
    sys.exit(player(sys.argv[1], Path(sys.argv[2]), World(Path(sys.argv[3]))).run())
