"""The way of an issue, told from outside: real git, real processes, a scripted worker."""

import json
import re

import pytest
from support.cases import first_ones

RESULT = json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "b"})


def test_a_change_that_passes_is_merged_as_one_commit_with_trailers(project):
    project.issue(7, "Add b")
    project.commit()
    project.run()
    assert (project.path / "b.txt").read_text() == "done\n"
    assert project.git("status", "--porcelain") == ""
    message = project.git("log", "-1", "--first-parent", "--format=%B", "main")
    assert message.splitlines() == ["Add b", "", "Noface-Issue: 7", "Noface-Attempt: 1"]
    outcome = project.git("log", "-1", "--format=%(trailers:key=Noface-Outcome,valueonly)", "main^2")
    assert outcome == "PASSED"
    assert project.statuses() == {"7": "merged"}


def test_a_red_gate_keeps_the_change_out_and_the_next_prompt_says_why(project):
    bad = [{"write": "bad", "text": "x"}, {"write": "c.txt", "text": "c"}]
    project.play(("7", 1, bad), ("7", 2, [{"delete": "bad"}]))
    project.config(gate="test ! -e bad || { echo FAIL: got bad, want good; exit 1; }")
    project.issue(7)
    project.commit()
    project.run()
    first, second = project.attempts("7")
    assert first["outcome"] == "TEST_FAILURE"
    assert first["action"]["kind"] == "RetryWithFeedback"
    assert second["outcome"] == "PASSED"
    prompt = project.prompt("7", 2)
    assert "Your previous attempt failed with: TEST_FAILURE" in prompt
    assert "FAIL: got bad, want good" in prompt
    assert "+c" in prompt  # the diff of the attempt it starts from
    assert project.git("ls-tree", "--name-only", "main").split() == ["a.txt", "c.txt", "issues", "noface.toml"]


def test_unblocking_puts_the_note_into_the_next_prompt_and_starts_the_counters_again_as_an_edit_does(project):
    project.play(("*", 0, [{"say": "?"}]))
    project.issue(7, max_attempts=2)
    project.issue(8, max_attempts=1)
    project.commit()
    project.run(code=3)
    assert project.noface("retry", "7", "--note", "write b.txt, please").returncode == 0
    project.issue(8, body="Write c.txt. That is all.", max_attempts=1)
    project.play(("7", 0, [{"write": "b.txt", "text": "b"}]), ("8", 0, [{"write": "c.txt", "text": "c"}]))
    project.run()
    assert project.statuses() == {"7": "merged", "8": "merged"}
    last = project.attempts("7")[-1]
    assert (last["number"], last["outcome"]) == (3, "PASSED")
    assert "write b.txt, please" in project.prompt("7", 3)
    assert [issue["attempts"] for issue in project.shown("status")["issues"]] == [1, 1]


def test_what_depends_on_a_blocked_issue_waits_and_the_rest_goes_on(project):
    project.play(("1", 0, [{"say": "?"}]), ("3", 0, [{"write": "three", "text": "3"}]))
    project.issue(1)
    project.issue(2, depends_on=["1"])
    project.issue(3)
    project.commit()
    out = project.run(code=3)
    assert project.statuses() == {"1": "blocked", "2": "waiting", "3": "merged"}
    assert [re.sub(r"^\d\d:\d\d:\d\d ", "", line) for line in out.splitlines() if " 1 attempt" in line] == [
        "▶ 1 attempt 1 with small: Issue 1",
        "✗ 1 attempt 1 changed nothing: its last words: ?",
        "▶ 1 attempt 2 with small, told what went wrong: Issue 1",
        "✗ 1 attempt 2 changed nothing: its last words: ?",
        "▶ 1 attempt 3 with big, the next model: Issue 1",
        "✗ 1 attempt 3 changed nothing: its last words: ?",
        "▶ 1 attempt 4 with big, thinking longer: Issue 1",
        "✗ 1 attempt 4 changed nothing: its last words: ?",
    ]
    ending = out[out.index("Finished") :].splitlines()[1:]
    assert ending == [
        "Landed",
        "  ✔ 3 Issue 3",
        "Blocked",
        "  ■ 1 Issue 1: 3 recovery strategies have failed: Escalate, RetryWithFeedback, ThinkLonger",
        "      the worker changed nothing; its last words: ?",
        "Waits",
        "  … 2 Issue 2: waits for 1 to be merged; 1 is blocked",
        "The backlog: 1 blocked, 1 waiting, 1 merged.",
        "Next: noface blocked",
    ]
    attempts = project.attempts("1")
    assert [a["model"] for a in attempts] == ["small", "small", "big", "big"]
    assert {a["outcome"] for a in attempts} == {"NO_DIFF"}
    assert "Your previous attempt changed nothing. If nothing has to change, report status" in project.prompt("1", 2)
    (blocked,) = project.shown("blocked")["blocked"]
    assert (blocked["id"], len(blocked["tried"])) == ("1", 4)
    assert blocked["next_steps"]
    assert any("noface retry 1" in command for command in blocked["commands"])


