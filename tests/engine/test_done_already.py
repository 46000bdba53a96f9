"""An issue that is done already: one more look, then a person is asked; only a green `accept` closes it by itself."""

import json

CLAIM = "Nothing to change: a.txt already holds the total (a.txt:1), and `test -e a.txt` passes."
REPORT = json.dumps({"status": "already_done", "summary": CLAIM, "evidence": "test -e a.txt"})
PROSE = json.dumps({"status": "done", "summary": "Already so on main."})


def prompt(project, issue, number):
    return (project.state / "attempts" / issue / str(number) / "prompt.md").read_text()


def test_what_is_done_already_is_looked_at_once_more_and_then_asked_about(project):
    """Issue 1 is done, 2 depends on it, 3 is done by the second look, 4 is said to be done and is not, by its accept."""
    project.config()
    project.issue(1, max_attempts=1)
    project.issue(2, depends_on=["1"])
    project.issue(3, max_attempts=1)
    project.issue(4, max_attempts=2, accept=["test -e wanted.txt"])
    said = [{"say": REPORT}]
    project.play(
        ("1", 0, said), ("3", 1, said), ("4", 0, said), ("2", 0, [{"write": "two.txt", "text": "2"}]),
        ("3", 2, [{"write": "three.txt", "text": "3"}]),
    )  # fmt: skip
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "approval", "2": "waiting", "3": "merged", "4": "blocked"}
    first, second = project.attempts("1")
    assert [(a["outcome"], a["charged"], a["failure"]["rule"]) for a in (first, second)] == [
        ("NO_DIFF", False, "done-already")
    ] * 2
    assert "Check that critically" in prompt(project, "1", 2)
    assert "a.txt already holds the total" in prompt(project, "1", 2)
    told, *charged = project.attempts("4")
    assert (told["charged"], told["failure"]["rule"]) == (False, "done-disproven")
    assert "test -e wanted.txt fails" in prompt(project, "4", 2)
    assert [each["charged"] for each in charged] == [True, True]
    assert [(gate["name"], gate["passed"]) for gate in first["gates"]][-1] == ("evidence", True)
    (asked,) = [each for each in project.shown("blocked")["blocked"] if each["id"] == "1"]
    assert asked["wants"] == "done"
    assert asked["question"].startswith("Is issue 1 done already?")
    assert "a.txt:1" in asked["question"]
    assert asked["commands"][0] == "noface approve 1"

    assert "closed as done" in project.noface("approve", "1").stdout
    assert project.statuses()["1"] == "skipped"
    project.run(code=3)
    assert project.statuses()["2"] == "merged"


def test_prose_claims_nothing_and_evidence_that_fails_is_shown_to_who_gave_it(project):
    """Issue 1 is done, and its worker says so in prose first; of 2 the evidence fails, and its second worker works."""
    project.config()
    project.issue(1)
    project.issue(2)
    wrong = json.dumps({"status": "already_done", "summary": "it is there", "evidence": "echo no such line; false"})
    works = [{"write": "two.txt", "text": "2"}]
    project.play(("1", 1, [{"say": PROSE}]), ("1", 0, [{"say": REPORT}]), ("2", 1, [{"say": wrong}]), ("2", 2, works))  # fmt: skip
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "approval", "2": "merged"}
    rules = [(each["failure"]["rule"], each["charged"]) for each in project.attempts("1")]
    assert rules == [("tree-unchanged", False), ("done-already", False), ("done-already", False)]
    assert 'report status "already_done"' in prompt(project, "1", 2)
    assert "You must change code" not in prompt(project, "1", 2)
    assert (project.attempts("2")[0]["failure"]["rule"], project.attempts("2")[0]["charged"]) == (
        "done-disproven",
        False,
    )
    assert "no such line" in prompt(project, "2", 2)
