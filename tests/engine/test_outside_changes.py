"""Main fails its own gates while a run is on: it is waited for, and finished work is judged then."""

from support.processes import wait_for

KILLED = -9


def not_patient(project):
    """Have a run wait for nothing outside it."""
    text = (project.path / "noface.toml").read_text()
    project.write("noface.toml", text.replace("[retry]\n", '[retry]\noutage_max = "1s"\n'))


def a_red_main(project, *plays):
    """Break main while the worker of issue 1 is at it; return the run, and the file that counts the worker's calls."""
    calls = project.folder / "calls"
    done = '{"status": "done", "summary": "wrote one.txt", "confidence": 0.9}'
    told = [{"shell": f"echo call >> {calls}"}, {"say": f"```json\n{done}\n```"}]
    project.play(
        ("1", 0, [{"write": "one.txt", "text": "1"}, {"sleep": 2}, *told]),
        ("2", 0, [{"write": "two.txt", "text": "2"}]),
    )
    project.issue(1)
    project.issue(2)
    project.commit()
    running = project.start("run")
    project.in_slots("one.txt")
    project.write("bad", "x\n")
    project.commit("red")
    return running, calls


def mend(project):
    project.git("rm", "-q", "bad")
    project.commit("green again")


def test_a_main_that_is_red_for_a_while_is_waited_for_and_finished_work_is_judged_then(project):
    running, calls = a_red_main(project)
    wait_for(lambda: project.statuses() == {"1": "waiting", "2": "waiting"})
    assert project.attempts("2") == []  # no worker is paid for what could not be proven
    (attempt,) = project.attempts("1")
    assert (attempt["outcome"], attempt["charged"]) == ("BASELINE_RED", False)
    mend(project)
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 0, out
    assert project.statuses() == {"1": "merged", "2": "merged"}
    assert calls.read_text() == "call\n"
