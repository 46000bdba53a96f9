"""How often do two changes that share a file conflict, and does the file's record tell? `file_conflicts.py REPOSITORY…`

Of each public history the newest commits of main's first parents, merges left out. Each is tried beside each of the four
before it that share a file with it, as if both had been made at once: the earlier is taken out of what the later began
on, and git merges the two. `recovery/schedule` goes by the same record, file by file.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter

COMMITS, BESIDE, FILES_MAX = 300, 5, 30
WHO = {f"GIT_{role}_{key}": "x" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
ENV = {**os.environ, **WHO, "GIT_CONFIG_GLOBAL": "/dev/null"}
RULES = {
    "never met": lambda met, _: not met,
    "one conflict of one": lambda met, bad: met == bad == 1,
    "most conflicted": lambda met, bad: 2 * bad > met,
    "waits: 2 and three quarters conflicted": lambda met, bad: bad >= 2 and 4 * bad >= 3 * met,
    "3 and three quarters conflicted": lambda met, bad: bad >= 3 and 4 * bad >= 3 * met,
    "met thrice as often": lambda met, bad: met >= 3 * (1 + bad),
    "fits: met six times as often": lambda met, bad: met >= 6 * (1 + bad),
}


def git(folder: str, *args: str) -> str:
    """Return what git prints; a conflict is no error."""
    done = subprocess.run(["git", "--git-dir", folder, *args], capture_output=True, env=ENV, check=False)
    if done.returncode > 1:
        raise OSError(done.stderr.decode())
    return done.stdout.decode("utf-8", "surrogateescape")


def merged(folder: str, base: str, *sides: str) -> tuple[str, set[str]]:
    """Merge two trees that come from a commit; return the tree, and the files in conflict."""
    ours, theirs = (git(folder, "commit-tree", f"{side}^{{tree}}", "-p", base, "-m", "x").strip() for side in sides)
    tree, *names = git(folder, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs).split(
        "\0"
    )
    return tree, set(filter(None, names))


def look(folder: str, pairs: Counter[str], rules: Counter[tuple[str, bool]]) -> None:
    """Count the pairs of a history, and by rule how often a file was in conflict."""
    form = ("--format=%x01%H %P", "--name-only", "--no-renames")
    blocks = git(folder, "log", "--no-merges", "--first-parent", f"-{COMMITS}", *form).split("\1")[1:]
    commits: list[tuple[str, str, set[str]]] = []
    for block in reversed(blocks):
        head, *files = filter(None, block.split("\n"))
        commit, *parents = head.split()
        if len(parents) == 1:
            commits.append((commit, parents[0], {*files}))
    met, bad = Counter[str](), Counter[str]()
    for at, (commit, parent, files) in enumerate(commits):
        for other, before, others in commits[max(0, at - BESIDE) : at]:
            shared = files & others
            if not shared or max(len(files), len(others)) > FILES_MAX:
                continue
            without, stuck = (before, set()) if other == parent else merged(folder, other, parent, before)
            if stuck:
                continue  # what lies between builds on the earlier
            if other != parent:
                without = git(folder, "commit-tree", without, "-m", "x").strip()
            conflicts = merged(folder, parent, without, commit)[1]
            pairs.update(["share a file", *(["conflict"] if conflicts else [])])
            for file in shared:
                rules.update((name, file in conflicts) for name, holds in RULES.items() if holds(met[file], bad[file]))
                met[file] += 1
                bad[file] += file in conflicts


def main() -> int:
    """Print how many pairs conflict, and by rule the share of files that did."""
    pairs, rules = Counter[str](), Counter[tuple[str, bool]]()
    for repository in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "clone", "-q", "--bare", "--shared", repository, folder], check=True, env=ENV)
            look(folder, pairs, rules)
    print(f"{pairs['share a file']} pairs share a file, {pairs['conflict']} conflict")
    for name in RULES:
        yes, no = rules[name, True], rules[name, False]
        print(f"{name:40} {yes + no:6} meetings  {yes / max(yes + no, 1):.2f} conflict")
    return 0


if __name__ == "__main__":
    sys.exit(main())
