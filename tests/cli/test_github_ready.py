"""`noface init --github` and `noface doctor` against a GitHub: what is ready, what is not, and what is never sent."""

import json

import pytest


@pytest.fixture
def shop(github, project):
    """A project whose remote is a repository on GitHub, with a token of somebody who may write there."""
    repo = github.repository("acme/shop")
    (project.path / "noface.toml").unlink()
    project.git("remote", "add", "origin", repo.clone_url)
    repo.grant("ann", "write")
    project.env["GH_TOKEN"] = github.token("ann").text
    return repo


def checks(project, *args):
    document = json.loads(project.noface("init", "--github", "--force", "--json", *args).stdout)
    return {each["name"]: (each["state"], each["text"]) for each in document["github"]["checks"]}


def writes(github):
    return [method for method, *_ in github.requests if method not in ("GET", "HEAD")]


def test_it_says_what_is_there_and_sends_nothing(github, project, shop):
    done = project.noface("init", "--github")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    for words in ("acme/shop on 127.0.0.1", "from GH_TOKEN", "belongs to ann", "may write to acme/shop"):
        assert words in told
    assert "never main" in told
    assert "there is no label ready-for-agent yet" in told
    assert project.env["GH_TOKEN"] not in done.stdout + done.stderr
    assert writes(github) == []
    assert not (project.path / "issues").exists()


def test_the_label_is_made_on_request_once(github, project, shop):
    assert checks(project, "--create-label")["label"] == ("ok", "ready-for-agent is there")
    assert len(writes(github)) == 1
    assert checks(project, "--create-label")["label"][0] == "ok"
    assert len(writes(github)) == 1


def test_what_is_missing_is_told_with_what_to_do(github, project, shop):
    project.env["GH_TOKEN"] = github.token("eve").text
    assert checks(project)["access"][1] == "who has this token may read acme/shop, not write to it"
    project.env["GH_TOKEN"] = "ghp_" + "x" * 36
    assert checks(project)["login"][0] == "bad"
    with github.away():
        assert checks(project)["login"][0] == "note", "one can set up a project without a network"


def findings(project):
    return {
        each["name"]: (each["state"], each["text"])
        for each in json.loads(project.noface("doctor", "--json").stdout)["project"]
    }


def test_doctor_tells_whether_a_push_is_let_in(github, project, shop):
    project.config('[landing]\nhow = "pull-request"\n')
    project.git("fetch", "-q", "origin")
    project.git("reset", "-q", "--hard", "origin/main")
    project.config('[landing]\nhow = "pull-request"\n')
    before = shop.bare.refs()
    found = findings(project)
    assert found["remote"][0] == "ok"
    assert found["push"][0] == "ok"
    assert shop.bare.refs() == before, "nothing was pushed"
    assert "label" not in found, "issues are files here"
    project.env["GH_TOKEN"] = github.token("eve").text
    assert findings(project)["push"][0] == "bad"


def test_what_this_machine_lacks_is_found_by_config_check(project):
    project.env["PATH"] = "/usr/bin:/bin"
    project.config('[landing]\nhow = "pull-request"\n')
    done = project.noface("config", "check")
    assert (done.returncode, "no git remote" in done.stdout) == (2, True)
    project.git("remote", "add", "origin", "git@github.com:acme/shop.git")
    done = project.noface("config", "check")
    assert (done.returncode, "no token for github.com" in done.stdout) == (2, True)
