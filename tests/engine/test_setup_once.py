"""`[project] setup` runs once; the workspaces get copies of what it made, or setups of their own where a copy fails."""

import json
import shutil

import pytest
from support.cases import first_ones


def with_setup(project, setup, gate, *, sandbox="none", keep=("env",), extra=""):
    """Configure a setup that also counts its runs; return the file with their count."""
    count = project.folder / "count"
    count.touch()
    command = f"echo x >> {count}; {setup}" if sandbox == "none" else setup
    project.config(
        f"\n[project]\nsetup = {json.dumps(command)}\nsetup_inputs = ['deps']\nkeep = {json.dumps(list(keep))}\n{extra}",
        gate=gate,
        sandbox=sandbox,
    )
    project.write("deps", "one\n")
    project.write(".gitignore", "env/\n")
    return count


def runs(count):
    return len(count.read_text().split())


PLACED = "mkdir -p env && pwd > env/where && ln -s $PWD/deps env/deps"
IN_PLACE = "test $(cat env/where) = $PWD && test $(readlink env/deps) = $PWD/deps"
BY_DIGEST = "mkdir -p env && pwd | sha256sum > env/digest"
SAME_DIGEST = "pwd | sha256sum | cmp - env/digest"


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
def test_in_the_sandbox_setup_runs_once_and_each_copy_is_in_its_own_place(project):
    with_setup(project, f"{PLACED}; {BY_DIGEST}", f"{IN_PLACE} && {SAME_DIGEST}", sandbox="bubblewrap")
    project.play(("*", 0, [{"shell": f"{IN_PLACE} && {SAME_DIGEST} && echo b > b.txt"}]))
    project.issue(1)
    project.commit()
    shown = project.run()
    assert project.statuses() == {"1": "merged"}
    assert shown.count("setting up a workspace: ") == 1
    assert "set up in 0." in shown
    project.issue(2)
    project.play(("2", 0, [{"write": "c.txt", "text": "c"}, {"write": "deps", "text": "two\n"}]))
    project.commit()
    # It runs on the work, and then on main once more when a workspace is wanted.
    assert project.run().count("setting up a workspace: ") == 1
    assert project.statuses()["2"] == "merged"


def test_outside_the_sandbox_setup_runs_once_in_each_workspace(project):
    count = with_setup(project, BY_DIGEST, SAME_DIGEST)
    project.play(("*", 0, [{"shell": f"{SAME_DIGEST} && echo $RANDOM > b.txt"}]))
    for number in (1, 2):
        project.issue(number)
        project.commit()
        project.run()
        assert (project.statuses()[str(number)], runs(count)) == ("merged", 3)


@pytest.mark.thorough
def test_an_environment_that_all_workspaces_share_leads_to_the_one_that_is_gated(project):
    where = project.folder / "where"
    count = with_setup(project, f"pwd > {where}", f"python3 $(cat {where})/a.py", keep=())
    project.write("noface.toml", (project.path / "noface.toml").read_text().replace("canary = false", "canary = true"))
    project.write("a.py", "x = 1\n")
    project.play(
        ("1", 1, [{"write": "a.py", "text": "raise SystemExit(1)\n"}]), ("1", 0, [{"write": "a.py", "text": "x = 2\n"}])
    )
    project.issue(1)
    project.commit()
    project.run()
    assert [attempt["outcome"] == "PASSED" for attempt in project.attempts("1")] == [False, True]
    assert runs(count) == 3  # in each workspace that is used


def test_what_a_worker_writes_where_setup_ran_is_copied_nowhere(project):
    count = with_setup(project, "mkdir -p env; echo right > env/want", "cmp a.txt env/want")
    project.write("a.txt", "right\n")
    forge = "for want in ../../*/*/env/want; do touch -r $want stamp; echo wrong > $want; touch -r stamp $want; done; rm stamp"
    project.play(
        ("1", 0, [{"write": "b.txt", "text": "b"}]), ("2", 0, [{"shell": forge}, {"write": "a.txt", "text": "wrong\n"}])
    )
    project.issue(1)
    project.issue(2, max_attempts=1)
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "merged", "2": "blocked"}
    assert runs(count) == 4


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")
@pytest.mark.parametrize("keep", first_ones([(), ("env",)]))
def test_what_setup_fetched_is_where_caches_start_and_no_gate_or_worker_writes_to_setups_own(project, keep):
    fetch = "mkdir -p ~/.cache/tool env && echo fetched >> ~/.cache/tool/x"
    gate = "grep -c fetched ~/.cache/tool/x && ! grep bad ~/.cache/tool/x; echo bad >> ~/.cache/tool/x; test -e ok"
    with_setup(project, fetch, gate, sandbox="bubblewrap", keep=keep)
    project.write("ok", "")
    project.play(
        ("*", 0, [{"shell": "mkdir -p ~/.cache/tool; echo mine >> ~/.cache/tool/x; cat ~/.cache/tool/x > b.txt"}])
    )
    project.issue(1)
    project.commit()
    project.run()
    assert project.git("show", "main:b.txt").split() == ([] if keep else ["fetched"]) + ["mine"]
    (own,) = (project.folder / "slots").glob("*/setup-*/*.caches-setup/.cache/tool/x")
    assert own.read_text() == "fetched\n"
