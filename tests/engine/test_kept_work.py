"""What was red may be green now: kept work is gated again once main has moved, for nothing."""

import pytest

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
