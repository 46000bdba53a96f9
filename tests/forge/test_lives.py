"""The lives of an issue in lives.toml: whole runs, and what those people receive who maintain the repository."""

import re
import signal
import tomllib

import pytest
from support import TESTS
from support.hosted import BOT, NAME, hosted, lose_the_state
from support.processes import wait_for

LIVES = tomllib.loads((TESTS / "forge" / "lives.toml").read_text())["life"]
PULLS = '[landing]\nhow = "pull-request"\nfollow_checks = "0s"\n'
NO_PULLS = ""
TABLES = '[tracker]\nkind = "github"\n{landing}[github]\nrepository = "{name}"\nurl = "{url}"\npoll = "1s"\n'
WORK = [[0, [{"write": "b.txt", "text": "b"}]]]
OWN_REPOSITORY = re.compile(
    r"/repos/acme/shop(/|\Z)|/acme/shop\.git/|/repositories/(\d+)(/|\Z)|/user\Z|/graphql\Z|/api/graphql\Z|/rate_limit"
)


class Life:
    """A life as it is played: the project of who runs noface, and the repository of the people beside it."""

    def __init__(self, project, github, table):
        self.project, self.github, self.table = project, github, table
        self.made = hosted(project, github, http=table.get("http", False))
        self.repo = self.made.repo
        self.people = {name: self.repo.person(name, "write") for name in ("alice", "bob")}
        self.people |= {"mallory": self.repo.person("mallory"), "owner": self.repo.person(BOT)}
        self.running = None
        landing = PULLS if table.get("pulls", True) else NO_PULLS
        config = TABLES.format(landing=landing, name=NAME, url=github.api)
        project.config(config + table.get("config", ""))
        project.play(*(("*", attempt, steps) for attempt, steps in table.get("plays", WORK)))
        self.made.push()
        author = self.people[table.get("author", "alice")]
        self.number = author.opens_issue("Add b", "Write `b.txt`.", labels=table.get("labels", ["ready-for-agent"]))

    def play(self):
        for actor, *what in self.table["does"]:
            act = getattr(self, f"_{actor}", None)
            if act is not None:
                act(*what)
            else:
                name, *values = what
                changed = values.pop() if name == "edits" else {}
                getattr(self.people[actor], name)(*map(self._meant, values), **changed)
                self.github.later(1)

    def _run(self, code):
        self.project.run(code=code)
        self.github.later(1)

    def _killed(self, point):
        assert self.project.noface("run", NOFACE_FAILPOINT=point).returncode == -signal.SIGKILL
        self.github.later(1)

    def _fails(self, point, code):
        assert self.project.noface("run", NOFACE_FAILPOINT=f"{point}:raise").returncode == code
        self.github.later(1)

    def _begins(self, file):
        self.running = self.project.start("run")
        self.project.in_slots(file)

    def _ends(self, code):
        out, _ = self.running.communicate(timeout=60)
        assert self.running.returncode == code, out

    def _loses(self, what):
        assert what == "state"
        lose_the_state(self.project)

    def _drops(self, *paths):
        for path in paths:
            self.github.drops(before=False, method="POST", path=path)

    def _rules(self, kind):
        self.repo.rule(kind)

    def _sees(self, where, text):
        shown = {
            "comment": lambda: self.own(self.number),
            "label": lambda: [label.name for label in self.repo.issue(self.number).labels],
            "pull": lambda: self.own(self.pull) if self.repo.pulls else [],
        }[where]
        wait_for(lambda: any(text in each for each in shown()))

    def _meant(self, value):
        if value == "issue":
            return self.number
        if value == "pull":
            return self.pull
        if value == "line":
            return next(each.id for each in self.repo.review_comments.values() if each.reply_to is None)
        return value

    @property
    def pull(self):
        (only,) = (each.number for each in self.repo.pulls)
        return only

    def own(self, number):
        """What noface has said of an issue or a pull request, oldest first."""
        return [each.body for each in self.repo.comments_of(number) if each.user.login == BOT]

    def replies(self):
        said = self.repo.review_comments.values()
        return [each for each in said if each.user.login == BOT and each.reply_to is not None]

    def unseen(self):
        """Comments of people who may decide without noface's 👀."""
        seen = {about for about, given in self.repo.reactions.items() if any(each.user.login == BOT for each in given)}
        said = [*self.repo.comments.values(), *self.repo.review_comments.values()]
        mine = [each for each in said if each.user.login == "alice" and each.id not in seen]
        return [each.body for each in mine]

    def commits(self):
        """Subjects of the commits of the pull request's branch beyond main, the newest first."""
        bare = self.repo.bare
        return bare.git(
            "log", "--format=%s", "--first-parent", f"{bare.branch('main')}..refs/pull/{self.pull}/head"
        ).split("\n")


@pytest.mark.thorough
@pytest.mark.parametrize("table", LIVES, ids=[life["name"].replace(" ", "-").replace(",", "") for life in LIVES])
def test_a_life_ends_as_it_should_and_tells_people_what_they_are_to_know(project, github, table):
    life = Life(project, github, table)
    life.play()
    told = life.own(life.number)
    assert project.statuses()[str(life.number)] == table["ends"], told
    assert project.unexpected_steps() == ()
    assert [fault.path for fault in github.faults if fault.times] == []  # each has struck
    assert len(life.repo.pulls) <= 1
    assert len([body for body in told if "in a newer comment" not in body]) <= 1, told
    assert table.get("told", "") in (told[-1] if told else ""), told[-1]
    assert [body.partition("\n")[0] for body in life.unseen()] == table.get("unheard", [])
    elsewhere = [path for _, path, _ in github.requests if not OWN_REPOSITORY.match(path.partition("?")[0])]
    assert elsewhere == []
    assert life.repo.mails_of("alice") == table.get("mails", life.repo.mails_of("alice"))
    assert len(told) == table["comments"], told
    if "talk" in table:
        assert len(life.own(life.pull)) == table["talk"]
    for text in table.get("threads", []):
        assert any(text in each.body for each in life.replies()), [each.body for each in life.replies()]
    if "threads" in table:
        assert len(life.replies()) == len(table["threads"])
    if "attempts" in table:
        assert [(each["outcome"], each["charged"]) for each in project.attempts(str(life.number))] == [
            tuple(each) for each in table["attempts"]
        ]
    if "labelled" in table:
        assert [label.name for label in life.repo.issue(life.number).labels] == table["labelled"]
    if "commits" in table:
        assert life.commits() == table["commits"]
