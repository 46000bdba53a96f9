"""An attempt that kills noface is not repeated, and paid for, at every start; a reboot or a clean stop is no death."""

import json
import signal

import pytest
from support.processes import wait_for

KILLED = -signal.SIGKILL


def dies(project, number):
    """Have noface killed, as the attempt of this number at issue 1 might do it, once that has written a file."""
    running = at_work(project, number)
    running.kill()
    running.communicate(timeout=60)


def at_work(project, number):
    running = project.start("run")
    wait_for((project.state / "attempts" / "1" / str(number) / "order.json").exists)
    project.in_slots("half.txt")
    return running


@pytest.fixture
def deadly(project):
    """A project whose issue 1 is worked on for a long time."""
    project.play(
        ("1", 0, [{"write": "half.txt", "text": "half"}, {"sleep": 60}]),
        ("2", 0, [{"write": "two.txt", "text": "2"}]),
    )
    project.issue(1)
    project.commit()
    return project


def test_an_attempt_that_kills_noface_twice_blocks_its_issue_and_others_go_on(deadly):
    project = deadly
    dies(project, 1)
    dies(project, 2)
    project.issue(2)
    project.commit()
    out = project.run(code=3)
    assert project.statuses() == {"1": "blocked", "2": "merged"}
    assert len(project.attempts("1")) == 2
    assert "noface died during attempt 2" in out
    told = json.dumps(project.shown("blocked")["blocked"])
    assert "died 2 times" in told
    assert str(project.state / "attempts" / "1" / "2") in told
    assert "noface retry 1" in told
    assert project.git("show", "refs/noface/issues/1/1:half.txt") == "half"


def test_of_two_issues_at_work_when_noface_died_each_then_works_alone_and_only_the_killer_is_blocked(deadly):
    project = deadly
    project.play(
        ("1", 0, [{"write": "half.txt", "text": "half"}, {"sleep": 60}]),
        ("2", 1, [{"sleep": 60}]),
        ("2", 0, [{"write": "two.txt", "text": "2"}]),
    )
    project.config(workers=2)
    project.issue(2)
    project.commit()
    running = at_work(project, 1)
    wait_for((project.state / "attempts/2/1/order.json").exists)
    running.kill()
    running.communicate(timeout=60)
    running = at_work(project, 2)
    assert not (project.state / "attempts/2/2").exists()
    running.kill()
    running.communicate(timeout=60)
    project.run(code=3)
    assert project.statuses() == {"1": "blocked", "2": "merged"}


def test_a_person_s_retry_lets_the_count_begin_anew(deadly):
    project = deadly
    dies(project, 1)
    dies(project, 2)
    project.run(code=3)
    project.play(("1", 0, [{"write": "b.txt", "text": "b"}]))
    assert project.noface("retry", "1").returncode == 0
    project.run()
    assert project.statuses() == {"1": "merged"}


def test_deaths_with_the_machine_are_not_counted(deadly):
    project = deadly
    for number in (1, 2, 3):
        dies(project, number)
        project.restarted()
    project.play(("1", 0, [{"write": "b.txt", "text": "b"}]))
    project.run()
    assert project.statuses() == {"1": "merged"}


def test_a_stop_by_a_signal_is_no_death(deadly):
    """Of any: tests/process/test_inherited_signals.py holds that all of them stop a run like a first Ctrl-C."""
    project = deadly
    for attempt in (1, 2):
        running = at_work(project, attempt)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        assert project.attempts("1")[-1]["number"] == attempt
    project.play(("1", 0, [{"write": "b.txt", "text": "b"}]))
    project.run()
    assert project.statuses() == {"1": "merged"}


def test_a_death_while_judging_counts_like_one_while_working(project):
    project.play(("1", 0, [{"write": "b.txt", "text": "b"}]))
    project.issue(1)
    project.commit()
    for _ in range(2):
        assert project.noface("run", NOFACE_FAILPOINT="attempt_judged").returncode == KILLED
    project.run(code=3)
    assert project.statuses() == {"1": "blocked"}


def test_what_an_agent_was_given_of_the_person_s_settings_does_not_outlive_a_killed_noface(project, tmp_path):
    gemini = tmp_path / "gemini"
    gemini.write_text("#!/bin/sh\ntest -e $0.again || exec sleep 60\nexit 1\n")
    gemini.chmod(0o755)
    (project.path / "noface.toml").write_text(
        f"""
        [[gates]]
        name = "check"
        command = "true"
        canary = false
        canary_reason = "not what is tested"
        [models.m]
        agent = "gemini"
        command = "{gemini}"
        [retry]
        default_model = "m"
        max_total_attempts = 1
        [sandbox]
        kind = "none"
        """
    )
    project.issue(1)
    project.commit()
    running = project.start("run")
    settings = project.state / "attempts/1/1/session/own-settings"
    wait_for(settings.exists)
    running.kill()
    running.communicate(timeout=60)
    assert settings.exists()
    gemini.with_name("gemini.again").touch()
    project.run(code=3)
    assert (settings.parent.exists(), settings.exists()) == (True, False)
