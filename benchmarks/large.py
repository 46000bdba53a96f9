"""A repository after a long life: what each looking command takes there, and a run's tick by the size of its backlog.

`python benchmarks/large.py [--issues 20000 --events 1000000 --attempts 2000]`. Four issues are worked on for real; their
rows, folders and commits are then multiplied, so that they are what noface writes, whatever its schema is.
"""

import argparse
import compileall
import os
import resource
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

import noface

NOFACE = str(Path(sys.executable).with_name("noface"))
WORKER = """rm -f bad; case $NOFACE_ISSUE_ID-$NOFACE_ATTEMPT in 2-1|4-*) touch bad;; esac; echo x > made-$NOFACE_ISSUE_ID.txt"""
CONFIG = """
[[gates]]
name = "g"
command = "test ! -e bad"
[models.m]
agent = "command"
command = '''{worker}'''
[retry]
default_model = "m"
[run]
slots_dir = "{slots}"
workers = {workers}
[sandbox]
kind = "none"
"""
LIVES = ("1", "1", "1", "3", "3", "3", "3", "2", "2", "4")
"""Of ten issues that were worked on, which of the four each is like: 7 land at once, 2 at the second try, 1 is blocked."""
MONTH_S = 30 * 86400
LOOKS = (
    "status", "status --all", "status --json", "status --since 8h", "blocked", "blocked --json", "issues",
    "issues --json", "issues show 500", "show 14", "show 14 --json", "show 14 --why", "show 14 --why --json", "logs 5", "logs 5 --json",
    "report", "report --json", "report --since 2020-01-01",
    "run --dry-run", "run --dry-run --json", "config show", "config check", "doctor", "tools fsck", "tools fsck --json",
    "config hints suggest", "config policy", "tools clean --dry-run", "tools clean --dry-run --json", "",
)  # fmt: skip
"""What only looks; "" asks for the completion of an issue's id."""
COMPLETE = {"_NOFACE_COMPLETE": "complete_bash", "COMP_WORDS": "noface show ", "COMP_CWORD": "2"}


def git(repo: Path, *args: str, data: bytes | None = None) -> str:
    done = subprocess.run(["git", *args], cwd=repo, input=data, capture_output=True, check=True)
    return done.stdout.decode()


def configure(repo: Path, slots: Path, worker: str = WORKER, workers: int = 1) -> None:
    (repo / "noface.toml").write_text(CONFIG.format(worker=worker, slots=slots, workers=workers))


def write_issues(repo: Path, first: int, last: int) -> None:
    """Write issues of half a kilobyte; of each five the last four wait for one another."""
    (repo / "issues").mkdir(exist_ok=True)
    for number in range(first, last + 1):
        after = f"depends_on = [{number - 1}]\n" if number > len(LIVES) and number % 5 else ""
        head = f'+++\ntitle = "Issue {number}"\npriority = {number % 4}\n{after}+++\n\n'
        (repo / "issues" / f"{number}-x.md").write_text(
            head + f"Write made-{number}.txt.\n" + "It is asked for.\n" * 20
        )


