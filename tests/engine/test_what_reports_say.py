"""What follows what a worker says in its report, with scripted agents: each of these obeys its prompt."""

import json

PERSON = {"text": "How many days is a voucher valid?", "who": "person"}


def says(**report):
    return {"say": json.dumps(report)}


def writes(name):
    return {"write": name, "text": "x"}


def told(project, issue):
    return [(each["outcome"], each["charged"]) for each in project.attempts(issue)]


def test_what_only_a_person_can_answer_is_asked_at_once_and_the_same_work_goes_on(project):
    """Issue 1 leaves right work and asks; 2 has an `accept` that tells that it is all; 3 leaves work that is red."""
    project.config(gate="test ! -e bad")
    blocked = says(status="blocked", blocked_reason="unclear", summary="no days are given", questions=[PERSON])
    project.play(
        ("1", 1, [writes("one.txt"), blocked]),
        ("1", 2, [writes("days.txt"), says(status="done")]),
        ("2", 0, [writes("two.txt"), blocked]),
        ("3", 0, [writes("bad"), blocked]),
    )
    project.issue(1, max_attempts=1)
    project.issue(2, accept=["test -e two.txt"])
    project.issue(3)
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "blocked", "2": "merged", "3": "blocked"}
    assert told(project, "1") == told(project, "3") == [("AGENT_BLOCKED", False)]
    assert [gate["passed"] for issue in "13" for gate in project.attempts(issue)[0]["gates"]] == [True, False]
    (asked, _) = project.shown("blocked")["blocked"]
    assert PERSON["text"] in asked["question"]
    assert 'noface retry 1 --note "…"' in asked["commands"]
    assert project.noface("retry", "1", "--note", "30 days.").returncode == 0
    project.run("--issue", "1")
    assert project.statuses()["1"] == "merged"
    assert project.git("show", "main:one.txt") == project.git("show", "main:days.txt")
    assert "simplest reading" not in project.prompt("1", 2)


def test_who_made_something_up_is_told_once_and_then_a_person_is_asked(project):
    """Issue 1 asks when it is told, 2 insists, 3 only said so in its summary and takes it out, 4 is honest."""
    project.config()
    invents = says(status="done", summary="it works", made_up=["30 days of validity"])
    blocked = says(status="blocked", blocked_reason="unclear", questions=[PERSON])
    project.play(
        ("1", 1, [writes("one.txt"), invents]), ("1", 2, [blocked]), ("2", 0, [writes("two.txt"), invents]),
        ("3", 1, [writes("three.txt"), says(status="done", summary="The rates are placeholder values.")]),
        ("3", 2, [{"write": "three.txt", "text": "y"}, says(status="done", summary="The rates are read.")]),
        ("4", 0, [writes("four.txt"), says(status="done", unverified=["Windows"])]),
    )  # fmt: skip
    for number in (1, 2, 3, 4):
        project.issue(number, max_attempts=2)
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "blocked", "2": "approval", "3": "merged", "4": "merged"}
    assert told(project, "1") == [("AGENT_BLOCKED", False)] * 2
    assert told(project, "2") == told(project, "3") == [("AGENT_BLOCKED", False), ("PASSED", True)]
    prompt = project.prompt("1", 2)
    assert "30 days of validity" in prompt
    assert "take out what you put in its place" in prompt
    asked = next(each for each in project.shown("blocked")["blocked"] if each["id"] == "2")
    assert "30 days of validity" in " ".join(project.noface("blocked", "2").stdout.split())
    assert "noface approve 2" in asked["commands"]
    assert project.noface("approve", "2").returncode == 0
    project.run(code=3)
    landed = {each["id"]: each["reasons"] for each in project.shown("report")["landed"]}
    assert landed["2"][0] == "its worker made up: 30 days of validity"


def test_what_is_left_is_counted_down(project):
    """Issue 1 does one thing at a time; 2 does one, and then nothing of its list."""
    project.config()
    names = ["a", "b", "c"]
    steps = [
        ("1", at, [writes(f"{name}.txt"), says(status="partial", summary=name, left=names[at:])])
        for at, name in enumerate(names[:2], 1)
    ]
    endless = [{"shell": "echo x >> endless.txt"}, says(status="partial", summary="more", left=names)]
    project.play(*steps, ("1", 3, [writes("c.txt"), says(status="done")]), ("2", 0, endless))
    project.issue(1, max_attempts=1)
    project.issue(2, max_attempts=2)
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "merged", "2": "blocked"}
    assert [charged for _, charged in told(project, "1")] == [False, False, True]
    assert "do the first, and as many more as you finish:\n\n1. `b`\n2. `c`" in project.prompt("1", 2)
    assert "1 of 2 things is done." in project.prompt("1", 3)
    assert "failed with" not in project.prompt("1", 3)
    assert [charged for _, charged in told(project, "2")][:3] == [False, False, True]


def test_what_is_too_large_is_divided_as_its_worker_says(project):
    project.config()
    project.play(
        ("1", 1, [says(status="too_large", summary="two programs", parts=["Write a.txt.", "Write b.txt."])]),
        ("1.1", 0, [writes("a.txt"), says(status="done")]),
        ("1.2", 0, [writes("b.txt"), says(status="done")]),
    )
    project.issue(1)
    project.commit()
    project.run(code=3)
    assert told(project, "1") == [("RESOURCE_EXHAUSTED", False)]
    assert project.statuses()["1.1"] == project.statuses()["1.2"] == "merged"
    assert project.shown("show", "1.2")["depends_on"] == ["1.1"]