def test_a_run_tells_that_it_goes_on_beside_what_is_blocked_and_asks_a_person_once_nothing_is_left(project):
    project.play(("1", 0, [{"say": "?"}]), *((n, 0, [{"write": n, "text": n}]) for n in "34"))
    project.issue(1, priority=0, max_attempts=1)
    project.issue(2, depends_on=["1"])
    project.issue(3)
    project.issue(4, depends_on=["3"])
    project.commit()
    events = [json.loads(line) for line in project.run("--json", code=3).splitlines()]
    kinds = [event["event"] for event in events]
    (going,), (asks,) = ([e for e in events if e["event"] == kind] for kind in ("continuing", "approval_requested"))
    assert (going["issue"], going["independent"]) == ("1", ["3", "4"])
    assert going["message"] == "blocked; continuing with 2 independent issues"
    assert kinds.index("continuing") < kinds.index("issue_merged") < kinds.index("approval_requested")
    assert (asks["issue"], asks["reason"]) == (
        "1", "blocked: its only attempt is used up; no independent work remains",
    )  # fmt: skip
    assert "What should be different when issue 1 is done?" in asks["question"]
    assert len(asks["attempts"]) == 1
    assert "NO_DIFF" in asks["attempts"][0]


def test_an_issue_whose_accept_passes_already_is_skipped_without_a_worker(project):
    project.issue(7, accept=["test -e a.txt"])
    project.commit()
    out = project.run(code=3)
    assert project.statuses() == {"7": "skipped"}
    assert project.attempts("7") == []
    assert "nobody worked on 7, since main passes what is in `accept`" in out
    assert "All done" not in project.run()


def test_what_a_person_leaves_undone_needs_nobody_any_more(project):
    project.play(("7", 1, [{"write": "bad", "text": "x"}]))
    project.issue(7, max_attempts=1)
    project.commit()
    project.run(code=3)
    assert project.noface("skip", "7").returncode == 0
    assert "All done" in project.run()


def test_accept_must_be_green_too_and_its_file_is_protected(project):
    project.write("checks/b.sh", "test -e b.txt\n")
    project.issue(7, accept=["bash checks/b.sh"])
    project.commit()
    project.play(
        ("7", 1, [{"write": "checks/b.sh", "text": "true\n"}, {"write": "c.txt", "text": "c"}]),
        ("7", 2, [{"write": "b.txt", "text": "b"}]),
    )
    project.run()
    first, second = project.attempts("7")
    assert first["failure"]["gate"] == "accept"
    assert any("checks/b.sh" in note for note in first["notes"])
    assert second["outcome"] == "PASSED"
    assert (project.path / "checks/b.sh").read_text() == "test -e b.txt\n"


def test_changes_outside_the_issues_paths_are_a_boundary_violation(project):
    project.issue(7, paths=["src/**"])
    project.commit()
    project.run(code=3)
    assert {a["outcome"] for a in project.attempts("7")} == {"BOUNDARY_VIOLATION"}
    assert len(project.attempts("7")) == 2  # told once


def test_a_worker_that_goes_quiet_is_ended_and_leaves_no_process(project):
    project.config(
        extra='\n[models.quiet]\nagent = "command"\ncommand = "sleep 1000 & echo hi; sleep 1000"\nidle_timeout = "1s"\n'
    )
    project.issue(7, model="quiet", max_attempts=1)
    project.commit()
    project.run(code=3)
    (attempt,) = project.attempts("7")
    assert attempt["outcome"] == "TIMEOUT"
    assert project.processes() == []


def test_an_agent_without_any_answer_runs_once_more_for_nothing_and_is_no_outage(project):
    silent = project.folder / "claude"
    silent.write_text("#!/bin/sh\nexec sleep 1000\n")
    silent.chmod(0o755)
    project.config(extra=f'\n[models.silent]\nagent = "claude"\ncommand = "{silent}"\nidle_timeout = "1s"\n')
    project.issue(7, model="silent", max_attempts=1)
    project.commit()
    project.run(code=3)
    told = [(each["outcome"], each["charged"]) for each in project.attempts("7")]
    assert told == [("TIMEOUT", False), ("TIMEOUT", True)]


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("command", 'echo 1 > b.txt; echo \'{"status": "done", "summary": "b"}\''),
        pytest.param("claude", f"echo 1 > b.txt; echo '{RESULT}'", marks=pytest.mark.thorough),  # its grace is 10 s
    ],
)
def test_a_program_that_has_said_its_last_word_and_stays_has_ended_well(project, program, command):
    stays = project.folder / "stays"
    stays.write_text(f"#!/bin/sh\n{command}\nexec sleep 1000\n")
    stays.chmod(0o755)
    idle = "1s" if program == "command" else "5m"
    project.config(
        extra=f'\n[models.stays]\nagent = "{program}"\ncommand = "{stays}"\nidle_timeout = "{idle}"\ntier = 1\n'
    )
    project.issue(7, model="stays")
    project.commit()
    project.run()
    assert [each["outcome"] for each in project.attempts("7")] == ["PASSED"]
    assert project.processes() == []


