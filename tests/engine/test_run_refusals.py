"""Bad input to `noface run`: a clear error with what to do, the right exit code, nothing changed."""

import json
import subprocess

import pytest
from support.processes import wait_for
from support.project import PYTEST

from noface.engine.preflight import way_out
from noface.model.failure import Failure
from noface.model.gate import GateResult, GateSpec
from noface.model.taxonomy import FailureKind


def snapshot(project):
    return (
        project.git("for-each-ref", check=False),
        project.git("status", "--porcelain", check=False),
        sorted(path.name for path in project.path.iterdir()),
    )


def refused(project, *args, code=2, **env):
    before = snapshot(project)
    done = project.noface("run", *args, **env)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "→" in done.stderr  # every refusal says what to do
    assert snapshot(project) == before
    return done.stderr


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("rm -r .git", "git init"),
        ("rm -r .git && git init -q", "no commit yet"),
        ("rm -r * && mv .git/* . && rm -r .git && git config core.bare true", "bare"),
        ("git checkout -q --detach", "project.main"),
        ("rm noface.toml", "noface init"),
        ("sed -i 1,3d noface.toml", "[[gates]]"),
    ],
)
def test_a_place_in_which_nothing_can_run_is_told_with_what_to_do(project, made, told):
    subprocess.run(made, shell=True, cwd=project.path, check=True)
    assert told in refused(project)


def test_an_old_git(project, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    fake = folder / "git"
    fake.write_text('#!/bin/sh\necho "git version 2.20.1"\n')
    fake.chmod(0o755)
    project_git = project.git
    project.git = lambda *args, check=True: project_git(*args, check=check)
    assert "2.38" in refused(project, PATH=f"{folder}:/usr/bin:/bin")


def test_an_agent_that_is_not_installed(project):
    project.config(extra='\n[models.gone]\nagent = "command"\ncommand = "no-such-agent --now"\n')
    stderr = refused(project, "--model", "gone")
    assert "no-such-agent" in stderr


def test_a_red_baseline_stops_the_run_and_names_the_test(project):
    project.write("test_x.py", "def test_x():\n    assert 1 == 2\n")
    project.config(gate=PYTEST)
    project.issue(7)
    project.commit()
    stderr = refused(project, code=3)
    assert "BASELINE_RED" in stderr
    assert "test_x.py::test_x" in stderr
    assert "--allow-red" in stderr


def test_a_red_gate_is_told_at_a_glance_with_all_that_it_wrote(project):
    project.config(gate=f"A={'x' * 300} && echo fine && echo broken >&2; exit 1")
    project.issue(7)
    project.commit()
    stderr = refused(project, code=3)
    assert [line.rpartition(".")[2] for line in stderr.splitlines() if "  log: " in line] == ["out", "err"]
    assert "xxx … " in stderr
    assert "x" * 100 not in stderr


@pytest.mark.parametrize(
    ("gate", "flags", "hint"),
    [
        ("no-such-tool", (), "Install what is missing, or have `[project] setup` make it"),
        ("echo no; false", (), "Make main green first, or correct the command of check."),
        ("echo no; false", ("--allow-red",), "check names no failing tests"),
    ],
)
def test_the_hint_for_a_red_baseline_is_one_that_can_help(project, gate, flags, hint):
    project.config(gate=gate)
    project.issue(7)
    project.commit()
    stderr = refused(project, *flags, code=3)
    assert hint in " ".join(stderr.split())
    assert "--allow-red" not in stderr


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("error: Could not resolve host: x.org", "may pass: run again once it has"),
        ("sh: 1: no-such-tool: not found", "Install what is missing, or have `[project] setup` make it"),
    ],
)
def test_what_may_pass_by_itself_is_told_from_what_is_missing(message, hint):
    failure = Failure(FailureKind.ENVIRONMENT, message, rule="x")
    assert hint in way_out([GateResult(GateSpec("check", "x"), "tree", 1, 1.0, failure=failure)], only_new=False)


def test_a_faulty_issue_is_named_and_the_rest_runs(project):
    project.issue(7)
    project.write("issues/8-broken.md", "+++\ntitle = \n+++\n")
    project.issue(9, depends_on=["77"])
    project.commit()
    out = project.run(code=3)
    assert "8-broken.md" in out
    assert "77" in out
    assert project.statuses()["7"] == "merged"


def test_an_issue_that_names_an_unknown_model_is_faulty(project):
    project.issue(7, model="smol")
    project.issue(8)
    project.commit()
    out = project.run(code=3)
    assert "smol" in out
    assert project.statuses()["8"] == "merged"
    assert project.attempts("8")[0]["model"] == "small"


@pytest.mark.thorough
def test_a_failure_of_main_that_has_been_mended_counts_again(project):
    project.write("test_x.py", "from x import X\nfrom z import Z\n\n\ndef test_x():\n    assert X and Z\n")
    project.write("x.py", "X = 0\n")
    project.write("z.py", "Z = 1\n")
    project.config(gate=PYTEST, workers=2)
    landed = f"until test $(git -C {project.path} rev-list --count main) -gt 2; do sleep 0.05; done"
    project.play(
        ("1", 0, [{"write": "x.py", "text": "X = 1\n"}]),
        ("2", 1, [{"shell": landed}, {"write": "z.py", "text": "Z = 0\n"}]),
        ("2", 0, [{"write": "y.py", "text": "Y = 1\n"}, {"write": "z.py", "text": "Z = 1\n"}]),
    )
    project.issue(1)
    project.issue(2)
    project.commit()
    project.run("--allow-red")
    first, second = project.attempts("2")
    assert (first["outcome"], second["outcome"]) == ("TEST_FAILURE", "PASSED")
    assert (project.path / "z.py").read_text() == "Z = 1\n"


