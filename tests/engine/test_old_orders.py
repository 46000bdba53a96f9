"""What is judged again after a kill is judged by what holds now; nothing that a worker could have written is believed."""

import json
import subprocess

import pytest
from support.cases import first_ones

KILLED = -9
GATE = "test ! -e bad"
FORGED = {"gates": [], "protected": [], "may_change": ["**"]}


def killed_while_judging(project, *steps, **more):
    project.config(gate=GATE)
    project.write("a.txt", "one\n")
    project.play(("1", 0, list(steps)))
    project.issue(1, max_attempts=1)
    project.commit()
    assert project.noface("run", NOFACE_FAILPOINT="snapshot_recorded", **more).returncode == KILLED


def outcomes(project):
    return [attempt["outcome"] for attempt in project.attempts("1")]


def test_an_order_beside_the_attempt_is_not_read_back(project):
    killed_while_judging(project, {"write": "bad", "text": "red\n"})
    folder = project.state / "attempts/1/1"
    order = json.loads((folder / "order.json").read_text())
    for name in ("order.json", "order.record.json", "report.json"):
        (folder / name).write_text(json.dumps(order | FORGED | {"directory": str(folder), "failure": None}))
    project.run(code=3)
    assert outcomes(project) == ["RUNTIME_ERROR"]
    assert "bad" not in project.git("ls-tree", "--name-only", "main")


def test_a_record_of_the_work_that_is_not_noface_s_own_is_not_believed(project):
    killed_while_judging(project, {"write": "bad", "text": "red\n"})
    record = project.state / "attempts/1/1/work.json"
    mark, _, text = record.read_text().partition("\n")
    main = project.git("rev-parse", "main")
    work = json.loads(text)
    work["snapshot"] |= {"candidate": main, "candidate_tree": project.git("rev-parse", "main^{tree}"), "changes": []}
    record.write_text(f"{mark}\n{json.dumps(work)}")
    project.run(code=3)
    assert outcomes(project) == ["INTERRUPTED", "RUNTIME_ERROR"]


@pytest.mark.thorough
def test_work_is_judged_by_the_gates_and_the_issue_as_they_are_now(project):
    killed_while_judging(project, {"write": "b.txt", "text": "two\n"})
    project.config(gate="test ! -e b.txt")
    project.run(code=3)
    assert outcomes(project) == ["RUNTIME_ERROR"]
    assert project.attempts("1")[0]["failure"]["gate"] == "check"


@pytest.mark.thorough
def test_work_is_judged_by_the_paths_that_are_protected_now(project):
    killed_while_judging(project, {"write": "checks.txt", "text": "none\n"}, {"write": "b.txt", "text": "two\n"})
    project.config('[protect]\nextra = ["checks.txt"]\n', gate=GATE)
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert project.git("ls-tree", "--name-only", "main", "b.txt", "checks.txt") == "b.txt"


NAMES = ("work.json", "diff.patch", "undone.patch", "report.json", "prompt.md", "order.json")


@pytest.mark.thorough
@pytest.mark.parametrize("put", first_ones(["mkfifo {0}", "mkdir -p {0}/full", "ln -s /nowhere/at/all {0}"]))
def test_things_in_the_place_of_noface_s_files_end_nothing(project, put):
    spoil = "; ".join(f"rm -rf {name}; {put.format(name)}" for name in NAMES)
    both = f"cd $(dirname $NOFACE_ORDER_FILE)/..; for n in 1 2; do mkdir -p $n; (cd $n; {spoil}); done"
    project.config(gate=GATE)
    project.write("a.txt", "one\n")
    mended = {"shell": "rm bad; echo two > b.txt"}
    project.play(("1", 1, [{"write": "bad", "text": "red\n"}, {"shell": both}]), ("1", 2, [mended]))
    project.issue(1, max_attempts=2)
    project.commit()
    assert project.noface("run", NOFACE_FAILPOINT="snapshot_recorded").returncode == KILLED
    subprocess.run(["bash", "-c", spoil], cwd=project.state / "attempts/1/1", check=True)
    project.run()
    assert project.statuses() == {"1": "merged"}
