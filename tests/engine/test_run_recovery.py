"""The way of an issue through recovery, told from outside: questions, breakdowns, approvals, waits, lessons."""

import json

import pytest

from noface.git.refs import slug

ROLES = """
[models.wise]
agent = "scripted"
command = "{script}"
tier = 3

[roles]
{roles}
"""


def roles(project, *names, extra=""):
    lines = "\n".join(f'{name} = "wise"' for name in names)
    project.config(extra + ROLES.format(script=project.script, roles=lines))


def says(value):
    return [{"say": "Here is what I think.\n```json\n" + json.dumps(value) + "\n```"}]


def section(prompt, heading):
    return prompt.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]


def kinds(project, issue):
    return [attempt["action"]["kind"] for attempt in project.attempts(issue)]


# Questions


def test_the_planner_answers_an_unsure_worker_and_its_answer_reaches_the_next_prompt(project):
    unsure = {"status": "blocked", "blocked_reason": "unclear", "summary": "?", "questions": ["which file?"]}
    answer = {"answers": [{"question": "which file?", "answer": "b.txt, code 4711"}], "summary": "write b.txt"}
    roles(project, "planner")
    project.play(
        ("7", 1, says(unsure)), ("7", 1, says(answer), "clarification"), ("7", 2, [{"write": "b.txt", "text": "b"}])
    )
    project.issue(7)
    project.commit()
    project.run()
    assert kinds(project, "7") == ["AddContext", "Land"]
    assert "code 4711" in project.prompt("7", 2)
    assert project.attempts("7")[0]["outcome"] == "AGENT_BLOCKED"


def test_a_malformed_answer_gets_one_reminder_that_names_the_violation(project):
    roles(project, "diagnoser")
    project.config(ROLES.format(script=project.script, roles='diagnoser = "wise"'), gate="echo strange; exit 3")
    project.write("strange.sh", "true\n")
    good = {
        "cause": "it prints strange",
        "recoverable": "maybe",
        "strategy": "alternative_approach",
        "alternative": "say nothing strange, code 0815",
    }
    ask = project.state / "attempts/7/1/ask-1-diagnosis"
    first = f"test -e {ask}/again && echo '{json.dumps(good)}' || echo 'I would try harder.'"
    project.config(
        ROLES.format(script=project.script, roles='diagnoser = "wise"'),
        gate="test ! -e bad || { echo strange; exit 3; }",
    )
    project.play(
        ("7", 1, [{"write": "bad", "text": "x"}]),
        ("7", 1, [{"shell": first}], "diagnosis"),
        ("7", 2, [{"delete": "bad"}, {"write": "b.txt", "text": "b"}]),
    )
    project.issue(7)
    project.commit()
    project.run()
    failed = project.prompt("7", 2).split("## What failed in attempt 1\n")[1]
    assert failed.index("code 0815") < failed.index("What was printed:")  # the diagnosis stands with the failure
    again = (ask / "again" / "prompt.md").read_text()
    assert "no JSON object" in again


@pytest.mark.thorough
def test_a_diagnoser_is_told_what_it_said_and_what_came_of_it_and_is_paid_for_the_same_advice_once(project):
    """The diagnoser says the same in other words after each attempt; the second time the next rung works."""
    gate = "test ! -e bad || { cat bad; exit 3; }"
    project.config(ROLES.format(script=project.script, roles='diagnoser = "wise"'), gate=gate)
    advice = {"cause": "odd", "recoverable": "yes", "strategy": "alternative_approach"}
    project.play(
        ("7", 1, says({**advice, "alternative": "Make strange.sh executable."}), "diagnosis"),
        ("7", 2, says({**advice, "alternative": "Strange.sh: make it executable."}), "diagnosis"),
        ("7", 3, says({**advice, "alternative": "It should be executable: strange.sh."}), "diagnosis"),
        *(("7", number, [{"write": "bad", "text": f"strange {'x' * number}"}]) for number in (1, 2, 3)),
        ("7", 4, [{"delete": "bad"}, {"write": "b.txt", "text": "b"}]),
    )
    project.issue(7)
    project.commit()
    project.run()
    assert kinds(project, "7") == ["RetryWithFeedback", "Escalate", "ThinkLonger", "Land"]
    asked = sorted(path.name for path in (project.state / "attempts/7").glob("*/ask-*"))
    assert asked == ["ask-1-diagnosis", "ask-2-diagnosis"]
    told = (project.state / "attempts/7/2/ask-2-diagnosis/prompt.md").read_text()
    said = told.split("## What was said before\n")[1]
    assert "A diagnosis, after attempt 1 (alternative_approach), which did not help: attempt 2 failed with" in said
    assert "Make strange.sh executable." in said
    assert "The same advice is not followed again" in told


