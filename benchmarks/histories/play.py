"""Has noface work on one commit as an issue: main is its parent, the worker applies its files, the gate is the project's.

What noface says at the end is the result. Its records stay in the run's folder until that is removed.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import tomli_w

from histories.contradiction import environment
from histories.history import Project, changes, git, issue_of

HERE = Path(__file__).resolve().parent
JUDGED = ("landed", "landed after a yes", "asked", "refused")
"""The verdicts that say something of noface. The others say of a commit that it cannot be judged here."""
_LIMIT_S = 900
_WHO = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")


class Played(NamedTuple):
    """What came of a commit; `kind` and `rule` are the last failure's, `words` what a person is told (not stored)."""

    verdict: str
    kind: str
    rule: str
    words: str
    seconds: int


def play(project: Project, git_dir: Path, commit: str, mode: str, folder: Path, python: Path) -> Played:
    """Run noface on a commit in a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    home = folder / "home"
    home.mkdir(parents=True)
    env = environment(python, home) | {"XDG_CACHE_HOME": str(home / "cache"), "COLUMNS": "120"}
    _hand_over(git_dir, commit, folder / "change")
    _make(project, git_dir, commit, mode, folder, env)
    began = time.monotonic()
    with (folder / "run.log").open("w") as log:
        process = subprocess.Popen(
            ["nice", sys.executable, "-m", "noface", "run"], cwd=folder / "repo", env=env, stdin=subprocess.DEVNULL,
            stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            process.wait(_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
    seconds = round(time.monotonic() - began)
    return _told(project, folder, env, seconds)


def _hand_over(git_dir: Path, commit: str, folder: Path) -> None:
    """Lay out what the commit changes for the worker: files as they are after it, and the names of those it deletes."""
    (folder / "files").mkdir(parents=True)
    changed = changes(git_dir, commit)
    kept = [change.path for change in changed if change.status != "D"]
    (folder / "deleted").write_text("".join(f"{change.path}\0" for change in changed if change.status == "D"))
    if kept:
        index = {**os.environ, "GIT_INDEX_FILE": str(folder / "index")}
        tree = ["git", "--git-dir", str(git_dir), "--work-tree", str(folder / "files")]
        subprocess.run([*tree, "read-tree", commit], env=index, check=True)
        subprocess.run([*tree, "checkout-index", "-f", "--", *kept], env=index, cwd=folder / "files", check=True)


def _worker(folder: Path) -> str:
    """Return the command that puts the commit's files in place, however often: an attempt may begin on the last one's."""
    change = shlex.quote(str(folder / "change"))
    return f"xargs -0 rm -f -- < {change}/deleted && cp -a {change}/files/. ."


def _make(project: Project, git_dir: Path, commit: str, mode: str, folder: Path, env: dict[str, str]) -> None:
    """Make the repository: one commit with the parent's files, noface's settings and the issue."""
    repo = folder / "repo"
    subprocess.run(["git", "init", "-q", "-b", "main", str(repo)], env=env, check=True)
    link = repo / ".git/objects/info/alternates"
    link.write_text(f"{(git_dir / 'objects').resolve()}\n")

    def run(*args: str) -> str:
        command = ["git", *_WHO, *args]
        return subprocess.run(command, cwd=repo, env=env, check=True, capture_output=True, text=True).stdout.strip()

    run("update-ref", "refs/heads/main", run("commit-tree", "-m", "Main", f"{commit}^^{{tree}}"))
    run("repack", "-adq")
    link.unlink()
    run("checkout", "-q", "-f", "main")
    (repo / "noface.toml").write_text(tomli_w.dumps(config(project, mode, folder)))
    title, body = issue_of(git(git_dir, "log", "-1", "--format=%B", commit))
    (repo / "backlog").mkdir()
    (repo / "backlog/1-commit.md").write_text(f"# {title}\n\n{body}\n")
    run("add", "-f", "noface.toml", "backlog")
    run("commit", "-q", "-m", "What noface needs")


def config(project: Project, mode: str, folder: Path) -> dict[str, Any]:
    """Return noface's settings: defaults, apart from what the benchmark is not about."""
    settings: dict[str, Any] = {
        "project": {"main": "main"},
        "run": {"slots_dir": str(folder / "slots")},
        "gates": [{"name": "tests", "command": project.command, "kind": "test", "canary": False}],
        "sandbox": {"kind": "none"},
        "tracker": {"path": "backlog"},
        "models": {"author": {"agent": "command", "command": _worker(folder), "tier": 1}},
        "retry": {"default_model": "author"},
        "review": {"when": "never"},
    }  # fmt: skip
    if mode != "none":
        judge = shlex.join([sys.executable, "-I", str(HERE / "judge.py"), mode, str(folder / "judged")])
        settings["models"]["judge"] = {"agent": "command", "command": judge, "tier": 2}
        settings["roles"] = {"reviewer": "judge"}
    return settings


def _told(project: Project, folder: Path, env: dict[str, str], seconds: int) -> Played:
    """Read the result from what noface tells."""

    def told(*args: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "noface", *args, "--json"]
        done = subprocess.run(command, cwd=folder / "repo", env=env, capture_output=True, text=True, check=False)
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {}

    issue = next((row for row in told("status").get("issues", ()) if row["id"] == "1"), {})
    failures = [attempt["failure"] or {} for attempt in told("show", "1").get("attempts", ())]
    last = failures[-1] if failures else {}
    words = issue.get("reason", "") or (folder / "run.log").read_text()[-2000:]
    status = issue.get("status", "") if failures else "not begun"
    gated = any(failure.get("gate") and failure["kind"] != "GATE_TAMPERING" for failure in failures)
    red = status == "blocked" and gated and not _green(project, folder, env)
    named = verdict(status, red=red, yes=(folder / "judged").exists())
    return Played(named, last.get("kind", ""), last.get("rule", ""), words, seconds)


def _green(project: Project, folder: Path, env: dict[str, str]) -> bool:
    """Tell whether the gate is green on the commit without noface."""
    run = ["git", "worktree", "add", "-q", "--detach", str(folder / "plain"), "main"]
    subprocess.run(run, cwd=folder / "repo", env=env, check=True, capture_output=True)
    plain = f"{_worker(folder)} && {project.command}"
    return (
        subprocess.run(
            ["bash", "-c", plain], cwd=folder / "plain", env=env, capture_output=True, check=False
        ).returncode
        == 0
    )


def verdict(status: str, *, red: bool, yes: bool) -> str:
    """Name what came of it: asked is what `noface approve` lands, refused what needs more of a person."""
    match status:
        case "merged":
            return "landed after a yes" if yes else "landed"
        case "approval":
            return "asked"
        case "not begun":
            return "main is red"
        case "blocked":
            return "its tests are red" if red else "refused"
    return "no result"
