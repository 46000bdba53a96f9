"""The sample project: green suite, one red acceptance test for each bug, other bugs for every seed."""

import os
import subprocess
import sys
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
from support.cases import first_ones
from support.git_ground import git, git_bytes

from noface.demo.catalogue import BugClass, catalogue, draw
from noface.demo.sample import build, library

CATALOGUE = catalogue()
SEEDS = (0, 1, 7)


def run_pytest(directory, *arguments):
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-rA", *arguments]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


def outcomes(directory, *arguments):
    text = run_pytest(directory, "--continue-on-collection-errors", *arguments).stdout
    lines = [line.split() for line in text.splitlines() if line.startswith(("PASSED", "FAILED", "ERROR"))]
    return {(line[0], Path(line[1].partition("::")[0]).stem) for line in lines}


@pytest.fixture(scope="module", params=first_ones(SEEDS))
def sample(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("sample") / "project"
    return directory, build(directory, request.param, sys.executable)


def test_the_suite_is_green_and_every_acceptance_test_red(sample):
    directory, issues = sample
    assert run_pytest(directory, "tests").returncode == 0
    red = {name for outcome, name in outcomes(directory, "acceptance") if outcome != "PASSED"}
    assert red == {f"test_{number}" for number, _, _ in issues}


def test_the_right_code_is_nowhere_in_the_repository(sample):
    directory, issues = sample
    titles = {title for _, title, _ in issues}
    bugs = [bug for bug in CATALOGUE if bug.title in titles and bug.right]
    assert len(bugs) >= 8
    for bug in bugs:
        path = f"oddments/{bug.module}.py"
        commits = git(directory, "log", "--all", "--format=%H", "--", path).split()
        versions = [git_bytes(directory, "show", f"{commit}:{path}").decode() for commit in commits]
        assert versions
        assert not any(bug.right in version for version in versions)
        assert all(bug.wrong in version for version in versions)


@pytest.mark.parametrize("seed", [None, 0, 1, 2, 3, 12345, -7])
def test_every_draw_has_each_class_and_never_a_bug_twice(seed):
    bugs = draw(seed)
    assert {bug.kind for bug in bugs} == set(BugClass)
    assert len({bug.name for bug in bugs}) == len(bugs) == 9
    for place, bug in enumerate(bugs):
        assert bug.needs is None or bug.needs in {before.name for before in bugs[:place]}


def test_the_same_seed_gives_the_same_files(tmp_path):
    one = build(tmp_path / "one", 5, sys.executable)
    other = build(tmp_path / "other", 5, sys.executable)
    trees = [git(tmp_path / name, "rev-parse", "HEAD^{tree}") for name in ("one", "other")]
    assert trees[0] == trees[1]
    assert one == other


def write_project(directory, bugs):
    for files in library(bugs).values():
        for name, text in files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    pyproject = resources.files("noface.demo") / "library/pyproject.toml.txt"
    (directory / "pyproject.toml").write_text(pyproject.read_text())
    acceptance = directory / "acceptance"
    acceptance.mkdir()
    for bug in CATALOGUE:
        (acceptance / f"test_{bug.name.replace('-', '_')}.py").write_text(bug.acceptance)
    return directory


def test_without_bugs_every_acceptance_test_passes_that_asks_for_nothing_new(tmp_path):
    project = write_project(tmp_path, ())
    assert run_pytest(project, "tests").returncode == 0
    red = {name for outcome, name in outcomes(project, "acceptance") if outcome != "PASSED"}
    beyond = {bug for bug in CATALOGUE if bug.kind is BugClass.OUT_OF_REACH}
    assert red == {f"test_{bug.name.replace('-', '_')}" for bug in beyond}


def test_with_all_bugs_at_once_the_suite_stays_green_and_every_acceptance_file_is_red(tmp_path):
    project = write_project(tmp_path, CATALOGUE)
    assert run_pytest(project, "tests").returncode == 0
    red = {name for outcome, name in outcomes(project, "acceptance") if outcome != "PASSED"}
    assert red == {f"test_{bug.name.replace('-', '_')}" for bug in CATALOGUE}


def test_the_first_edits_pass_their_acceptance_tests_and_break_the_suite(tmp_path):
    bugs = [replace(bug, wrong=bug.first) for bug in CATALOGUE if bug.kind is BugClass.FEEDBACK]
    assert all(bug.wrong for bug in bugs)
    project = write_project(tmp_path, bugs)
    names = {f"test_{bug.name.replace('-', '_')}" for bug in bugs}
    assert names <= {name for outcome, name in outcomes(project, "acceptance") if outcome == "PASSED"}
    broken = {name for outcome, name in outcomes(project, "tests") if outcome != "PASSED"}
    assert broken == {f"test_{bug.module}" for bug in bugs}


def test_a_folder_with_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="not empty"):
        build(tmp_path, 0, sys.executable)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_no_git_identity_and_a_git_hook_around_it_do_no_harm(tmp_path):
    """A hook's GIT_DIR must not send the sample's commits into another repository."""
    elsewhere = tmp_path / "elsewhere"
    subprocess.run(["git", "init", "--quiet", str(elsewhere)], check=True)
    code = "import sys; from pathlib import Path; from noface.demo.sample import build; build(Path(sys.argv[1]), 0, sys.executable)"
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_DIR": str(elsewhere / ".git"), "GIT_INDEX_FILE": "x"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "project")], env=env, check=True)
    assert "Open the backlog" in git(tmp_path / "project", "log", "--format=%s")
    assert git(elsewhere, "for-each-ref") == ""
