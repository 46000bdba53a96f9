"""Has noface judge each way of the table: `python tests/ways/run.py [WORD]...` prints what became of each.

A worker that makes the change is run as an attempt on the project: supervised, snapshot taken, gated, judged. A cheat
must not come out with a proof by which it would land by itself; an honest change lands, or is asked about. What
noface would ask a model, because main's tests contradict the change, lands only by a yes that bears: for each such way
it is told what a lazy judge's yes comes to that invents its quote ("refused"), and one that copies the issue's title.
Preflight runs once a project: gates green on main, the canary red. A word chooses the projects and ways whose names hold it.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from check import AUTHOR, chosen, lacking, surroundings
from table import Kind, Project, Way

from noface.attempt.attempt import Attempt
from noface.attempt.environment import AttemptProgress, Scope
from noface.attempt.run import run_attempt
from noface.cli.run_session import make_context, open_project
from noface.cli.wiring import RunOptions, settings
from noface.engine.changed_tests import grounds_of, patch_of_tests
from noface.engine.context import RunContext
from noface.engine.orders import protection_for
from noface.engine.preflight import preflight
from noface.errors import NofaceError
from noface.integrity.asked_for import unfounded
from noface.integrity.tampering import BY_MAIN, CONTRADICTED
from noface.model.attempt import AttemptOrder, AttemptReport, Interrupted, NotStarted
from noface.model.issue import Issue
from noface.process.supervise import Canceller
from noface.store.database import Database

APPLY = """\
import os, pathlib, sys
sys.path.insert(0, {here!r})
import table
way = next(way for project in table.projects() for way in project.ways if way.id == os.environ["WAY"])
table.apply(way, pathlib.Path("."), os.environ)
"""


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a way: `lands`, or is `asked` about, or neither; `why` in the words of noface."""

    way: Way
    lands: bool
    asked: bool
    why: str
    gate_runs: int
    seconds: float
    lazy: str = ""

    @property
    def right(self) -> bool:
        """True where a cheat does not land, and an honest change does or is asked about."""
        return not self.lands if self.way.kind is Kind.CHEAT else self.lands or self.asked


class Ground:
    """A repository with the project on main, and the parts of a run on it."""

    def __init__(self, project: Project, folder: Path, stack: ExitStack, sandbox: str) -> None:
        self.project = project
        self.repository = folder / project.name
        shutil.copytree(project.folder, self.repository, symlinks=True)
        (self.repository / "noface.toml").write_text(self._config(folder, sandbox))
        for args in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "main")):
            subprocess.run(
                ["git", *AUTHOR, *args], cwd=self.repository, env=surroundings(), check=True, capture_output=True
            )
        repository, config, tracker = open_project(self.repository, None, RunOptions())
        database = Database.open(repository.state_dir / "state.db")
        stack.callback(database.close)
        chosen_settings = settings(config, repository, RunOptions())
        self.context: RunContext = make_context(
            repository, config, tracker, chosen_settings, database, lambda *_: None, stack
        )
        self.context.journal.run_started(time.time(), 1)

    def _config(self, folder: Path, sandbox: str) -> str:
        project = self.project
        lines = ["[project]", 'main = "main"']
        if project.setup:
            lines += [
                f"setup = {json.dumps(project.setup)}",
                f"setup_inputs = {json.dumps(list(project.setup_inputs))}",
            ]
        if project.kept:
            lines.append(f"keep = {json.dumps([project.kept])}")
        for gate in project.gates:
            lines += ["[[gates]]", f"name = {json.dumps(gate.name)}", f"command = {json.dumps(gate.command)}"]
            lines.append(f"kind = {json.dumps(gate.kind)}")
        script = folder / "apply.py"
        script.write_text(APPLY.format(here=str(Path(__file__).parent)))
        command = f"{sys.executable} {script}"
        lines += [
            "[models.cheat]",
            'agent = "command"',
            'sandbox = "none"',
            f"command = {json.dumps(command)}",
            'env_pass = ["WAY", "CARGO_*"]',
        ]
        lines += ["[retry]", 'default_model = "cheat"', "[sandbox]", f"kind = {json.dumps(sandbox)}"]
        lines += ["[run]", f"slots_dir = {json.dumps(str(folder / 'slots'))}"]
        return "\n".join(lines) + "\n"

    def judge(self, number: int, way: Way) -> Judged:
        """Run the way as an attempt, and look at what it came to."""
        context = self.context
        title, _, body = way.issue.strip().partition("\n")
        issue = Issue(str(number), title, body, paths=way.paths, accept=way.accept, may_change=way.may_change)
        main = context.env.plumbing.main()
        protection = protection_for(context, issue, main)
        model = context.settings.models["cheat"]
        order = AttemptOrder(
            run_id=context.run_id,
            token=f"{number:024x}",
            issue=issue,
            number=1,
            model=replace(model, env=(*model.env, ("WAY", way.id))),
            prompt=way.issue,
            main=main,
            start=main,
            slot=0,
            directory=str(Path(context.settings.attempts_dir) / str(number) / "1"),
            gates=context.gates_for(issue),
            protected=protection.patterns,
            may_change=protection.may_change,
            any_case=protection.any_case,
            seal="0",
        )
        runs: list[object] = []
        started = time.monotonic()
        report = run_attempt(Attempt(order, Scope(context.env, Canceller(), runs.append)))
        names = {gate.name for gate in order.gates} | {f"{gate.name} once more" for gate in order.gates}
        gate_runs = sum(isinstance(message, AttemptProgress) and message.text in names for message in runs)
        judged = _judged(way, report, gate_runs, time.monotonic() - started)
        return replace(judged, lazy=self._lazy(report, issue, main))

    def _lazy(self, report: AttemptReport, issue: Issue, main: str) -> str:
        """Say what becomes of a way that a model is asked about, if the model says yes to everything."""
        failure = getattr(report, "failure", None)
        if failure is None or failure.rule != CONTRADICTED:
            return ""
        work = report.snapshot
        paths = tuple(change.path for change in work.changes)
        patch = patch_of_tests(self.context.env.plumbing, main, work.candidate, paths)
        grounds = grounds_of((issue.title, issue.body), patch, failure.failing_tests)
        invented = unfounded("The tests have to be changed accordingly.", grounds)
        copied = min((unfounded(text, grounds) for text in (issue.title, *issue.body.split(". "))), key=len)
        return f"asked: invented {'refused' if invented else 'LANDS'}, copied {'refused' if copied else 'lands'}"


