"""A whole backlog worked off by the built-in worker, with noface's loop played by the plainest means.

For each issue: check out main, start the worker by its shell command, run the gate and the accept command on what it
leaves, hand failing tests to the next attempt, and merge what passes.
"""

import json
import os
import re
import subprocess
import sys
import tomllib

import pytest

from noface.demo.sample import build

SEED = 4
LADDER = ("tier1", "tier1", "tier2", "tier2")


def git(directory, *arguments):
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


def failing_tests(workspace, command):
    """None where the command passes, else the names of the tests that don't."""
    done = subprocess.run(["bash", "-c", f"{command} -rfE"], cwd=workspace, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)


def attempt(repo, workspace, order, command):
    """Run the worker in a checkout of order["start"] and judge it; return (outcome, failing tests, commit)."""
    git(repo, "clone", "--quiet", "--shared", str(repo), str(workspace))
    git(workspace, "checkout", "--quiet", "--detach", order["start"])
    path = workspace.with_suffix(".json")
    path.write_text(json.dumps(order))
    env = {**os.environ, "NOFACE_ORDER_FILE": str(path)}
    done = subprocess.run(["bash", "-c", command], cwd=workspace, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("search-based repair (no model)")
    if not git(workspace, "status", "--porcelain", "--ignored"):
        assert "no change made" in done.stdout.splitlines()[-1]
        return "NO_DIFF", [], order["start"]
    git(workspace, "commit", "--quiet", "--all", "--message=attempt")
    commit = git(workspace, "rev-parse", "HEAD")
    git(repo, "fetch", "--quiet", str(workspace), commit)
    for gate in [order["gates"][0]["command"], *order["accept"]]:
        red = failing_tests(workspace, gate)
        if red is not None:
            return "TEST_FAILURE", red, commit
    return "PASSED", [], commit


def work_off(repo, issue, settings, folder):
    """Attempt an issue until it passes or the ladder ends; return the outcomes with their models."""
    meta = tomllib.loads(issue.read_text().split("+++")[1])
    number = issue.name.partition("-")[0]
    main = start = git(repo, "rev-parse", "main")
    gates = [{**settings["gates"][0], "hard": True, "timeout_s": 60}]
    earlier, outcomes = [], []
    for count, model in enumerate(LADDER, 1):
        order = {
            "schema": 1,
            "run_id": "test",
            "attempt": count,
            "issue": {
                "id": number,
                "title": meta["title"],
                "body": "",
                "paths": meta["paths"],
                "accept": meta["accept"],
            },
            "model": {"name": model, "agent": "command", "model": "", "tier": int(model[-1])},
            "gates": gates,
            "accept": meta["accept"],
            "earlier": earlier,
            "main": main,
            "start": start,
        }
        workspace = folder / f"{number}-{count}"
        outcome, red, start = attempt(repo, workspace, order, settings["models"][model]["command"])
        outcomes.append((model, outcome))
        if outcome == "PASSED":
            git(repo, "merge", "--quiet", "--ff-only", start)
            break
        told = {
            "number": count,
            "model": model,
            "kind": outcome,
            "message": "",
            "location": None,
            "excerpt": "",
            "rule": "r",
        }
        earlier = [*earlier, {**told, "failing_tests": red}]
    return outcomes


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    sample = build(folder / "project", SEED, sys.executable)
    settings = tomllib.loads((sample.directory / "noface.toml").read_text())
    outcomes = {}
    for number, _, kind in sample.issues:
        issue = next((sample.directory / "issues").glob(f"{number}-*.md"))
        outcomes.setdefault(kind, []).append(work_off(sample.directory, issue, settings, folder))
    return sample, outcomes


def test_a_bug_of_one_edit_is_repaired_at_the_first_attempt(finished):
    _, outcomes = finished
    assert len(outcomes["one edit"]) >= 3
    assert all(each == [("tier1", "PASSED")] for each in outcomes["one edit"])


def test_a_dependent_bug_is_repaired_once_the_other_one_is_merged(finished):
    _, outcomes = finished
    assert outcomes["dependent"] == [[("tier1", "PASSED")]]


def test_an_overfitted_patch_is_caught_by_the_suite_and_feedback_leads_to_the_right_one(finished):
    _, outcomes = finished
    assert outcomes["feedback"]
    assert all(each == [("tier1", "TEST_FAILURE"), ("tier1", "PASSED")] for each in outcomes["feedback"])


def test_the_second_tier_repairs_what_the_first_cannot(finished):
    _, outcomes = finished
    first_tier_in_vain = [("tier1", "NO_DIFF"), ("tier1", "NO_DIFF")]
    assert outcomes["second tier"]
    assert all(each == [*first_tier_in_vain, ("tier2", "PASSED")] for each in outcomes["second tier"])


def test_what_is_out_of_reach_ends_without_a_change(finished):
    _, outcomes = finished
    assert outcomes["out of reach"] == [[(model, "NO_DIFF") for model in LADDER]]


def test_in_the_end_main_is_green_and_only_the_library_has_changed(finished):
    sample, _ = finished
    assert failing_tests(sample.directory, f"{sys.executable} -B -m pytest -q tests") is None
    opened = git(sample.directory, "log", "--format=%H", "--grep=Open the backlog")
    changed = git(sample.directory, "diff", "--name-only", opened, "main").split()
    assert changed
    assert all(path.startswith("oddments/") for path in changed)
    assert git(sample.directory, "status", "--porcelain") == ""
