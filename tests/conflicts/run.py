"""Issues that all append to one file, with several workers: do all land, and at what price beside one worker?

`python tests/conflicts/run.py [ISSUES] [WORKERS] [SECONDS]`, SECONDS being what each worker takes.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.project import Project
from support.surroundings import take_ordinary_surroundings

HOT = 3


def night(issues: int, workers: int, seconds: float, mixed: str = "") -> tuple[int, int, float]:
    """Return how many issues landed, after how many attempts, and the seconds it took.

    `mixed`: the first half is in HOT files, the rest each in one of its own; "with paths" lets noface know.
    """
    folder = Path(tempfile.mkdtemp(prefix="noface-conflicts-"))
    (folder / "repo").mkdir()
    project = Project(folder / "repo", folder)
    try:
        project.git("init", "-q", "-b", "main")
        project.git("config", "user.name", "A person")
        project.git("config", "user.email", "person@example.com")
        project.write("a.txt", "a\n")
        project.write("log.txt", "first line\n")
        project.config(workers=workers)
        plays = []
        for number in range(1, issues + 1):
            hot = f"hot{number % HOT}.txt" if number <= issues // 2 else f"cold{number}.txt"
            name = hot if mixed else "log.txt"
            steps = [{"sleep": seconds}, {"shell": f'echo "line of $NOFACE_ISSUE_ID" >> {name}'}]
            plays.append((str(number), 0, steps))
            project.issue(number, **({"paths": [name]} if mixed == "with paths" else {}))
            if mixed:
                project.write(name, "first line\n")
        project.play(*plays)
        project.commit()
        begun = time.monotonic()
        project.noface("run")
        took = time.monotonic() - begun
        statuses = project.statuses()
        attempts = sum(len(project.attempts(number)) for number in statuses)
        return list(statuses.values()).count("merged"), attempts, took
    finally:
        project.end()
        shutil.rmtree(folder)


def main() -> int:
    """Print a table, and return 1 unless all landed."""
    take_ordinary_surroundings()
    given = sys.argv[1:]
    issues, several = int(given[0]) if given else 24, int(given[1]) if len(given) > 1 else 3
    seconds = float(given[2]) if len(given) > 2 else 0.5
    print(f"{issues} issues that append to one file, {seconds} s of work each")
    print("workers  landed  attempts  seconds")
    whole = True
    for workers in (1, several):
        landed, attempts, took = night(issues, workers, seconds)
        print(f"{workers:7}  {landed:6}  {attempts:8}  {took:7.1f}")
        whole = whole and landed == issues
    print(f"{issues} issues, half of them in {HOT} files, {several + 1} workers")
    for mixed in ("without paths", "with paths"):
        landed, attempts, took = night(issues, several + 1, seconds, mixed)
        print(f"{mixed:14} {landed:4}  {attempts:8}  {took:7.1f}")
        whole = whole and landed == issues
    Project.warm.close()
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
