"""What checks, reviewers and others make of a pull request comes back to noface: real runs against a GitHub here."""

import pytest

PYTEST_LOG = """\
##[group]Run python -m pytest -q
python -m pytest -q
##[endgroup]
=================================== FAILURES ===================================
_________________________________ test_doubles _________________________________

    def test_doubles():
>       assert double(2) == 4
E       assert 5 == 4

tests/test_app.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_app.py::test_doubles - assert 5 == 4
1 failed in 0.03s
##[error]Process completed with exit code 1.
"""
LANDING = """
[landing]
how = "pull-request"
rounds = {rounds}
follow_checks = {checks}
[github]
poll = 1
"""


class Published:
    """A project whose work is proposed on a GitHub here; `first` has run noface once, so that pull request 1 is open."""

    def __init__(self, project, github):
        self.project, self.github = project, github
        self.repo = github.repository("acme/shop", files={})
        self.bot = github.token("noface-bot")
        self.repo.grant("noface-bot", "write")
        self.alice = self.repo.person("alice", "write")
        project.env = {**project.env, "GH_TOKEN": self.bot.text}
        project.play(
            ("1", 1, [{"write": "b.txt", "text": "one"}]),
            ("1", 2, [{"write": "b.txt", "text": "two"}]),
            ("1", 0, [{"write": "b.txt", "text": "more"}]),
            ("2", 0, [{"write": "c.txt", "text": "c"}]),
        )
        self.settle()
        project.issue(1)

    def settle(self, rounds=3, checks=0):
        self.project.config(LANDING.format(rounds=rounds, checks=checks))

    def first(self):
        self.project.commit()
        self.project.git("remote", "add", "origin", self.repo.clone_url)
        self.project.git("push", "-q", str(self.repo.path), "main")
        self.repo.look()
        self.project.run(code=3)
        (self.pull,) = self.repo.pulls
        return self

    @property
    def number(self):
        return self.pull.number

    @property
    def head(self):
        return self.repo.bare.branch("noface/1")

    def is_red(self, name="ci / test (3.12)", log=PYTEST_LOG):
        self.repo.check(self.number, name, "failure", log=log)

    def status(self, issue="1"):
        return self.project.statuses()[issue]

    def runs(self, code=3, **env):
        return self.project.run(code=code, **env)

    def block(self, issue="1"):
        return next(each for each in self.project.shown("blocked")["blocked"] if each["id"] == issue)


@pytest.fixture
def published(project, github):
    return Published(project, github)


def test_a_red_check_is_an_attempt_that_failed_and_the_next_one_updates_the_pull_request(published):
    published.first()
    before = published.head
    published.is_red()
    out = published.runs()
    first, second = published.project.attempts("1")
    assert (first["outcome"], first["charged"], second["outcome"]) == ("TEST_FAILURE", True, "PASSED")
    assert first["failure"]["failing_tests"] == ["tests/test_app.py::test_doubles"]
    assert "the check ci / test (3.12) of the pull request failed" in out
    prompt = published.project.prompt("1", 2)
    assert "the check ci / test (3.12) of the pull request failed" in prompt
    assert "tests/test_app.py::test_doubles" in prompt
    assert "assert 5 == 4" in prompt
    assert len(published.repo.pulls) == 1
    assert published.head != before
    assert published.repo.bare.git("show", f"{published.head}:b.txt") == "two"
    assert published.status() == "review"
    log = published.project.noface("logs", "1", "1", "--gate", "ci / test (3.12)").stdout
    assert "1 failed in 0.03s" in log
