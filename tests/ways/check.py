"""Holds the table of ways against the real tools: `python tests/ways/check.py [WORD]...`.

Each way is committed to a repository, checked out afresh, and the project's gates are run on it: they must be green,
for a cheat as for an honest change. Then `truth` is asked, which must tell the two apart. A word chooses the projects
and ways whose names hold it. What cannot be run here is named at the end.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from table import Gate, Kind, Project, Way, apply, projects

SECONDS = 120
AUTHOR = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a way came to: `wrong` says what is not as the table has it, "" where nothing is."""

    project: str
    way: str
    wrong: str
    seconds: float


def surroundings() -> dict[str, str]:
    """Give the environment of gates: what programs need to run, and nothing that tells of a developer's shell."""
    kept = ("HOME", "LANG", "TMPDIR", "CARGO_HOME", "RUSTUP_HOME", "PYENV_ROOT", "GOCACHE", "GOPATH", "GOROOT")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a project has the plugins that it asks for
    env["CARGO_NET_OFFLINE"] = "true"
    env["GOPROXY"] = "off"
    env["npm_config_update_notifier"] = "false"
    env["GIT_CONFIG_NOSYSTEM"] = "1"
    return env


def run(command: str, tree: Path) -> tuple[int, str]:
    """Run a command as a gate is run: its exit code and its output. A command that takes too long has failed."""
    try:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tree,
            env=surroundings(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, f"`{command}` took longer than {SECONDS} s"
    return done.returncode, done.stdout.decode(errors="replace")


def lacking(needs: tuple[str, ...]) -> str:
    """Give the first of these commands that fails here, "" where all succeed."""
    return next((need for need in needs if run(need, Path.cwd())[0]), "")


class Ground:
    """A repository whose main is a project, and fresh checkouts of what is made of it."""

    def __init__(self, project: Project, folder: Path):
        self.project = project
        self.folder = folder
        self.repository = folder / "repository"
        self.asked: dict[tuple[str, str], bool] = {}
        shutil.copytree(project.folder, self.repository, symlinks=True)
        self.git("init", "-q", "-b", "main")
        self.commit("main")

    def git(self, *args: str) -> str:
        command = ["git", *AUTHOR, *args]
        done = subprocess.run(command, cwd=self.repository, env=surroundings(), check=True, capture_output=True)
        return done.stdout.decode()

    def commit(self, title: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", title)

    @contextmanager
    def checkout(self, branch: str, *, setup: bool = False) -> Iterator[Path]:
        """Give a fresh tree of a branch, with the packages of main's setup or, with `setup`, those of its own.

        Raises RuntimeError where the setup fails.
        """
        tree = self.folder / f"tree-{branch}"
        self.git("worktree", "add", "-q", "--detach", str(tree), branch)
        packages = self.folder / "packages"
        try:
            if self.project.setup and (setup or not packages.exists()):
                code, said = run(self.project.setup, tree)
                if code:
                    raise RuntimeError(f"`{self.project.setup}` fails: {said[-800:]}")
                if branch == "main":
                    shutil.copytree(tree / self.project.kept, packages, symlinks=True)
            elif self.project.setup and not (tree / self.project.kept).exists():
                shutil.copytree(packages, tree / self.project.kept, symlinks=True, copy_function=os.link)
            yield tree
        finally:
            self.git("worktree", "remove", "--force", str(tree))

    def branch(self, name: str, way: Way) -> None:
        self.git("checkout", "-q", "-f", "-b", name, "main")
        self.git("clean", "-fdxq")
        apply(way, self.repository, surroundings())
        self.commit(way.title)

    def part(self, name: str, way: Way) -> None:
        """Commit what the way does to the files that break the product, and nothing else of it."""
        self.branch("whole", way)
        self.git("checkout", "-q", "-f", "-b", name, "main")
        for path in way.alone:
            if path in way.delete and path not in way.write:
                self.git("rm", "-q", path)
            else:
                self.git("checkout", "-q", "whole", "--", path)
        self.commit("what is broken")
        self.git("branch", "-q", "-D", "whole")

    def whole(self, truth: str, honest: str) -> bool:
        """Say whether a truth succeeds in an honest way of the project. Raises StopIteration where there is none."""
        if (truth, honest) not in self.asked:
            way = next(each for each in self.project.ways if each.id == honest and each.kind is Kind.HONEST)
            name = f"whole-{len(self.asked)}"
            self.branch(name, way)
            with self.checkout(name) as tree:
                self.asked[truth, honest] = run(truth, tree)[0] == 0
        return self.asked[truth, honest]


def red(gates: tuple[Gate, ...], tree: Path) -> str:
    """Give the name and the output of the first gate that fails, "" where all are green."""
    for gate in gates:
        code, said = run(gate.command, tree)
        if code:
            return f"gate {gate.name}, exit {code}: {said[-900:]}"
    return ""


def wrong(ground: Ground, way: Way) -> str:
    """Say what is not so that the table says of a way, "" where all is."""
    project = ground.project
    ground.branch(way.id, way)
    changed = ground.git("diff", "--name-only", "main", way.id).splitlines()
    setup = any(path in project.setup_inputs for path in changed)
    with ground.checkout(way.id, setup=setup) as tree:
        failed = red(project.gates, tree)
        if failed:
            return f"not green: {failed}"
        # A gate may have written to the tree; the truth is asked of what was committed.
        run(f"git checkout -q -f -- . && git clean -fdq -e {project.kept or '.git'}", tree)
        code, said = run(way.truth, tree)
        if way.kind is Kind.CHEAT and code in (0, 124, 126, 127):
            return f"truth exits {code}: {said[-800:]}"
        if way.kind is Kind.HONEST and code:
            return f"truth exits {code}: {said[-800:]}"
        if any(run(command, tree)[0] for command in way.accept):
            return "not all of accept is green"
    if way.accept:
        with ground.checkout("main") as tree:
            if not all(run(command, tree)[0] for command in way.accept):
                return "not all of accept is red on main"
    if way.kind is Kind.CHEAT and not ground.whole(way.truth, way.whole_in):
        return f"truth fails in {way.whole_in}, too"
    if way.alone:
        ground.part(f"{way.id}-alone", way)
        with ground.checkout(f"{way.id}-alone") as tree:
            if not red(project.gates, tree):
                return f"the gates are green with {', '.join(way.alone)} alone"
    return ""


def outcomes(project: Project, ways: tuple[Way, ...]) -> Iterator[Outcome]:
    """Check main, which is the way "main", and these ways of a project, one after the other."""
    with tempfile.TemporaryDirectory(prefix="ways-", ignore_cleanup_errors=True) as folder:
        ground = Ground(project, Path(folder))
        started = time.monotonic()
        try:
            with ground.checkout("main") as tree:
                failed = red(project.gates, tree)
        except RuntimeError as error:
            failed = str(error)
        yield Outcome(project.name, "main", failed, time.monotonic() - started)
        if failed:
            return
        for way in ways:
            started = time.monotonic()
            try:
                said = wrong(ground, way)
            except subprocess.CalledProcessError as error:
                said = f"{error}: {error.output!r} {error.stderr!r}"
            except (OSError, RuntimeError) as error:
                said = str(error)
            yield Outcome(project.name, way.id, said, time.monotonic() - started)


def chosen(words: list[str]) -> Iterator[tuple[Project, tuple[Way, ...]]]:
    """Give the projects and ways whose names hold one of these words, all where there are none."""
    for project in projects():
        names = [word for word in words if word in project.name]
        ways = tuple(way for way in project.ways if not words or names or any(word in way.id for word in words))
        if ways:
            yield project, ways


def main() -> int:
    counts = {Kind.CHEAT: 0, Kind.HONEST: 0}
    failed, left = 0, []
    picked = list(chosen(sys.argv[1:]))
    if not picked:
        print(f"no way has {' or '.join(sys.argv[1:])} in its name", file=sys.stderr)
        return 1
    for project, ways in picked:
        need = lacking(project.needs)
        if need:
            left.append(f"{project.name} ({len(ways)} ways): `{need}` fails")
            continue
        lack = {way.id: lacking(way.needs) for way in ways}
        left += [f"{way}: `{need}` fails" for way, need in lack.items() if need]
        kinds = {way.id: way.kind for way in ways}
        for outcome in outcomes(project, tuple(way for way in ways if not lack[way.id])):
            kind = kinds.get(outcome.way)
            if outcome.wrong:
                failed += 1
                print(f"WRONG   {outcome.project:<8}{outcome.way}: {outcome.wrong}", flush=True)
            else:
                truth = {None: "", Kind.CHEAT: "truth red", Kind.HONEST: "truth green"}[kind]
                print(f"green   {outcome.project:<8}{outcome.way:<44}{truth:<12}{outcome.seconds:5.1f} s", flush=True)
                if kind:
                    counts[kind] += 1
    for line in left:
        print(f"not run {line}")
    print(f"{counts[Kind.CHEAT]} cheats, {counts[Kind.HONEST]} honest, {failed} wrong, {len(left)} not run")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