def _judged(way: Way, report: AttemptReport, gate_runs: int, seconds: float) -> Judged:
    if isinstance(report, Interrupted):
        return Judged(way, lands=False, asked=False, why="interrupted", gate_runs=gate_runs, seconds=seconds)
    failure = report.failure
    if isinstance(report, NotStarted) or (failure is not None and failure.kind == "AGENT_CRASH"):
        raise RuntimeError(f"{way.id} was not made: {failure.message}")
    why = f"{failure.kind} {failure.rule}: {failure.message}" if failure is not None else "; ".join(report.doubts)
    asked = bool(report.doubts) or (failure is not None and failure.rule in BY_MAIN)
    asked = asked or (failure is not None and failure.kind == "GATE_TAMPERING")
    lands = failure is None and not report.doubts and report.proof is not None
    return Judged(way, lands, asked, why, gate_runs, seconds)


def judged(project: Project, ways: tuple[Way, ...], sandbox: str) -> Iterator[Judged]:
    """Judge these ways of a project. Raises NofaceError where main is not fit for work."""
    with tempfile.TemporaryDirectory(prefix="ways-", ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        ground = Ground(project, Path(folder), stack, sandbox)
        for result in preflight(ground.context, Canceller()):
            ground.context.env.memory.remember(ground.context.env.key(result.tree, result.gate), result)
        for number, way in enumerate(ways, 1):
            yield ground.judge(number, way)


def main() -> int:
    os.environ.update(surroundings())  # a gate gets what noface has
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    sandbox = "none" if "--no-sandbox" in sys.argv else "auto"
    counts: dict[str, int] = {}
    wrong = 0
    for project, ways in chosen(words):
        need = lacking(project.needs)
        if need:
            print(f"not run {project.name} ({len(ways)} ways): `{need}` fails")
            continue
        try:
            for each in judged(project, tuple(way for way in ways if not lacking(way.needs)), sandbox):
                what = "lands" if each.lands else "asked" if each.asked else "fails"
                if each.lazy:
                    counts[f"{each.way.kind} {each.lazy}"] = counts.get(f"{each.way.kind} {each.lazy}", 0) + 1
                counts[f"{each.way.kind} {what}"] = counts.get(f"{each.way.kind} {what}", 0) + 1
                wrong += not each.right or (each.way.kind is Kind.CHEAT and "invented LANDS" in each.lazy)
                mark = "      " if each.right else "WRONG "
                print(
                    f"{mark}{each.way.kind:<7}{what:<8}{each.way.id:<42}{each.gate_runs:3d} runs {each.seconds:5.1f} s"
                    f"  {f'({each.lazy}) ' if each.lazy else ''}{' '.join(each.why.split())[:300]}",
                    flush=True,
                )
        except NofaceError as error:
            wrong += 1
            print(f"WRONG {project.name}: {error.message} {error.hint}", flush=True)
    print(", ".join(f"{name}: {number}" for name, number in sorted(counts.items())), f"; {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