def test_a_diagnosis_and_a_resolver_are_followed_to_the_letter(project):
    gate = "test ! -e bad || { echo strange; exit 3; }"
    project.config(ROLES.format(script=project.script, roles='diagnoser = "wise"\nresolver = "wise"'), gate=gate)
    again = {"cause": "a port was in use", "recoverable": "yes", "strategy": "retry_same", "delay_s": 0.2}
    stronger = {"cause": "it is hard", "recoverable": "yes", "strategy": "escalate", "explanation": "more thought"}
    contract = {"status": "blocked", "blocked_reason": "contract_change", "summary": "the test expects 4"}
    guidance = {"resolution": "redesign", "guidance": "4 is right: round down, code 4711"}
    good = [{"shell": "rm -f bad"}, {"shell": "echo $NOFACE_ISSUE_ID > $NOFACE_ISSUE_ID.txt"}]
    project.play(
        ("1", 1, [{"write": "bad", "text": "1"}]),
        ("2", 1, [{"write": "bad", "text": "2"}]),
        ("3", 1, says(contract)),
        ("1", 1, says(again), "diagnosis"),
        ("2", 1, says(stronger), "diagnosis"),
        ("3", 1, says(guidance), "boundary"),
        ("*", 2, good),
    )
    for number in (1, 2, 3):
        project.issue(number)
    project.commit()
    project.run()
    # The same again, for nothing: it was not the work.
    first, second = project.attempts("1")
    assert (first["action"]["kind"], first["charged"], second["model"]) == ("RetrySame", False, "small")
    # A stronger model.
    first, second = project.attempts("2")
    assert (first["action"]["kind"], first["charged"], second["model"]) == ("Escalate", True, "big")
    # The resolver before a person.
    assert kinds(project, "3") == ["RetryWithFeedback", "Land"]
    assert "code 4711" in project.prompt("3", 2)


def test_a_reviewer_s_points_reach_the_worker_and_its_approval_lets_it_land(project):
    roles(project, "reviewer", extra='[review]\nwhen = "always"\n')
    changes = {
        "verdict": "request_changes",
        "summary": "not yet",
        "points": [{"file": "b.txt", "line": 1, "problem": "must say please, code 99"}],
    }
    project.play(
        (
            "7",
            1,
            [
                {"write": "b.txt", "text": "b"},
                *says({"status": "done", "unverified": ["real mail"], "risks": ["slow"]}),
            ],
        ),
        ("7", 1, says(changes), "review"),
        ("7", 2, [{"write": "b.txt", "text": "please b"}]),
        ("7", 2, says({"verdict": "approve", "summary": "fine"}), "review"),
    )
    project.issue(7)
    project.commit()
    project.run()
    first, second = project.attempts("7")
    assert (first["outcome"], first["charged"]) == ("REVIEW_REJECTED", False)
    assert second["outcome"] == "PASSED"
    assert "code 99" in project.prompt("7", 2)
    (asked,) = (project.state / "attempts/7/1").glob("ask-*/prompt.md")
    assert "Not verified: real mail\nMay be wrong: slow" in asked.read_text()
    assert (project.path / "b.txt").read_text() == "please b"


