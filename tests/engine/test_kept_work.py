"""What was red may be green now: kept work is gated again once main has moved, for nothing."""

import pytest
from support.processes import wait_for

GATE = "test -e a.txt && sh check.sh"
CHECK = 'test ! -e one.txt || test -e two.txt || { echo "one.txt needs two.txt"; exit 1; }\n'


def needing(project, workers, *plays):
    """Issue 1 needs what issue 2 brings, and nobody has said so; count the calls for issue 1."""
    calls = project.folder / "calls"
    project.config(gate=GATE, workers=workers)
    project.write("check.sh", CHECK)
    one = [{"write": "one.txt", "text": "1"}, {"shell": f"echo call >> {calls}"}]
    project.play(*(plays or (("1", 0, one), ("2", 0, [{"write": "two.txt", "text": "2"}, {"sleep": 3}]))))
    project.issue(1)
    project.issue(2)
    project.commit()
    return calls


@pytest.mark.thorough
def test_work_that_lacked_another_issues_lands_once_that_has_without_a_call(project):
    calls = needing(project, 1)
    out = project.run()
    assert project.statuses() == {"1": "merged", "2": "merged"}
    assert "what it lacked has landed" in out
    last = project.attempts("1")[-1]
    assert (last["outcome"], last["cost_usd"]) == ("PASSED", 0.0)
    lacked = project.attempts("1")[-2]
    assert (lacked["outcome"], lacked["charged"]) == ("BASELINE_RED", False)
    assert calls.read_text().count("call") == len(project.attempts("1")) - 1


def test_a_blocked_issue_s_work_is_gated_again_and_lands_once_what_it_lacked_has(project):
    needing(project, 1, ("1", 0, [{"write": "one.txt", "text": "1"}]), ("2", 0, [{"write": "two.txt", "text": "2"}]))
    project.issue(1, max_attempts=1)
    project.commit()
    out = project.run()
    assert project.statuses() == {"1": "merged", "2": "merged"}
    assert "what it lacked has landed" in out
    lacked, again = project.attempts("1")
    assert (lacked["outcome"], lacked["charged"]) == ("BASELINE_RED", False)
    assert (again["outcome"], again["cost_usd"]) == ("PASSED", 0.0)


@pytest.mark.thorough
def test_a_blocked_issue_is_looked_at_in_the_next_run_and_what_fails_today_is_told(project):
    needing(project, 1, ("1", 0, [{"write": "one.txt", "text": "1"}]), ("2", 0, [{"shell": "true"}]))
    project.run(code=3)
    assert project.statuses() == {"1": "blocked", "2": "blocked"}
    project.write("two.txt", "by hand")
    project.commit("what was lacking")
    project.run(code=3)
    assert project.statuses() == {"1": "merged", "2": "blocked"}


@pytest.mark.thorough
def test_a_failure_that_is_another_one_on_todays_main_is_what_the_worker_reads(project):
    needing(
        project,
        1,
        ("1", 1, [{"write": "one.txt", "text": "1"}, {"sleep": 2}]),
        ("1", 2, [{"write": "two.txt", "text": "2"}]),
    )
    project.issue(2, depends_on=["1"])
    project.commit()
    running = project.start("run")
    project.in_slots("one.txt")
    wait_for(lambda: len(project.attempts("1")) > 0)
    project.write("check.sh", CHECK.replace("needs two.txt", "has no two.txt beside it"))
    project.commit("said otherwise")
    out, _ = running.communicate(timeout=90)
    assert "one.txt" in project.prompt("1", 2), out
