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
    switched = f"while test -e {project.path}/issues/2-x.md; do sleep 0.05; done"
    project.git("branch", "old")
    for number in (1, 2):
        project.issue(number)
    project.play(
        ("1", 0, [{"write": "b.txt", "text": "b"}, {"shell": switched}]), ("2", 0, [{"write": "c.txt", "text": "c"}])
    )
    project.commit()
    running = project.start("run")
    project.in_slots("b.txt")
    project.git("switch", "-q", "old")
    out, _ = running.communicate(timeout=120)
    assert running.returncode == 3, out
    assert "issues went away while it ran: 2" in out


def test_work_on_a_text_that_was_edited_meanwhile_does_not_land_before_the_new_text_was_read(project):
    project.config(gate="test -e a.txt", workers=2)
    go = project.folder / "go"
    waits = {"shell": f"until test -e {go}; do sleep 0.02; done"}
    fancy = {"shell": "grep -q FANCY $NOFACE_PROMPT_FILE && echo fancy >> b.txt"}
    project.play(
        ("1", 1, [{"write": "b.txt", "text": "plain\n"}, waits]),
        ("1", 0, [fancy]),
        ("2", 1, [{"write": "c.txt", "text": "c\n"}, waits]),  # the next worker finds all of it done
    )
    issues = [project.issue(number) for number in (1, 2)]
    project.commit()
    running = project.start("run")
    project.in_slots("b.txt"), project.in_slots("c.txt")
    issues[0].write_text(issues[0].read_text() + "\nMake it FANCY.\n")
    issues[1].write_text(issues[1].read_text() + "\nPlease.\n")
    go.touch()
    out, _ = running.communicate(timeout=120)
    assert running.returncode == 0, out
    assert (project.git("show", "main:b.txt"), project.git("show", "main:c.txt")) == ("plain\nfancy", "c")
    assert "its text was edited while the worker was at it" in out
    assert [(a["outcome"], a["charged"]) for a in project.attempts("1")] == [
        ("REVIEW_REJECTED", False),
        ("PASSED", True),
    ]
