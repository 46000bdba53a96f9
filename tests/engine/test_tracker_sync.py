"""Runs on issues of a GitHub on loopback: told in one comment each, answered there, in step whatever happens.

test_run_on_github.py tells the plain ways, from the label to the closed issue and from a question to its answer.
"""

import json

import pytest
from support.cases import first_ones
from support.clocked_run import clocked
from support.hosted import BOT, NAME, hosted
from support.processes import wait_for

WORK = ("*", 0, [{"write": "b.txt", "text": "b"}])
STUCK = ("*", 1, [{"shell": "echo no idea of $NOFACE_ISSUE_ID | tr 0-9 a-j"}])
"""Of each issue in other words: a model that says the same of several before it has ever worked stops the run."""
TABLES = '[tracker]\nkind = "github"\n[github]\nrepository = "{name}"\nurl = "{url}"\npoll = "{poll}"\n'
BLOCKS = "[retry.strategies]\nNO_DIFF = 'block'\n"


class Shop:
    """A project whose issues lie on GitHub, where alice may write and mallory is a stranger."""

    def __init__(self, project, github):
        self.project, self.github = project, github
        self.made = hosted(project, github)
        self.repository = self.made.repo
        self.alice = self.repository.person("alice", "write")
        self.mallory = self.repository.person("mallory")

    def set_up(self, *plays, extra="", poll="1s", **more):
        self.project.config(TABLES.format(name=NAME, url=self.github.api, poll=poll) + BLOCKS + extra, **more)
        self.project.play(*plays)
        if self.project.git("status", "--porcelain"):
            self.made.push()

    def issue(self, title="Log in with a passkey"):
        return self.alice.opens_issue(title, "Do it.", labels=["ready-for-agent"])

    def labels(self, number):
        return {label.name for label in self.repository.issue(number).labels} - {"ready-for-agent"}

    def comment(self, number):
        """The one comment of noface's that says how the issue stands."""
        (own,) = (each for each in self.comments(number) if "in a newer comment" not in each)
        return own

    def comments(self, number):
        return [each.body for each in self.repository.comments_of(number) if each.user.login == BOT]

    def status(self, number):
        return self.project.statuses()[str(number)]


@pytest.fixture
def shop(project, github):
    made = Shop(project, github)
    made.set_up(WORK)
    return made


def test_commands_do_what_the_verbs_of_their_names_do_or_the_comment_says_why_not(shop):
    shop.set_up(STUCK, WORK)
    said = {shop.issue(text): text for text in ("/noface skip", "/noface approve", "/noface retry", "nothing")}
    skipped, approved, retried, stranger = said
    shop.alice.comments(stranger, "Written before the question, so that it is no answer.")
    shop.project.run(code=3)
    for number in (skipped, approved, retried):
        shop.alice.comments(number, said[number])
    shop.mallory.comments(stranger, "/noface skip")
    for talk in ("@carol any idea?", "+1", "/skip"):
        shop.alice.comments(stranger, talk)
    shop.project.run(code=3)
    assert [shop.status(number) for number in said] == ["skipped", "blocked", "merged", "blocked"]
    assert "leaves this undone" in shop.comment(skipped)
    assert "alice wrote /noface approve, but its question is answered by no yes or no" in shop.comment(approved)
    assert shop.repository.mails_of("alice", approved) == ["comment"] * 3, "begun, asked, and told why not"
    assert "landed**" in shop.comment(retried)
    assert shop.labels(stranger) == {"noface:blocked"}


@pytest.mark.thorough
def test_a_part_that_github_does_not_know_asks_at_the_issue_that_was_divided(shop):
    parts = ({"key": key, "title": key.title(), "body": "b", "paths": [f"{key}.txt"]} for key in ("one", "two"))
    number = shop.issue()
    shop.set_up(
        (str(number), 0, [{"say": '{"status": "partial", "summary": "too much"}'}]),
        (str(number), 0, [{"say": json.dumps({"children": list(parts)})}], "breakdown"),
        (f"{number}.1", 0, [{"write": "one.txt", "text": "1"}]),
        (f"{number}.2", 0, [{"write": "two.txt", "text": "2"}]),
        extra='RESOURCE_EXHAUSTED = "breakdown"\n[roles]\nplanner = "big"\n[approval]\npaths = ["two.txt"]\n',
    )
    shop.project.run(code=3)
    assert f"Part `{number}.2`, Two:" in shop.comment(number)
    assert shop.labels(number) == {"noface:blocked"}
    shop.alice.comments(number, "/noface approve")
    shop.project.run(code=3)  # nobody answers what is missing, so that this is asked as well
    shop.alice.comments(number, "/noface approve")
    shop.project.run()
    assert {"one.txt", "two.txt"} <= set(shop.project.git("ls-tree", "--name-only", "main").split())
    assert shop.repository.issue(number).state == "closed"