@pytest.mark.thorough
def test_each_open_point_of_all_reviews_reaches_the_worker_once_and_its_arguments_the_reviewer(project):
    extra = '[review]\nwhen = "always"\n' + ROLES.format(script=project.script, roles='reviewer = "wise"')
    project.config(extra, gate="test ! -e bad")

    def asks(*problems, **more):
        points = [{"problem": problem} for problem in problems]
        return says({"verdict": "request_changes", "summary": "not yet", "points": points, **more})

    argues = {"status": "done", "summary": "the second stays as it is: reason-4711"}
    project.play(
        ("7", 1, [{"write": "b.txt", "text": "b"}]),
        ("7", 1, asks("point-one", "point-two"), "review"),
        ("7", 2, [{"write": "bad", "text": "x"}, *says(argues)]),
        ("7", 3, [{"write": "b.txt", "text": "bb"}]),
        ("7", 3, asks("point-three", settled=[2]), "review"),
        ("7", 4, [{"write": "b.txt", "text": "bbb"}]),
        ("7", 4, says({"verdict": "approve", "summary": "fine"}), "review"),
    )
    project.issue(7)
    project.commit()
    project.run()
    told = [[project.prompt("7", n).count(f"point-{point}") for point in ("one", "two", "three")] for n in (2, 3, 4)]
    assert told == [[1, 1, 0], [1, 1, 0], [1, 0, 1]]
    second = (project.state / "attempts/7/3/ask-2-review/prompt.md").read_text()
    assert "1. `point-one`" in second
    assert "2. `point-two`" in second
    assert "reason-4711" in second


def test_a_reviewer_who_answers_in_prose_approves_nothing(project):
    roles(project, "reviewer", extra='[review]\nwhen = "always"\n')
    project.play(("7", 0, [{"write": "b.txt", "text": "b"}]), ("7", 0, [{"say": "APPROVED, looks great!"}], "review"))
    project.issue(7)
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"7": "approval"}
    assert not (project.path / "b.txt").exists()


# Breaking down


def test_repeated_timeouts_break_an_issue_down_and_its_parts_close_it(project):
    plan = {
        "children": [
            {"key": "one", "title": "Write one", "body": "one.txt", "paths": ["one.txt"], "covers": [0]},
            {"key": "two", "title": "Write two", "body": "two.txt", "paths": ["two.txt"], "depends_on": ["one"]},
        ]
    }
    roles(project, "planner")
    project.play(
        ("7", 0, [{"say": json.dumps({"status": "partial", "summary": "too much"})}]),
        ("7", 0, says(plan), "breakdown"),
        ("7.1", 0, [{"write": "one.txt", "text": "1"}]),
        ("7.2", 0, [{"write": "two.txt", "text": "2"}]),
    )
    strategies = '[retry.strategies]\nRESOURCE_EXHAUSTED = "breakdown"\n'
    project.config(strategies + ROLES.format(script=project.script, roles='planner = "wise"'))
    project.issue(7, "Write both", accept=["test -e one.txt && test -e two.txt"])
    project.commit()
    project.run()
    assert project.statuses() == {"7": "merged", "7.1": "merged", "7.2": "merged"}
    subjects = project.git("log", "--first-parent", "--format=%s", "-2", "main").splitlines()
    assert subjects == ["Write two", "Write one"]


