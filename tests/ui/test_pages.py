"""The pages of three stories at 80 columns, as they were read: whoever changes one sees it, and renews it on purpose.

    PYTHONPATH=tests .venv/bin/python -m ui.test_pages

writes them anew. Read the diff before you commit it.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from support.cases import cases
from support.cli_story import Story, red_test, usual_night, write_issue

from noface.engine.main_checks import UNCOMMITTED
from noface.model.actions import Block, RequestApproval
from noface.model.failure import CHANGED_FILES, Failure
from noface.model.history import Topic
from noface.model.pull_request import Check, CheckState
from noface.model.scratch import BranchTaken
from noface.model.taxonomy import FailureKind
from noface.recovery.blocked import approval_request, block_request
from noface.recovery.options import Configured
from noface.recovery.pull_rounds import ClosedUnmerged, Followed, PullSeen, RoundDue, TakenByPerson
from noface.recovery.requests import (
    accept_request,
    branch_request,
    closed_request,
    not_on_main_request,
    rounds_request,
    taken_pull_request,
)
from noface.recovery.said import notice_of
from noface.store.overview import Overview
from noface.store.publications import Publications
from noface.ui.blocked import blocked_document, waiting_of
from noface.ui.blocked_page import blocked_page, issue_page
from noface.ui.show import show_document, story_page
from noface.ui.status import status_document, status_page
from noface.ui.why import why_page

PAGES = Path(__file__).parent / "pages"
WIDTH = 80
CONFIGURED = Configured(
    {"unit": "python -m pytest -q", "gen": "make gen"},
    {"claude-sonnet": "claude", "claude-opus": "claude", "small": "codex"},
    {"claude-sonnet": "run `claude` and log in with /login"},
    {"claude-sonnet": "one", "claude-opus": "one", "small": "its"},
)
FOLLOWED = Followed(
    "7", 12, "a" * 40, "b" * 40, 2, PullSeen(), "noface/7", "https://forge.example/acme/shop/pull/12", 1
)


def nobody_cleans(text):
    return text


def night(root):
    """A night with an issue of every kind, its overview and the stories of those that need somebody."""
    story = usual_night(root)
    story.attempt("005", 1, changed=("a.py", "b.py")).request_approval("005")
    story.ask("005", Topic.DIAGNOSIS, cause="no CHF", strategy="alternative_approach", text="Read it.")
    yield from overview(story)
    for issue in ("002", "005", "007"):
        yield from pages_of(story, issue)
    story.close()


def parts(root):
    """An issue that was divided, whose parts ask."""
    for number in range(1, 8):
        write_issue(root, f"{number}-x", f"Title {number}")
    story = Story(root).sync().run()
    login = Failure(FailureKind.AUTH, "Not logged in · Please run /login", "r", signature="a")
    for number in range(2, 6):
        story.attempt(str(number), 1, login, model="small", charged=False).block(str(number), FailureKind.AUTH)
    story.divide("1", "Write the header", "Write the rows").attempt("1.1", 1, red_test()).block("1.1")
    confused = Failure(FailureKind.AGENT_CONFUSION, "?", "r", signature="q", questions=("CSV or JSON?", "Which?"))
    story.attempt("6", 1, confused).block("6", FailureKind.AGENT_CONFUSION)
    story.attempt("7", 1, red_test("tests were weakened", kind=FailureKind.GATE_TAMPERING), changed=("tests/x.py",))
    story.request_approval("7", FailureKind.GATE_TAMPERING, "the tests were changed")
    yield from overview(story)
    for issue in ("1", "1.1", "6", "7"):
        yield from pages_of(story, issue)
    yield from comment(story, "1")
    story.close()


def requests(root):
    """Whatever a person is asked: its page, its JSON, and the comment at the issue's tracker."""
    for number, (name, make) in enumerate(REQUESTS.items()):
        folder = root / str(number)
        folder.mkdir()
        write_issue(folder, "7-x", "Cache the rates")
        story = Story(folder).sync().run()
        failure = make["failure"] if "failure" in make else red_test()
        story.attempt("7", 1, failure, changed=("a.py", "tests/test_a.py")).attempt("7", 2, failure)
        if make.get("passes"):
            story.attempt("7", 3, changed=("a.py",))
        yield f"=== {name}"
        history = story.history("7")
        asked = make["request"](history.issue, history)
        if "approval" in name:
            story.journal.approval_requested(story.tick(), "7", "it is asked for", asked)
        else:
            story.journal.blocked(story.tick(), "7", "it is asked for", asked)
        row = story.reader.issue("7")
        record = waiting_of(row)
        yield from issue_page(record, WIDTH)
        yield from comment(story, "7")
        story.close()


def blocks(kind, limit=""):
    def make(issue, history):
        action = Block(kind, "all 2 attempts are used up", limit)
        return block_request(issue, action, history, "noface/7", CONFIGURED)

    return make


def approves(kind=None, **more):
    def make(issue, history):
        return approval_request(issue, RequestApproval(kind, "why", **more), history, "noface/7", CONFIGURED)

    return make


def taken(**more):
    def make(issue, history):
        why = BranchTaken("noface/7", **more)
        return branch_request(issue, history, why)

    return make


