"""`noface config hints`: test, suggest, and lessons."""

import tomllib

import pytest
from support.cli_story import Story, red_test, write_issue

from noface.knowledge.fixes import Fix
from noface.knowledge.lessons import lesson_of
from noface.model.attempt import PastAttempt
from noface.model.issue import Issue
from noface.model.patch import ChangedLine
from noface.store.lessons import LessonStore

HINTS = """
# What we learnt.
[[failure_hints]]
label = "auth"
error_pattern = "401 =="
hint = "Read docs/auth.md first."

[[failure_hints]]
language = "python"
hint = "Run ruff."
"""
BROKEN = """\
Traceback (most recent call last):
  File "src/basket.py", line 12, in total
    check(basket)
AssertionError: the basket of 'ann' is not for sale
"""


MEND = Fix((ChangedLine("src/login.py", False, "return Reply(200)"),))


def cart(name):
    message = f"there is no cart of '{name}' in the store"
    return red_test(message, signature="s2", location="src/cart.js:3", evidence=(message,))


@pytest.fixture
def night(project):
    """Issue 1 failed twice alike, issue 2 once otherwise and once with the provider away, issue 3 not at all."""
    project.config(HINTS)
    write_issue(project.path, "1-login", "Login", 'labels = ["auth"]\n')
    write_issue(project.path, "2-cart", "Cart")
    write_issue(project.path, "3-page", "Page")
    story = Story(project.path, project.git("rev-parse", "HEAD")).sync().run()
    story.attempt("1", 1, red_test()).attempt("1", 2, red_test())
    story.attempt("2", 1, cart("ann"))
    yield story
    story.close()


def test_test_tells_which_hints_match_and_which_condition_fails(project, night):
    document = project.shown("config", "hints", "test", "2")
    assert (document["attempt"], document["failure"]["message"]) == (1, "there is no cart of 'ann' in the store")
    first, second = document["hints"]
    assert [(c["name"], c["held"], c["why"]) for c in first["conditions"]] == [
        ("label", False, "the issue's labels: none"),
        ("error_pattern", False, "the error does not hold it"),
    ]
    assert (first["matched"], second["matched"]) == (False, False)
    page = project.noface("config", "hints", "test", "1", "--attempt", "1").stdout
    assert page.startswith("Issue 1, attempt 1: TEST_FAILURE: assert 401 == 200\n\n1  matches\n")
    assert '   yes  label "auth": the issue\'s labels: auth\n' in page
    assert '   yes  language "python": the files concerned: tests/test_login.py' in page
    assert max(map(len, page.splitlines())) <= 80


def test_an_attempt_that_did_not_fail_is_refused(project, night):
    done = project.noface("config", "hints", "test", "1", "--attempt", "9")
    assert (done.returncode, "Those that failed: 1, 2." in done.stderr) == (2, True)


def test_a_catastrophic_expression_is_reported(project, night):
    project.config('[[failure_hints]]\nerror_regex = "(a+)+$"\nhint = "x"\n')
    night.attempt("3", 1, red_test("a" * 5000 + "!"))
    said = "hint 1: its expression took too long on this failure; simplify it"
    assert project.shown("config", "hints", "test", "3")["warnings"] == [said]


def test_suggest_prints_toml_that_can_be_pasted(project, night):
    night.attempt("2", 2, cart("bob"))
    assert "Nothing to propose" in project.noface("config", "hints", "suggest").stdout, "one issue alone had it"
    night.attempt("3", 1, cart("eve"))
    done = project.noface("config", "hints", "suggest")
    (entry,) = tomllib.loads(done.stdout)["failure_hints"]
    assert entry == {
        "error_regex": "there is no cart of .+? in the store",
        "hint": "This has failed 3 times, in issues 2, 3. Describe what to do here.",
    }
    assert "# Proposal 1, in issues 2, 3; it would have matched 3 failures.\n" in done.stdout
    (proposal,) = project.shown("config", "hints", "suggest")["hints"]
    assert (proposal["issues"], proposal["draft"]) == (["2", "3"], True)
    assert proposal["would_match"] == [["2", 1], ["2", 2], ["3", 1]]


def test_what_several_issues_were_mended_by_becomes_a_hint_that_the_next_prompt_contains(project):
    """Three issues of one part forget the same import: the first two teach, the third is told."""
    gate = "test ! -e bad || { cat bad; exit 1; }"
    project.config("\n# The end.\n", gate=gate)
    plays = []
    for issue in (7, 8):
        project.issue(issue)
        path = f"src/shop/a{issue}.py"
        plays.append((str(issue), 1, [{"write": path, "text": "1\n"}, {"write": "bad", "text": BROKEN}]))
        plays.append((str(issue), 2, [{"write": path, "text": "import pricing\n1\n"}, {"delete": "bad"}]))
    project.play(*plays)
    project.commit()
    project.run()
    (proposal,) = project.shown("config", "hints", "suggest")["hints"]
    assert proposal["hint"] == 'Issues 7, 8 passed once they had this as well: "import pricing"'
    assert (proposal["issues"], proposal["draft"]) == (["7", "8"], False)
    project.config(f"\n{proposal['toml']}", gate=gate)
    project.issue(9)
    project.play(
        ("9", 1, [{"write": "src/shop/a7.py", "text": "9\n"}, {"write": "bad", "text": BROKEN}]),
        ("9", 2, [{"write": "src/shop/a7.py", "text": "import pricing\n9\n"}, {"delete": "bad"}]),
    )
    project.commit()
    project.run()
    told = project.prompt("9", 2)
    assert f"## Hints\n\n- {proposal['hint']}\n" in told
    assert "In issue 8, " in told
    assert "src/shop/a8.py\n+ import pricing\n" in told, "the lesson shows the change that mended it"
    assert "import pricing" not in project.prompt("9", 1)
    (lesson,) = project.shown("config", "hints", "lessons")["lessons"]
    assert (lesson["learned"], lesson["hits"], lesson["successes"]) == (3, 2, 2)


def test_what_a_worker_wrote_cannot_drive_the_terminal(project, night):
    evil = "\x1b]0;pwned\x07\x1b[2Jthe end is\nhint = 'x'\u202e near now"
    night.attempt("3", 1, red_test(evil, signature="s9")).attempt("2", 2, red_test(evil, signature="s9"))
    for command in (["test", "3"], ["suggest"]):
        shown = project.noface("config", "hints", *command).stdout
        assert shown
        assert not {"\x1b", "\u202e"} & set(shown)
    tomllib.loads(project.noface("config", "hints", "suggest").stdout)


def test_lessons_are_listed_with_what_they_are_worth(project):
    assert "No lesson yet" in project.noface("config", "hints", "lessons").stdout
    story = Story(project.path)
    attempts = (
        PastAttempt(1, "m", 1, "TEST_FAILURE", charged=True, failure=red_test("no reply"), answer="Escalate"),
        PastAttempt(2, "n", 2, "PASSED", charged=True),
    )
    LessonStore(story.database).learn(lesson_of(Issue("2", "Login", labels=("auth",)), attempts, MEND), 1.0)
    story.close()
    document = project.shown("config", "hints", "lessons")
    (lesson,) = document["lessons"]
    assert (lesson["kind"], lesson["strategy"]) == ("TEST_FAILURE", "Escalate")
    page = project.noface("config", "hints", "lessons").stdout
    assert "was mended by this change.\n   src/login.py\n   + return Reply(200)\n" in page
    assert "   learned 1 time\n" in page
    assert max(map(len, page.splitlines())) <= 80