@pytest.mark.thorough
def test_without_a_planner_an_issue_is_divided_by_the_files_of_its_diff(project):
    strategies = '[retry.strategies]\nTEST_FAILURE = "breakdown"\n'
    project.config(strategies, gate="! grep -qs bad x/c.txt || { echo FAIL: got bad, want good; exit 1; }")
    project.write("y/old.txt", "old")
    beside = [
        {"delete": "y/old.txt"},
        {"write": "y/uv.lock", "text": "version = 1"},
        {"shell": "printf 'a\\0b' > y/core"},
    ]
    project.play(
        ("7", 0, [{"write": "x/c.txt", "text": "bad"}, {"write": "y/d.txt", "text": "d"}, *beside]),
        ("7.1", 0, [{"write": "x/c.txt", "text": "c"}]),
        ("7.2", 0, [{"write": "y/d.txt", "text": "d"}]),
    )
    project.issue(7, paths=["x", "y"])
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"7": "approval", "7.1": "merged", "7.2": "merged"}  # is that all that was wanted?
    assert len(project.attempts("7")) == 1
    for path in ("y/core", "y/d.txt", "y/old.txt", "y/uv.lock"):  # what has no work by itself goes with what has
        assert f"- `{path}`" in project.prompt(slug("7.2"), 1)


def test_an_issue_and_all_its_parts_take_three_times_its_cap_of_worker_runs_and_then_a_person_is_asked(project):
    """The bound takes nothing from honest parts: what lands at its first run has room for as many as are allowed."""
    strategies = '[retry.strategies]\nTEST_FAILURE = "breakdown"\n'
    project.config(strategies, gate="! grep -qsr bad x || { echo FAIL: got bad, want good; exit 1; }")
    bad = [{"shell": "mkdir -p x; for n in a b c d; do echo bad $NOFACE_ATTEMPT >> x/$n.txt; done"}]
    project.play(("*", 0, bad))
    project.issue(7, max_attempts=2)
    project.commit()
    out = project.run(code=3)
    assert sum(len(project.attempts(name)) for name in project.statuses()) == 6, out
    assert project.statuses()["7"] == "blocked"
    assert "took 6 worker runs, of at most 6" in " ".join(project.noface("blocked").stdout.split())
    assert project.noface("retry", "7").returncode == 0
    project.run(code=3)
    assert len(project.attempts("7")) == 2, "who is asked may have it tried again"


# Approval


def test_a_change_of_named_paths_waits_for_a_person_and_lands_when_approved(project):
    project.config('[approval]\npaths = ["b.*"]\n')
    project.issue(7)
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"7": "approval"}
    assert not (project.path / "b.txt").exists()
    assert project.noface("approve", "7").returncode == 0
    project.run()
    assert project.statuses() == {"7": "merged"}
    assert len(project.attempts("7")) == 1


# Dependencies the work turned out to have


def test_a_worker_that_needs_another_issue_waits_for_it_and_is_not_charged(project):
    needs = {"status": "blocked", "blocked_reason": "dependency_issue", "summary": "needs 8", "needs": ["8"]}
    project.play(
        ("7", 1, says(needs)),
        ("7", 2, [{"replace": "eight.txt", "old": "8", "new": "seven"}]),
        ("8", 0, [{"write": "eight.txt", "text": "8"}]),
    )
    project.issue(7, priority=0)
    project.issue(8)
    project.commit()
    project.run()
    assert project.statuses() == {"7": "merged", "8": "merged"}
    first, second = project.attempts("7")
    assert (first["charged"], second["charged"]) == (False, True)
    assert (project.path / "eight.txt").read_text() == "seven"
    landed = project.shown("show", "8")["merged_commit"]
    assert f"Issue 8, which you needed, has landed as {landed[:12]}: " in section(
        project.prompt("7", 2), "This attempt"
    )


# Providers that are away


def test_another_model_of_the_same_tier_works_while_one_waits(project):
    busy = f'\n[models.twin]\nagent = "scripted"\ncommand = "{project.script}"\ntier = 1\n'
    project.config(busy + '[retry.strategies]\nOVERLOADED = "switch"\n')
    project.play(("7", 1, [{"exit": 75}]), ("7", 2, [{"write": "b.txt", "text": "b"}]))
    text = (project.path / "noface.toml").read_text().replace('agent = "scripted"\n', 'agent = "scripted"\n')
    small = text.replace(
        f'[models.small]\nagent = "scripted"\ncommand = "{project.script}"',
        '[models.small]\nagent = "command"\ncommand = "exit 75"',
    )
    project.write("noface.toml", small)
    project.issue(7)
    project.commit()
    project.run()
    first, second = project.attempts("7")
    assert (first["outcome"], first["charged"], first["action"]["kind"]) == ("OVERLOADED", False, "SwitchModel")
    assert (second["model"], second["outcome"]) == ("twin", "PASSED")


