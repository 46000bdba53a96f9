"""The workflow of examples/github: it is what GitHub reads, and its steps keep noface's state from run to run."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support import ROOT
from support.git_ground import git

WORKFLOW = ROOT / "examples/github/.github/workflows/noface.yml"
WORKS = [{"write": "b.txt", "text": "done\n"}]


@pytest.fixture(scope="module")
def workflow():
    return yaml.safe_load(WORKFLOW.read_text())


def step(workflow, name):
    return next(each for each in workflow["jobs"]["noface"]["steps"] if each.get("name") == name)


def test_it_may_do_what_noface_does_and_no_more(workflow):
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["noface"]["permissions"] == {
        "contents": "write",
        "issues": "write",
        "pull-requests": "write",
        "checks": "read",
        "actions": "read",
        "statuses": "read",
    }
    assert workflow["concurrency"] == {"group": "noface", "cancel-in-progress": False}


def test_only_the_step_that_works_has_the_token_and_the_key(workflow):
    job = workflow["jobs"]["noface"]
    with_secrets = [each["name"] for each in job["steps"] if "secrets." in str(each) or "github.token" in str(each)]
    assert with_secrets == ["Work"]
    assert "secrets." not in str(job["env"])
    install = step(workflow, "Install noface, the agent and the sandbox")["run"]
    assert "npm ci" in install
    assert "npm install" not in install
    assert "pipx run" not in WORKFLOW.read_text()


def test_what_is_installed_is_named_by_a_lock_file():
    folder = WORKFLOW.parent.parent / "noface"
    wanted = json.loads((folder / "package.json").read_text())["dependencies"]
    locked = json.loads((folder / "package-lock.json").read_text())["packages"]
    for name, version in wanted.items():
        assert locked[f"node_modules/{name}"]["version"] == version
    assert all(each.get("integrity") for name, each in locked.items() if name)


def test_nobody_gets_the_commits_told_as_theirs(workflow):
    assert ".invalid" in step(workflow, "Say who commits")["run"]
    container = (ROOT / "examples/github/Containerfile").read_text()
    assert "users.noreply.github.com" not in container


def test_a_linter_of_workflows_finds_nothing_in_it():
    zizmor = Path(sys.executable).with_name("zizmor")
    done = subprocess.run(
        [zizmor, "--offline", "--no-progress", "--no-config", ROOT / "examples/github"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_of_the_cache_only_what_was_packed_comes_back(workflow, tmp_path):
    clone = tmp_path / "clone"
    git(tmp_path, "init", "-q", "-b", "main", "clone")
    git(clone, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first")
    evil = tmp_path / "evil"
    (evil / "hooks").mkdir(parents=True)
    (evil / "noface").mkdir()
    (evil / "noface" / "state.db").write_text("state")
    (evil / "hooks" / "post-checkout").write_text("#!/bin/sh")
    (evil / "config").write_text("[core]\n\tfsmonitor = evil\n")
    git(clone, "update-ref", "refs/heads/other", "HEAD")
    git(clone, "update-ref", "refs/noface/issues/7/1", "HEAD")
    git(clone, "bundle", "create", "-q", str(evil / "noface-commits.bundle"), "--all")
    for ref in ("refs/heads/other", "refs/noface/issues/7/1"):
        git(clone, "update-ref", "-d", ref)
    members = ["noface", "noface-commits.bundle", "hooks", "config"]
    subprocess.run(["tar", "--create", "--file", clone / "noface-state.tar", "-C", evil, *members], check=True)
    before = (clone / ".git/config").read_text()
    subprocess.run(["bash", "-e", "-c", step(workflow, "Put the state back")["run"]], cwd=clone, check=True)
    assert (clone / ".git/noface/state.db").read_text() == "state"
    assert (clone / ".git/config").read_text() == before
    assert not (clone / ".git/hooks/post-checkout").exists()
    assert "refs/noface/issues/7/1" in git(clone, "for-each-ref")
    assert "refs/heads/other" not in git(clone, "for-each-ref")


class Runner:
    """A machine of GitHub's: a fresh clone for each job, steps run by bash, a folder for what is cached."""

    def __init__(self, project, folder, workflow, url):
        self.project, self.folder, self.workflow, self.url = project, folder, workflow, url
        self.clone, self.cache = folder / "work", folder / "cache"
        self.cache.mkdir()
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        program = bin_folder / "noface"
        # What `pipx install` puts into PATH, without a registry.
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m noface "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.env = project.environment(
            PATH=f"{bin_folder}:{os.environ['PATH']}",
            GITHUB_REF_NAME="main",
            GITHUB_STEP_SUMMARY=str(folder / "summary.md"),
            MAX_COST="5",
            NOFACE_MACHINE=workflow["jobs"]["noface"]["env"]["NOFACE_MACHINE"],
            ISSUE="",
        )

    def checkout(self):
        shutil.rmtree(self.clone, ignore_errors=True)
        shutil.rmtree(self.project.folder / "slots", ignore_errors=True)
        subprocess.run(["git", "clone", "-q", self.url, self.clone], env=self.env, check=True)
        shutil.copy(self.project.path / "noface.toml", self.clone)
        if (kept := self.cache / "noface-state.tar").exists():
            shutil.copy(kept, self.clone)

    def step(self, name):
        text = step(self.workflow, name)["run"]
        return subprocess.run(
            ["bash", "-e", "-c", text], cwd=self.clone, env=self.env, capture_output=True, text=True, check=True
        ).stdout

    def job(self):
        """Do what a job does; return what the run printed."""
        self.checkout()
        self.step("Say who commits")
        self.step("Put the state back")
        told = self.step("Work")
        self.step("Pack the state")
        shutil.copy(self.clone / "noface-state.tar", self.cache)
        return told


@pytest.mark.thorough
def test_a_run_goes_on_where_the_last_one_ended_on_another_machine(github, project, tmp_path, workflow):
    repo = github.repository("acme/shop", files={"a.txt": "one\n"})
    ann = repo.person("ann", "write")
    number = ann.opens_issue("Make b.txt", "It is wanted.", labels=["ready-for-agent"])
    project.config('[tracker]\nkind = "github"\n[landing]\nhow = "pull-request"\nfollow_checks = 0\n')
    project.play((str(number), 1, []), (str(number), 2, WORKS))
    runner = Runner(project, tmp_path, workflow, repo.clone_url)
    runner.env["NOFACE_GITHUB_TOKEN"] = github.token("noface[bot]").text
    repo.grant("noface[bot]", "write")

    work = step(workflow, "Work")
    whole, work["run"] = work["run"], work["run"].replace("noface run", "noface run --max-iterations 1")
    assert "A limit ended the run" in runner.job()
    told = runner.job()
    assert f"{number} attempt 2" in told
    (pull,) = repo.pulls
    ann.merges(pull.number, "squash")
    work["run"] = whole
    assert f"{number} merged" in runner.job(), "another machine knows its pull request"
    runner.step("Tell what came of it")
    assert "1 merged" in (tmp_path / "summary.md").read_text()