@pytest.mark.thorough
def test_an_issue_blocked_for_its_provider_goes_on_in_the_same_run_once_that_answers_again(project):
    count = project.folder / "count"
    script = f"echo >> {count}; test $(wc -l < {count}) -ge 6 || exit 75; echo b > $NOFACE_ISSUE_ID.txt"
    project.config(extra=f'\n[models.busy]\nagent = "command"\ncommand = "{script}"\ntier = 3\n')
    text = (project.path / "noface.toml").read_text()
    quick = "[retry]\ntransient_retries = 3\nbackoff_base = 0.01\n"
    project.write("noface.toml", text.replace("[retry]\n", quick))
    project.issue(7, model="busy")
    project.issue(8, model="busy")
    project.commit()
    out = project.run()
    assert project.statuses() == {"7": "merged", "8": "merged"}
    assert [attempt["outcome"] for attempt in project.attempts("7")] == ["OVERLOADED"] * 4 + ["PASSED"]
    assert "busy answers again; tried again" in out


def test_dry_run_changes_nothing(project):
    project.issue(7)
    project.commit()
    before = project.git("for-each-ref")
    out = project.run("--dry-run")
    assert "7 with small" in out
    assert not project.state.exists()
    assert project.git("for-each-ref") == before


def test_once_settles_only_what_is_ready_now(project):
    project.play(("1", 0, [{"write": "one", "text": "1"}]), ("2", 0, [{"write": "two", "text": "2"}]))
    project.issue(1)
    project.issue(2, depends_on=["1"])
    project.commit()
    out = project.run("--once", code=3)
    assert project.statuses()["1"] == "merged"
    assert project.attempts("2") == []
    end = out[out.index("\n\n") :].splitlines()[2:]
    assert re.fullmatch(r"Settled what --once started, .*; `noface run` goes on with the rest\. 1 issue, .*", end[0])
    assert end[1:3] == ["Landed", "  ✔ 1 Issue 1"]
    assert {"Left for the next run: 2", "Next: noface run"} <= {*end}


def test_squash_makes_one_plain_commit(project):
    project.config(extra='\n[landing]\nstyle = "squash"\n')
    project.issue(7)
    project.commit()
    base = project.git("rev-parse", "main")
    project.run()
    assert project.git("rev-list", "--parents", "-1", "main").split()[1:] == [base]


def test_a_folder_that_accept_names_does_not_protect_the_sources_in_it(project):
    project.play(("*", 0, [{"write": "a.txt", "text": "two\n"}, {"write": "src/x.txt", "text": "two\n"}]))
    project.write("src/x.txt", "one\n")
    project.issue(7, accept=["grep -rqw two --include='*.txt' . && grep -rqw two src"])
    project.commit()
    project.run()
    assert project.statuses() == {"7": "merged"}


@pytest.mark.thorough
def test_what_a_gate_leaves_in_kept_paths_is_gone_before_the_next_issue(project):
    extra = '\n[project]\nsetup = "mkdir -p env; touch env/ok"\nkeep = ["env"]\n'
    project.config(gate="test -e env/ok && sh t.sh && test ! -e env/poison", extra=extra)
    project.write("t.sh", "true\n")
    project.write(".gitignore", "env/\n")
    project.play(
        ("1", 0, [{"write": "t.sh", "text": "touch env/poison; exit 1\n"}]), ("2", 0, [{"write": "b.txt", "text": "b"}])
    )
    project.issue(1, max_attempts=1)
    project.issue(2)
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "blocked", "2": "merged"}


@pytest.mark.thorough
def test_kept_paths_without_a_setup_hold_nothing_when_gates_run(project):
    project.config(
        gate="test ! -e env/pass && ! grep -q bad a.txt || test -e env/pass", extra='\n[project]\nkeep = ["env"]\n'
    )
    project.write(".gitignore", "env/\n")
    project.play(
        ("1", 0, [{"write": "b.txt", "text": "b"}]),
        ("2", 0, [{"shell": "for slot in ../../gate-*/*; do mkdir -p $slot/env; touch $slot/env/pass; done"},
                  {"write": "a.txt", "text": "bad\n"}]),
    )  # fmt: skip
    project.issue(1)
    project.issue(2, max_attempts=1)
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "merged", "2": "blocked"}


@pytest.mark.parametrize("flags", first_ones([(), ("--json",)]))
def test_an_output_that_nobody_reads_any_more_stops_no_work(project, flags):
    project.issue(1)
    project.commit()
    running = project.start("run", *flags)
    assert running.stdout.readline()
    running.stdout.close()
    assert running.wait(60) == 0
    assert project.statuses() == {"1": "merged"}