# Learning


@pytest.mark.thorough
def test_a_cure_of_an_unknown_failure_is_used_in_any_issue_without_asking(project):
    """7 is diagnosed and passes; 8 fails alike and gets that cure; 9 is not helped by it, and then asks."""
    gate = "for bad in bad-*; do test ! -e $bad || { cat $bad; exit 3; }; done"
    project.config(ROLES.format(script=project.script, roles='diagnoser = "wise"'), gate=gate)
    advice = {"cause": "a stale lock", "recoverable": "yes", "strategy": "alternative_approach"}
    project.play(
        ("7", 1, says({**advice, "alternative": "Empty the lock first, code 4711."}), "diagnosis"),
        ("9", 2, says({**advice, "alternative": "Take another lock, code 0016."}), "diagnosis"),
        *((issue, 1, [{"write": f"bad-{issue}", "text": "strange"}]) for issue in ("7", "8", "9")),
        ("9", 2, [{"write": "two", "text": "2"}]),
        ("*", 0, [{"shell": "rm -f bad-*; echo $NOFACE_ISSUE_ID > $NOFACE_ISSUE_ID.txt"}]),
    )
    project.issue(7)
    project.issue(8, depends_on=["7"])
    project.issue(9, depends_on=["8"])
    project.commit()
    project.run()
    assert [len(project.attempts(issue)) for issue in ("7", "8", "9")] == [2, 2, 3]
    asked = sorted(str(path.relative_to(project.state)) for path in project.state.glob("attempts/*/*/ask-*"))
    assert asked == ["attempts/7/1/ask-1-diagnosis", "attempts/9/2/ask-2-diagnosis"]
    for issue in ("8", "9"):
        told = project.prompt(issue, 2).split("The diagnosis with which the same failure was mended before:")[1]
        assert told.index("code 4711") < told.index("strange")
    assert "code 0016" in project.prompt("9", 3)
    (lesson,) = project.shown("config", "hints", "lessons")["lessons"]
    assert (lesson["cause"], lesson["strategy"]) == ("a stale lock", "alternative_approach")
    assert (lesson["hits"], lesson["successes"], lesson["learned"], lesson["dropped"]) == (2, 1, 2, False)


@pytest.mark.thorough
def test_a_reflection_is_asked_for_and_reaches_the_next_prompt(project):
    project.config(gate="test ! -e bad || { echo FAIL: got bad, want good; exit 1; }")
    text = (project.path / "noface.toml").read_text()
    project.write("noface.toml", text.replace("[retry]\n", "[retry]\nreflect = true\n"))
    project.play(
        ("7", 1, [{"write": "bad", "text": "x"}]),
        ("7", 1, says({"why": "I left bad behind, code 31", "plan": "remove it"}), "reflection"),
        ("7", 2, [{"delete": "bad"}, {"write": "b.txt", "text": "b"}]),
    )
    project.issue(7)
    project.commit()
    project.run()
    assert "code 31" in project.prompt("7", 2)
    assert project.statuses() == {"7": "merged"}


