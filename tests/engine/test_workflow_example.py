"""The workflow of examples/github: it is what GitHub reads, and its steps keep noface's state from run to run."""

import os
import shutil
import stat
import subprocess
import sys

import pytest
import yaml
from support import ROOT

WORKFLOW = ROOT / "examples/github/.github/workflows/noface.yml"
WORKS = [{"write": "b.txt", "text": "done\n"}]


@pytest.fixture(scope="module")
def workflow():
    return yaml.safe_load(WORKFLOW.read_text())


def step(workflow, name):
    return next(each for each in workflow["jobs"]["noface"]["steps"] if each.get("name") == name)


def test_it_may_do_what_noface_does_and_no_more(workflow):
    assert workflow["permissions"] == {
        "contents": "write",
        "issues": "write",
        "pull-requests": "write",
        "checks": "read",
        "actions": "read",
        "statuses": "read",
    }
    assert workflow["concurrency"] == {"group": "noface", "cancel-in-progress": False}


def test_no_shell_step_holds_what_github_would_put_into_its_text(workflow):
    texts = [each["run"] for each in workflow["jobs"]["noface"]["steps"] if "run" in each]
    assert [text for text in texts if "${{" in text] == [], "values come by the environment, and are no code"


class Runner:
    """A machine of GitHub's: a fresh clone for each job, steps run by bash, a folder for what is cached."""

    def __init__(self, project, folder, workflow, url):
        self.project, self.folder, self.workflow, self.url = project, folder, workflow, url
        self.clone, self.cache = folder / "work", folder / "cache"
        self.cache.mkdir()
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        pipx = bin_folder / "pipx"
        # What `pipx run --spec SPEC noface …` starts, without a registry.
        pipx.write_text(f'#!/bin/sh\nshift 4\nexec {sys.executable} -m noface "$@"\n')
        pipx.chmod(pipx.stat().st_mode | stat.S_IXUSR)
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