def test_errors_are_json_for_programs(project):
    (project.path / "noface.toml").unlink()
    done = project.noface("run", "--json")
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    assert document["error"]["code"] == 2


@pytest.mark.parametrize("word", ["--workers=0"])
def test_a_wrong_option_is_a_usage_error(project, word):
    done = project.noface("run", word)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_local_change_in_the_way_holds_the_landing_and_says_which_file(project):
    project.play(("*", 0, [{"write": "a.txt", "text": "from noface\n"}]))
    project.issue(7)
    project.commit()
    project.write("a.txt", "mine\n")
    out = project.run(code=3)
    assert "a.txt" in out
    assert (project.path / "a.txt").read_text() == "mine\n"
    assert project.statuses() == {"7": "landing"}
    assert "Next: noface blocked" in out
    (held,) = project.shown("blocked")["blocked"]
    assert (held["id"], held["reason"].endswith("commit, stash or undo them: a.txt")) == ("7", True)
    page = project.noface("blocked").stdout
    assert page.startswith("7  Issue 7\n  cannot land: ")
    assert "\n        noface run\n" in page
    project.git("checkout", "-q", "--", "a.txt")
    project.run()
    assert (project.path / "a.txt").read_text() == "from noface\n"


def test_main_that_moves_during_the_run_is_merged_with(project):
    project.config(
        gate=f"test -e a.txt; if test -e b.txt; then until test -e {project.folder}/go; do sleep 0.05; done; fi"
    )
    project.issue(7)
    project.commit()
    running = project.start("run")
    wait_for(lambda: list((project.folder / "slots").glob("*/gate-0*/*/b.txt")))
    project.write("mine.txt", "m")
    mine = project.commit("mine, meanwhile")
    (project.folder / "go").touch()
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0, out
    assert project.git("rev-parse", "main^1") == mine
    assert (project.path / "b.txt").exists()


def test_a_worker_cannot_push_to_the_repository(project):
    project.play(
        (
            "*",
            0,
            [{"write": "b.txt", "text": "b"}, {"shell": "git add -A; git commit -qm x; git push -f origin HEAD:main"}],
        )
    )
    project.issue(7)
    before = project.commit()
    project.run()
    assert project.git("rev-parse", "main^1") == before


def test_what_a_gate_leaves_beside_the_tree_does_not_land(project):
    project.config(gate="echo garbage > garbage.txt")
    project.issue(7)
    project.commit()
    project.run()
    assert project.git("ls-tree", "--name-only", "main").split() == ["a.txt", "b.txt", "issues", "noface.toml"]
    assert (project.path / "a.txt").read_text() == "one\n"


def test_the_users_hooks_do_not_run_and_their_config_is_untouched(project):
    canary = project.folder / "canary"
    for name in ("post-merge", "post-checkout", "pre-commit", "reference-transaction", "post-index-change"):
        hook = project.path / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
        hook.chmod(0o755)
    project.issue(7)
    subprocess.run(["git", "-c", "core.hooksPath=/dev/null", "add", "-A"], cwd=project.path, check=True)
    subprocess.run(["git", "-c", "core.hooksPath=/dev/null", "commit", "-qm", "x"], cwd=project.path, check=True)
    canary.unlink(missing_ok=True)
    config = (project.path / ".git" / "config").read_bytes()
    project.run()
    assert not canary.exists()
    assert (project.path / ".git" / "config").read_bytes() == config


def test_a_script_that_a_gate_or_a_worker_is_cannot_be_changed_by_a_worker(project):
    project.write("check.sh", "test ! -e bad\n")
    project.write("agent.sh", "rm -f agent.sh; echo 'exit 0' > check.sh; touch bad; echo b > b.txt\n")
    project.config(gate="bash ./check.sh", extra='\n[models.own]\nagent = "command"\ncommand = "bash agent.sh"\n')
    project.issue(7, model="own", max_attempts=2)
    project.commit()
    project.run(code=3)
    first, second = project.attempts("7")
    assert any("check.sh" in note and "agent.sh" in note for note in first["notes"])
    assert second["outcome"] not in ("MISCONFIGURED", "PASSED")


def test_an_issue_never_takes_over_the_id_of_one_with_attempts(project):
    project.play(("*", 0, [{"say": "?"}]))
    path = project.issue(7, max_attempts=1)
    project.commit()
    project.run(code=3)
    path.unlink()
    done = project.noface("issues", "add", "another")
    assert "issue 8" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("{repository}/slots", "puts the workspaces into the repository"),
        ("/proc/slots", "cannot be made in /proc/slots/"),
    ],
)
def test_workspaces_where_none_can_be_are_told_before_anything_runs(project, place, told):
    text = (project.path / "noface.toml").read_text()
    place = place.format(repository=project.path)
    project.write("noface.toml", text.replace(str(project.folder / "slots"), place))
    done = project.noface("run")
    assert done.returncode == 2
    assert told in done.stderr


def test_what_was_green_on_a_red_main_does_not_run_again_to_find_out_why_the_rest_is_red(project):
    """The red gate runs asked for its tests, as it is, and where setup itself ran."""
    ran = project.folder / "ran"
    green = f'[[gates]]\nname = "whole"\ncommand = "echo whole >> {ran}"\ncanary = false\n'
    project.config(f'\n[project]\nsetup = "mkdir -p env"\nkeep = ["env"]\n{green}', gate=f"echo red >> {ran}; exit 1")
    project.issue(1)
    project.commit()
    assert "gate check" in project.run(code=3)
    runs = ran.read_text().split()
    assert (runs.count("whole"), runs.count("red") > 2) == (1, True)
