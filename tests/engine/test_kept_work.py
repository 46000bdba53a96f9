"""What was red may be green now: kept work is gated again once main has moved, for nothing."""

GATE = "test -e a.txt && sh check.sh"
CHECK = 'test ! -e one.txt || test -e two.txt || { echo "one.txt needs two.txt"; exit 1; }\n'


def test_a_blocked_issue_s_work_is_gated_again_and_lands_once_what_it_lacked_has(project):
    project.config(gate=GATE, workers=1)
    project.write("check.sh", CHECK)
    project.play(("1", 0, [{"write": "one.txt", "text": "1"}]), ("2", 0, [{"write": "two.txt", "text": "2"}]))
    project.issue(1, max_attempts=1)
    project.issue(2)
    project.commit()
    out = project.run()
    assert project.statuses() == {"1": "merged", "2": "merged"}
    assert "what it lacked has landed" in out
    lacked, again = project.attempts("1")
    assert (lacked["outcome"], lacked["charged"]) == ("BASELINE_RED", False)
    assert (again["outcome"], again["cost_usd"]) == ("PASSED", 0.0)