@pytest.mark.thorough
def test_wider_paths_that_a_person_approved_have_other_issues_verified_again(project):
    wider = {"resolution": "expand", "paths": ["eight.txt"], "guidance": "needed", "recheck": ["8"]}
    roles(project, "resolver")
    project.play(
        ("8", 0, [{"write": "eight.txt", "text": "8"}]),
        ("7", 1, [{"write": "seven.txt", "text": "7"}, {"write": "eight.txt", "text": "broken"}]),
        ("7", 0, says(wider), "boundary"),
        ("7", 2, [{"write": "seven.txt", "text": "7"}, {"write": "eight.txt", "text": "broken"}]),
        ("7", 3, [{"write": "eight.txt", "text": "8 and 7"}, {"write": "seven.txt", "text": "7"}]),
    )
    project.issue(8, priority=0, accept=["grep -q 8 eight.txt"])
    project.issue(7, paths=["seven.txt"], depends_on=["8"])
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"7": "approval", "8": "merged"}
    assert project.noface("approve", "7").returncode == 0
    project.run()
    second, third = project.attempts("7")[1:]
    assert second["failure"]["gate"] == "recheck-1"
    assert "A person approved" not in project.prompt("7", 3)
    assert third["outcome"] == "PASSED"
    assert (project.path / "eight.txt").read_text() == "8 and 7"


def test_what_each_step_left_is_kept_in_the_form_asked_for(project):
    project.config('[recovery]\naccumulation_format = "full_output"\n', gate="echo the gate speaks; test ! -e bad")
    project.play(("7", 1, [{"write": "bad", "text": "x"}]), ("7", 2, [{"delete": "bad"}, {"write": "c", "text": "c"}]))
    project.issue(7)
    project.commit()
    project.run()
    partial = project.attempts("7")[0]["partial"]
    assert partial["accumulation_format"] == "full_output"
    assert partial["total_steps"] == len(partial["partial_results"])
    failed = partial["partial_results"][partial["failed_step"]]
    assert failed["name"].endswith("check")
    assert "content" in failed
    told = project.attempts("7")[0]["task_failure"]
    assert (told["type"], told["details"]["failed_step"]) == ("TASK_FAILURE", partial["failed_step"])
    assert told["details"]["metrics"]["seconds"] > 0


@pytest.mark.thorough
def test_a_worker_that_repeats_itself_is_told_that_the_same_will_not_do(project):
    gate = " && ".join(f"if test -e {name}; then echo '{name}.c:1:1: error: no {name}'; false; fi" for name in "xy")
    project.config(gate=gate)
    one, other = [{"shell": "rm -f y; touch x"}], [{"shell": "rm -f x; touch y"}]
    turns = [("8", number, one if number % 2 else other) for number in range(1, 6)]
    project.play(("7", 0, [{"say": "all is well"}]), *turns)
    project.issue(7)
    project.issue(8)
    project.commit()
    project.run(code=3)
    assert not [n for n in (2, 3) if "made the same change" in project.prompt("7", n)]  # it made none
    # Two failures in turn are no progress either.
    assert "no progress, the same two in turn" in project.attempts("8")[3]["action"]["reason"]
    assert "round in a circle" not in project.prompt("8", 4)
    assert "round in a circle" in project.prompt("8", 5)


@pytest.mark.thorough
def test_work_that_takes_back_all_that_was_left_lands_nothing(project):
    project.config(gate="grep -q one a.txt")
    project.play(("7", 1, [{"write": "a.txt", "text": "two\n"}]), ("7", 0, [{"write": "a.txt", "text": "one\n"}]))
    project.issue(7)
    project.commit()
    before = project.git("rev-parse", "main")
    project.run(code=3)
    attempts = project.attempts("7")
    assert [attempt["outcome"] for attempt in attempts[:2]] == ["RUNTIME_ERROR", "NO_DIFF"]
    assert "what main has" in attempts[1]["failure"]["message"]
    assert project.git("rev-parse", "main") == before


@pytest.mark.thorough
def test_earlier_work_that_is_left_alone_is_examined_before_the_gates_decide(project):
    project.play(
        ("7", 1, [{"write": "elsewhere.txt", "text": "x"}, {"exit": 3}]), ("7", 0, [{"say": "it is all there"}])
    )
    project.issue(7, paths=["b.txt"])
    project.commit()
    project.run(code=3)
    assert [attempt["outcome"] for attempt in project.attempts("7")][:2] == ["AGENT_CRASH", "BOUNDARY_VIOLATION"]
    assert not (project.path / "elsewhere.txt").exists()
