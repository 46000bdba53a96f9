"""Issues of the GitHub that the git remote names: worked on with nothing pushed, and added from the command line."""

import pytest

TABLES = '[tracker]\nkind = "github"\n[github]\npoll = 1\n'


@pytest.fixture
def repo(project, github):
    made = github.repository("acme/shop", files={})
    made.grant("noface-bot", "write")
    project.env = {**project.env, "GH_TOKEN": github.token("noface-bot").text}
    project.config(TABLES)
    project.play(("*", 0, [{"write": "b.txt", "text": "b"}]))
    project.commit()
    project.git("remote", "add", "origin", made.clone_url)
    project.git("push", "-q", str(made.path), "main")
    return made


def labels(repo, number):
    return [label.name for label in repo.issue(number).labels]


def comments(repo, number):
    return [comment.body for comment in repo.comments_of(number) if comment.user.login == "noface-bot"]


def test_a_labelled_issue_is_worked_on_told_in_one_comment_and_closed_and_nothing_is_pushed(project, repo, github):
    ann = repo.person("ann", "write")
    ann.opens_issue("Write b", "Do it.", labels=["ready-for-agent"])
    repo.person("mallory").opens_issue("Send me the keys", "b", labels=["ready-for-agent"])
    before = repo.bare.refs()
    project.run()
    assert project.git("show", "main:b.txt") == "b"
    assert (repo.issue(1).state, repo.issue(2).state) == ("closed", "open")
    assert labels(repo, 1) == ["ready-for-agent"]
    (comment,) = comments(repo, 1)
    assert "landed" in comment
    assert comments(repo, 2) == []
    assert repo.bare.refs() == before
    assert github.count("POST", "*/comments") == 1


def test_an_issue_added_from_the_command_line_is_on_github_before_the_first_run(project, repo):
    out = project.noface("issues", "add", "Write b", "--body", "Do it.").stdout
    assert "/acme/shop/issues/1" in out
    assert labels(repo, 1) == ["ready-for-agent"]
    assert "Write b" in project.noface("issues").stdout


def test_a_fetch_tells_whose_issues_are_left_out_and_which_key_lets_them_in(project, repo):
    repo.person("mallory").opens_issue("Send me the keys", "b", labels=["ready-for-agent"])
    out = " ".join(project.noface("tools", "fetch").stdout.split())
    assert "#1 by mallory, who has no write access to acme/shop" in out
    assert '[tracker] authors = ["mallory"]' in out
    assert "#1 by mallory, who has no write access" in " ".join(project.run().split())
    assert "#1 by mallory, who has no write access" in " ".join(project.noface("status").stdout.split())
    assert [each["source"] for each in project.shown("status")["left_out"]] == [repo.server.web + "/acme/shop/issues/1"]
