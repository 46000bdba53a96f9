"""Tells how honest commits fare: `python benchmarks/histories choose|run|table`; see README.md beside it."""

import argparse
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import TypeVar

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from histories import history  # noqa: E402
from histories.contradiction import Scratch  # noqa: E402
from histories.history import Commit, Project, Result  # noqa: E402
from histories.play import JUDGED, play  # noqa: E402

_Thing = TypeVar("_Thing")
_RESULTS, _COMMITS = "results.tsv", "commits.tsv"


def main() -> int:
    """Choose commits, run noface on them, or print what came of it."""
    options = _options()
    return {"choose": _choose, "run": _run, "table": _table}[options.what](options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="histories", description="How honest commits of public projects fare.")
    parser.add_argument("--data", type=Path, default=HERE, help="folder of projects.toml, commits.tsv and results.tsv")
    parser.add_argument("--project", action="append", help="only this project; may be given several times")
    verbs = parser.add_subparsers(dest="what", required=True)
    for name, text in (("choose", "find commits that are green here, and whether main's tests contradict them"),
                       ("run", "let noface land each chosen commit")):  # fmt: skip
        verb = verbs.add_parser(name, help=text)
        verb.add_argument("histories", type=Path, help="folder of clones, bare or not")
        verb.add_argument(
            "--python",
            type=Path,
            default=Path(sys.executable).parent,
            help="folder of the python with the projects' test tools",
        )
        verb.add_argument("--folder", type=Path, required=True, help="where checkouts and runs are made")
        verb.add_argument("--jobs", type=int, default=2, help="how many at a time")
    choose, run = verbs.choices["choose"], verbs.choices["run"]
    choose.add_argument("--each", type=int, default=8, help="green commits of each project")
    choose.add_argument("--tries", type=int, default=24, help="commits of each project that are tried for it")
    run.add_argument(
        "--mode",
        choices=("none", "honest", "best", "invented", "no"),
        default="none",
        help="how the role that is asked answers; none: there is no role",
    )
    run.add_argument(
        "--in-question",
        action="store_true",
        help="only commits that main's tests contradict, or that lack or skip some of them",
    )
    run.add_argument("--seconds", type=float, help="start no further commit after this time")
    run.add_argument("--keep", action="store_true", help="keep the repositories of the runs")
    verbs.add_parser("table", help="print what is known")
    return parser.parse_args()


def _projects(options: argparse.Namespace) -> list[Project]:
    known = history.projects(options.data / "projects.toml")
    return [project for project in known if not options.project or project.name in options.project]


def _choose(options: argparse.Namespace) -> int:
    table = options.data / _COMMITS
    known = history.read(table, Commit)
    lock = Lock()

    def one(project: Project) -> None:
        git_dir = project.git_dir(options.histories)
        if git_dir is None:
            print(f"{project.name}: no clone in {options.histories}", file=sys.stderr)
            return
        before = {row.commit: row for row in known if row.project == project.name}
        scratch = Scratch(project, git_dir, options.folder / "scratch" / project.name, options.python)
        green = tried = 0
        for commit, lines in history.candidates(git_dir, project):
            if green == options.each or tried == options.tries:
                break
            row = before.get(commit) or scratch.tried(commit, lines)
            tried, green = tried + 1, green + (row.state == "green")
            if commit not in before:
                with lock:
                    history.add(table, row)
                    print(*vars_of(row), flush=True)
        scratch.remove()

    _each(one, _projects(options), options.jobs)
    return 0


def _each(do: Callable[[_Thing], None], things: Iterable[_Thing], jobs: int) -> None:
    """Do all, some at a time; one that fails (a history with gaps, say) is told and keeps no other."""
    with ThreadPoolExecutor(jobs) as pool:
        for thing, future in [(thing, pool.submit(do, thing)) for thing in things]:
            problem = future.exception()
            if problem is not None:
                print(f"{thing}: {problem!r}", file=sys.stderr, flush=True)


def vars_of(row: Commit) -> Iterable[object]:
    """Return a row as it is told on the way."""
    return row.project, row.commit[:10], row.state, row.lines, row.contradicts, row.gone, row.skipped


def _run(options: argparse.Namespace) -> int:
    table = options.data / _RESULTS
    done = {(row.commit, row.mode) for row in history.read(table, Result)}
    known = {project.name: project for project in _projects(options)}
    wanted = [
        row
        for row in history.read(options.data / _COMMITS, Commit)
        if row.state == "green" and row.project in known and (row.in_question or not options.in_question)
        if (row.commit, options.mode) not in done
    ]
    until = time.monotonic() + options.seconds if options.seconds else float("inf")
    lock = Lock()

    def one(row: Commit) -> None:
        project = known[row.project]
        git_dir = project.git_dir(options.histories)
        if git_dir is None or time.monotonic() > until:
            return
        folder = options.folder / "runs" / f"{row.project}-{row.commit[:8]}-{options.mode}"
        played = play(project, git_dir, row.commit, options.mode, folder, options.python)
        with lock:
            history.add(table, Result(row.project, row.commit, options.mode, *played[:3], played.seconds))
            told = (row.project, row.commit[:10], played.verdict, played.kind, played.rule, f"{played.seconds} s")
            print(
                *told, f"contradicted by {row.contradicts}", played.words.replace("\n", " ")[:300], sep="\t", flush=True
            )
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)

    _each(one, wanted, options.jobs)
    return 0


def _table(options: argparse.Namespace) -> int:
    print("\n".join(page(history.read(options.data / _COMMITS, Commit), history.read(options.data / _RESULTS, Result))))
    return 0


def page(tried: list[Commit], results: list[Result]) -> Iterator[str]:
    """Yield what is known: how often main's tests contradict, and for each mode what became of the commits."""
    commits = [row for row in tried if row.state == "green"]
    against = {row.commit for row in commits if row.contradicts}
    yield f"{len(commits)} green commits of {len({row.project for row in commits})} projects"
    yield f"  main's tests contradict {_share(len(against), len(commits))}"
    yield f"  tests of main are gone or renamed in {_share(sum(row.gone > 0 for row in commits), len(commits))}"
    yield f"  tests of main are skipped in {_share(sum(row.skipped > 0 for row in commits), len(commits))}"
    known = {row.commit for row in commits}
    for mode in sorted({row.mode for row in results}):
        played = [row for row in results if row.mode == mode and row.commit in known]
        judged = [row for row in played if row.verdict in JUDGED]
        yield f"mode {mode}: {len(judged)} commits judged, {len(played) - len(judged)} that could not be"
        for name, those in (("contradicted", True), ("others", False)):
            rows = [row for row in judged if (row.commit in against) is those]
            for word, number in history.counted(row.verdict for row in rows).items():
                yield f"  {name:13} {word:20} {_share(number, len(rows))}"
        reasons = history.counted(
            f"{row.verdict}: {row.kind} {row.rule}" for row in played if "landed" not in row.verdict
        )
        yield from (f"  {number:4}  {reason}" for reason, number in reasons.items())


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})" if whole else "none"


if __name__ == "__main__":
    sys.exit(main())