def gate(kind, name, rule="r"):
    return Failure(kind, f"gate {name}: it wrote gen.py", rule, signature="g", gate=name)


RED = Check("unit", CheckState.FAILED, "https://forge.example/checks/3")
MISSING = ("git add tests/x.py", "git commit -m x")
REQUESTS = {
    "blocked: a red test": {"request": blocks(FailureKind.TEST_FAILURE)},
    "blocked: no login": {
        "failure": Failure(FailureKind.AUTH, "Not logged in", "r", signature="a"),
        "request": blocks(FailureKind.AUTH),
    },
    "blocked: money": {"request": blocks(FailureKind.RESOURCE_EXHAUSTED, "max_cost_usd")},
    "blocked: a gate is at fault": {
        "failure": gate(FailureKind.MISCONFIGURED, "gen"),
        "request": blocks(FailureKind.MISCONFIGURED),
    },
    "blocked: a gate writes": {
        "failure": gate(FailureKind.LINT_FAILURE, "gen", CHANGED_FILES),
        "request": blocks(FailureKind.LINT_FAILURE),
    },
    "blocked: outside its paths": {
        "failure": Failure(
            FailureKind.BOUNDARY_VIOLATION, "m", "outside-paths", signature="o", evidence=("src/db.py",)
        ),
        "request": blocks(FailureKind.BOUNDARY_VIOLATION),
    },
    "blocked: the branch is checked out": {"request": taken(place="/home/ada/shop")},
    "blocked: the branch has a person's commit": {"request": taken(commit="c" * 40)},
    "blocked: the branch on the remote": {"request": taken(commit="c" * 40, remote="origin")},
    "blocked: the pull request was closed": {
        "request": lambda issue, history: closed_request(
            ClosedUnmerged("ada", "ada closed it"), issue, FOLLOWED, history, CONFIGURED
        )
    },
    "blocked: the pull request is a person's": {
        "request": lambda issue, history: taken_pull_request(
            TakenByPerson("d" * 40, "ada has pushed"), issue, FOLLOWED, history, CONFIGURED
        )
    },
    "blocked: it was taken back": {
        "request": lambda issue, history: not_on_main_request(
            issue, "taken back by you (eeeeeeeeeeee)", history, "f" * 40, "git revert eeeeeeeeeeee"
        )
    },
    "blocked: the rounds are used up": {
        "request": lambda issue, history: rounds_request(
            RoundDue((RED,), (), "all rounds are used up", allowed=False),
            FailureKind.TEST_FAILURE,
            issue,
            FOLLOWED,
            history,
            CONFIGURED,
        )
    },
    "blocked: accept names what main has not": {
        "request": lambda issue, _history: accept_request(
            issue, Failure(FailureKind.MISCONFIGURED, "tests/x.py is not on main", UNCOMMITTED), MISSING
        )
    },
    "blocked: accept cannot be run": {
        "request": lambda issue, _history: accept_request(
            issue, Failure(FailureKind.ENVIRONMENT, "foo: not found", "r", evidence=("a", "b", "c", "d")), ()
        )
    },
    "approval: landing": {"passes": True, "request": approves()},
    "approval: paths": {"request": approves(FailureKind.BOUNDARY_VIOLATION, paths=("src/db.py",))},
    "approval: contract": {
        "failure": red_test("tests were weakened", kind=FailureKind.GATE_TAMPERING),
        "request": approves(FailureKind.GATE_TAMPERING),
    },
    "approval: going on": {"request": approves(FailureKind.TEST_FAILURE)},
    "approval: done already": {
        "failure": Failure(FailureKind.NO_DIFF, "nothing", "r", signature="n", excerpt="It is there."),
        "request": approves(FailureKind.NO_DIFF, done=True),
    },
    "approval: complete": {"request": approves(FailureKind.TEST_FAILURE, parts=True)},
}


def overview(story):
    waiting = story.reader.waiting_for_a_person()
    yield from blocked_page(blocked_document(waiting, ()), WIDTH)
    rows = Overview(story.database.rows)
    document = status_document(
        rows.listed(), None, rows.model_waits(story.now), rows.attempts_made(), gaps=tuple(rows.gaps("run1"))
    )
    yield from status_page(document, story.now, WIDTH, everything=True)


def pages_of(story, issue):
    row = story.reader.issue(issue)
    yield from story_page(show_document(story.reader, row), (), story.now, WIDTH)
    for attempt in story.reader.attempts(issue):
        yield from why_page(attempt, None, story.now, WIDTH)


def comment(story, issue):
    standings = Publications(story.database).standings(0.0)
    yield from notice_of(next(each for each in standings if each.issue_id == issue), nobody_cleans).text.splitlines()


STORIES = {"night": night, "parts": parts, "requests": requests}


def page(name):
    with TemporaryDirectory() as folder:
        return "\n".join(line.rstrip() for line in STORIES[name](Path(folder))) + "\n"


@cases("name", STORIES)
def test_the_pages_of_a_story_are_as_they_were_read(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    assert page(name) == (PAGES / f"{name}.txt").read_text()


if __name__ == "__main__":
    for each in STORIES:
        (PAGES / f"{each}.txt").write_text(page(each))