@pytest.mark.parametrize("act", first_ones(["unlabels", "closes"]))
def test_an_issue_that_people_take_back_ends_its_worker_and_keeps_its_work(shop, act):
    shop.set_up(("*", 1, [{"write": "half.txt", "text": "half"}, {"sleep": 60}]), WORK)
    number = shop.issue()
    running = shop.project.start("run")
    shop.project.in_slots("half.txt")
    wait_for(lambda: shop.labels(number) == {"noface:running"})
    if act == "closes":
        shop.alice.closes(number)
    else:
        shop.alice.unlabels(number, "ready-for-agent")
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0, out
    assert "was closed or taken from noface" in out
    assert "works on this no more" in shop.comment(number)
    assert shop.labels(number) == set()
    (attempt,) = shop.project.attempts(str(number))
    assert (attempt["outcome"], attempt["charged"]) == ("INTERRUPTED", False)
    assert shop.project.git("show", f"refs/noface/issues/{number}/1:half.txt") == "half"


@pytest.mark.thorough
def test_an_issue_that_is_transferred_under_work_neither_lands_nor_is_told_elsewhere(shop):
    shop.set_up(("*", 1, [{"write": "half.txt", "text": "half"}, {"sleep": 60}]), WORK)
    number, other = shop.issue(), shop.github.repository("acme/other")
    other.grant(BOT, "write")
    running = shop.project.start("run")
    shop.project.in_slots("half.txt")
    wait_for(lambda: shop.labels(number) == {"noface:running"})
    said = len(shop.repository.comments)
    assert shop.alice.transfers(number, other) == number
    shop.github.requests.clear()
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 0, out
    assert "was transferred to another repository" in out
    assert [each for each in shop.github.requests if f"/{other.id}/" in each[1] or "/acme/other" in each[1]] == []
    assert (len(other.comments), other.issue(number).labels) == (said, [])
    assert shop.project.git("show", f"refs/noface/issues/{number}/1:half.txt") == "half"
    assert "transferred" in shop.project.noface("show", str(number)).stdout


@pytest.mark.thorough
def test_an_outage_stops_nobody_and_all_is_told_by_the_next_run(shop):
    number = shop.issue()
    with shop.github.away():
        done = clocked(shop.project, "run", step_s=900.0)
    assert done.returncode == 1
    assert done.stderr.count("no copy of the issues yet, and they cannot be fetched now") == 1
    assert "no copy of the issues yet, and they cannot be fetched:" in done.stderr
    shop.project.noface("tools", "fetch")
    with shop.github.away():
        done = clocked(shop.project, "run", step_s=900.0)
    out = done.stdout + done.stderr
    assert done.returncode == 4, out
    assert out.count("the tracker does not answer") == 1
    assert "what is new at GitHub was not looked at" in out.lower().replace("github", "GitHub")
    assert "inished" not in out
    assert shop.project.git("show", "main:b.txt") == "b", "what the copy holds was worked on"
    assert f"the next run tells the tracker how these stand: {number}" in out
    assert shop.repository.issue(number).state == "open"
    assert "The tracker has not answered since" in shop.project.noface("status").stdout
    shop.project.run()
    assert shop.project.shown("status")["tracker_away"] is None
    assert shop.repository.issue(number).state == "closed"
    assert "landed**" in shop.comment(number)


def test_a_token_that_may_not_write_issues_is_told_once_and_work_goes_on(shop):
    number = shop.issue()
    may = shop.github.token(BOT, "issues=read contents=read metadata=read")
    out = shop.project.run(NOFACE_GITHUB_TOKEN=may.text)
    assert out.count("the tracker refuses") == 1, out
    assert shop.status(number) == "merged"
    assert shop.project.git("show", "main:b.txt") == "b"


WORKER = """\
test $NOFACE_ISSUE_ID = {stuck} && exit 0
if test $(cat {slept}) -lt 5400; then echo '529 overloaded' >&2; exit 75; fi
echo done > two.txt
"""


@pytest.mark.thorough
def test_an_idle_run_asks_less_than_a_hundred_times_an_hour(shop):
    """A provider is away for an hour and a half; meanwhile another issue waits for an answer."""
    project, slept = shop.project, shop.project.folder / "slept"
    stuck, script = shop.issue(), project.folder / "worker.sh"
    shop.issue("Cache the rates")
    script.write_text(WORKER.format(slept=slept, stuck=stuck))
    shop.set_up(WORK, poll="60s")
    config = project.path / "noface.toml"
    text = config.read_text().replace('agent = "scripted"', 'agent = "command"')
    config.write_text(text.replace(f'"{project.script}"', f'"sh {script}"'))
    shop.made.push()
    done = clocked(project)
    assert done.returncode == 3, done.stdout + done.stderr
    assert project.git("show", "main:two.txt") == "done"
    assert 20 < len(shop.github.requests) < 100 * float(slept.read_text()) / 3600


def test_the_issues_can_be_fetched_and_looked_at_without_a_run(shop):
    number, project = shop.issue(), shop.project
    before = project.noface("issues")
    assert before.returncode == 2
    assert "noface tools fetch" in before.stderr
    assert "1 issue for noface" in project.noface("tools", "fetch").stdout
    asked = len(shop.github.requests)
    assert f"/{NAME}/issues/{number}" in project.noface("issues", "show", str(number)).stdout
    assert "Log in with a passkey" in project.noface("status").stdout
    assert len(shop.github.requests) == asked
    assert f"now  {number} with small" in project.noface("run", "--dry-run").stdout
    shop.alice.edits(number, title="Log in with two passkeys")
    project.noface("tools", "fetch")
    assert "Log in with two passkeys" in project.noface("status").stdout
