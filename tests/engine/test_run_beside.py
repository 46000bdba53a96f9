"""A person goes on with their repository while noface works in it; neither loses anything (laws 2, 3)."""


def test_a_person_stashes_switches_rewrites_main_and_prunes_while_a_worker_works(project):
    go = project.folder / "go"
    waits = {"shell": f"until test -e {go}; do sleep 0.02; done"}
    project.play(("7", 0, [{"write": "begun", "text": "x"}, waits, {"write": "b.txt", "text": "done\n"}]))
    project.issue(7)
    project.commit()
    process = project.start("run")
    project.in_slots("begun")
    project.write("a.txt", "mine\n")
    project.git("stash")
    project.git("switch", "-q", "-c", "other")
    project.git("switch", "-q", "main")
    project.write("theirs.txt", "person\n")
    project.git("add", "theirs.txt")
    project.git("commit", "-q", "--amend", "-m", "rewritten")
    rewritten = project.git("rev-parse", "main")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "--quiet", "--prune=now")
    go.touch()
    assert process.wait() == 0
    assert project.git("rev-parse", "main^1") == rewritten
    assert (project.git("show", "main:theirs.txt"), project.git("show", "main:b.txt")) == ("person", "done")
    assert project.git("status", "--porcelain") == ""
    project.git("stash", "pop")
    assert (project.path / "a.txt").read_text() == "mine\n"


def test_issues_that_go_away_with_a_switched_branch_are_named_and_not_called_done(project):
    project.git("branch", "old")
    for number in (1, 2):
        project.issue(number)
    project.play(("1", 0, [{"write": "b.txt", "text": "b"}, {"sleep": 2}]), ("2", 0, [{"write": "c.txt", "text": "c"}]))
    project.commit()
    running = project.start("run")
    project.in_slots("b.txt")
    project.git("switch", "-q", "old")
    out, _ = running.communicate(timeout=120)
    assert running.returncode == 3, out
    assert "issues went away while it ran: 2" in out