def start(repo: Path) -> Path:
    repo.mkdir(parents=True)
    git(repo, "init", "-q", "-b", "main")
    for key, value in (("user.name", "bench"), ("user.email", "bench@localhost"), ("gc.auto", "0")):
        git(repo, "config", key, value)
    (repo / "a.txt").write_text("one\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "start")
    return repo


def make(folder: Path, issues: int, events: int, attempts: int) -> Path:
    """Make the repository; return its folder."""
    repo = start(folder / "repo")
    configure(repo, folder / "slots")
    write_issues(repo, 1, 4)
    subprocess.run([NOFACE, "run"], cwd=repo, stdout=subprocess.DEVNULL, check=False)
    write_issues(repo, 5, issues)
    multiply(repo, attempts * len(LIVES) // 14, events)
    return repo


def multiply(repo: Path, worked: int, events: int) -> None:
    """Let issues 5 to `worked` have lived as the four did, in the month before."""
    state = repo / ".git" / "noface"
    database = sqlite3.connect(state / "state.db")
    database.row_factory = sqlite3.Row
    tables = ("attempts", "events", "landings")
    lived = {
        table: list(map(dict, database.execute(f"SELECT * FROM {table} WHERE issue_id IS NOT NULL")))
        for table in tables
    }
    models = {row["id"]: dict(row) for row in database.execute("SELECT * FROM issues")}
    like = {number: LIVES[number % len(LIVES)] for number in range(5, worked + 1)}
    tips = commits(repo, [(number, row["number"], row["outcome"] == "PASSED") for number, one in like.items()
                          for row in lived["attempts"] if row["issue_id"] == one])  # fmt: skip
    now, step = time.time(), MONTH_S / worked

    def renamed(row: dict[str, object], number: int) -> dict[str, object]:
        at = now - MONTH_S + step * number
        times = {key: at for key in ("at", "started_at", "finished_at") if key in row}
        made = {"id": None} if "id" in row else {"token": f"t{number}-{row['number']}"} if "token" in row else {}
        return {**row, **times, **made, "issue_id": str(number)}

    for number, one in like.items():
        for row in (each for each in lived["attempts"] if each["issue_id"] == one):
            place, tip = state / "attempts" / str(number) / str(row["number"]), tips[number, row["number"]]
            shutil.copytree(row["directory"], place)
            put(
                database,
                "attempts",
                renamed(row, number) | {"directory": str(place), "commit_id": tip, "candidate": tip},
            )
        for row in (each for each in lived["landings"] if each["issue_id"] == one):
            put(database, "landings", renamed(row, number) | {"new": tips[number, 0]})
        merged = tips.get((number, 0))
        put(
            database,
            "issues",
            models[one] | {"id": str(number), "source": f"issues/{number}-x.md", "merged_commit": merged},
        )
    ring = [renamed(row, number) for number, one in like.items() for row in lived["events"] if row["issue_id"] == one]
    columns = [name for name in ring[0] if name != "id"]
    values = [tuple(row[name] for name in columns) for row in ring]
    sql = f"INSERT INTO events ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    for _ in range(events // len(values)):
        database.executemany(sql, values)
    database.commit()
    database.close()


def put(database: sqlite3.Connection, table: str, row: dict[str, object]) -> None:
    sql = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
    database.execute(sql, tuple(row.values()))


def commits(repo: Path, made: list[tuple[int, int, bool]]) -> dict[tuple[int, int], str]:
    """Make a commit and ref for each attempt, and for each that passed its landing on main (number 0 of the issue)."""
    lines, main = [], git(repo, "rev-parse", "main").strip()
    who = "committer bench <bench@localhost> 1700000000 +0000"

    def commit(ref: str, mark: int, message: str, *parents: str, name: str = "") -> None:
        file = f"M 100644 inline {name}\ndata 2\nx\n" if name else ""
        more = "".join(f"{word} {parent}\n" for word, parent in zip(("from", "merge"), parents, strict=False))
        lines.append(f"commit {ref}\nmark :{mark}\n{who}\ndata {len(message)}\n{message}\n{more}{file}")

    marks: dict[int, tuple[int, int]] = {}
    for issue, number, passed in made:
        ref, trailers = f"refs/noface/issues/{issue}/{number}", f"Noface-Issue: {issue}\nNoface-Attempt: {number}\n"
        mark = len(marks) + 1
        marks[mark] = issue, number
        commit(ref, mark, f"Issue {issue}\n\n{trailers}Noface-Outcome: {'PASSED' if passed else 'AGENT_CRASH'}\n", main,
               name=f"made-{issue}.txt" if passed else "")  # fmt: skip
        if passed:
            marks[mark + 1] = issue, 0
            commit(
                "refs/heads/main", mark + 1, f"Issue {issue}\n\n{trailers}", main, f":{mark}", name=f"made-{issue}.txt"
            )
            main = f":{mark + 1}"
    kept = repo.parent / "marks"
    git(repo, "fast-import", "--quiet", "--force", f"--export-marks={kept}", data="".join(lines).encode())
    git(repo, "reset", "-q", "--hard")
    named = (line.split() for line in kept.read_text().splitlines())
    return {marks[int(mark[1:])]: oid for mark, oid in named}


def timed(argv: list[str], repo: Path, times: int, **more: str) -> tuple[float, float]:
    """Return the medians of the seconds that a command takes on the clock, and of the processor."""
    clock, used = [], []
    for _ in range(times):
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        env = {**os.environ, **more}
        subprocess.run(argv, cwd=repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        clock.append(time.perf_counter() - began)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(clock), statistics.median(used)


def run_beside(folder: Path, issues: int, seconds: float) -> tuple[float, float, float, int]:
    """Run noface on a new backlog with a worker that waits.

    Return the seconds to the first worker, on the clock and of the processor, the share of a core that the loop then takes, and its memory in bytes.
    """
    repo = start(folder / "repo")
    configure(repo, folder / "slots", "touch started; sleep 600")
    write_issues(repo, 1, issues)
    began = time.perf_counter()
    running = subprocess.Popen([NOFACE, "run"], cwd=repo, stdout=subprocess.DEVNULL)
    try:
        while not list((folder / "slots").glob("*/agent-*/*/started")):
            time.sleep(0.02)
        process = psutil.Process(running.pid)
        first, used = time.perf_counter() - began, sum(process.cpu_times()[:2])
        time.sleep(2)
        before = sum(process.cpu_times()[:2])
        time.sleep(seconds)
        return first, used, (sum(process.cpu_times()[:2]) - before) / seconds, process.memory_info().rss
    finally:
        running.send_signal(signal.SIGINT)
        running.wait()


def large(sizes: tuple[int, ...], issues: int, events: int, attempts: int, times: int = 3) -> None:
    """Print what a run's loop takes by the size of its backlog, and what each looking command takes after a long life."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            first, used, share, rss = run_beside(Path(name), size, 10.0)
        print(
            f"a run beside {size:,} issues: first worker after {first:.1f} s ({used:.1f} of the processor), "
            f"then {share:.1%} of a core, {rss / 1e6:.0f} MB"
        )
    if not events:
        return
    with tempfile.TemporaryDirectory() as name:
        repo = make(Path(name), issues, events, attempts)
        timed([NOFACE, "issues"], repo, 1)  # the first one after an edit reads the files
        floor, floor_used = timed([sys.executable, "-c", "import typer, rich"], repo, times)
        print(
            f"{issues:,} issues, {events:,} events, {attempts:,} attempts; times `import typer, rich` (clock, processor):"
        )
        for command in LOOKS:
            clock, used = timed([NOFACE, *command.split()], repo, times, **({} if command else COMPLETE))
            ratios = f"{clock / floor:5.1f}x {used / floor_used:5.1f}x"
            print(
                f"  {ratios}  {clock * 1000:6.0f} ms {used * 1000:6.0f} ms  noface {command or 'show <Tab>'}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--issues", type=int, default=20_000)
    parser.add_argument("--events", type=int, default=1_000_000, help="0: only the runs")
    parser.add_argument("--attempts", type=int, default=2_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 2000, 20000], help="backlogs of the runs")
    chosen = parser.parse_args()
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):  # an installed noface is compiled, and so is this one then
        compileall.compile_dir(str(Path(noface.__file__).parent), quiet=1)
    try:
        large(tuple(chosen.sizes), chosen.issues, chosen.events, chosen.attempts)
    finally:
        shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)


if __name__ == "__main__":
    main()
