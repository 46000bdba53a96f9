"""`noface pause` from another terminal: nothing more starts, what is under way lands, and `noface resume` goes on."""

import time


def test_a_paused_run_starts_nothing_more_lands_what_is_under_way_and_goes_on(project):
    project.issue(1)
    project.issue(2)
    project.play(*((n, 0, [{"write": f"{n}.txt", "text": "b"}, {"sleep": 1}]) for n in "12"))
    run = project.start("run")
    while project.statuses().get("1") != "running":
        time.sleep(0.05)
    assert "starts nothing more" in project.noface("pause").stdout
    while project.statuses()["1"] != "merged":
        time.sleep(0.05)
    time.sleep(1.0)  # more than a tick: it would have started
    assert project.statuses()["2"] == "ready"
    assert "paused since" in project.noface("status").stdout
    assert project.noface("resume").returncode == 0
    while project.statuses()["2"] != "running":
        time.sleep(0.05)
    assert project.noface("pause").returncode == 0
    while project.statuses()["2"] != "merged":
        time.sleep(0.05)
    time.sleep(1.2)  # several looks, with nothing left to start
    assert project.noface("resume").returncode == 0
    told, _ = run.communicate(timeout=60)
    assert told.count("paused: nothing more starts; `noface resume` goes on") == 2
    assert told.count("resumed: it goes on") == 2
    assert told.count("everything waits: it is paused; `noface resume` goes on") == 1, "not at each look"
    assert project.statuses()["2"] == "merged"


def test_without_a_run_there_is_nothing_to_pause(project):
    done = project.noface("pause")
    assert done.returncode != 0
    assert "no run is at work here" in done.stderr
