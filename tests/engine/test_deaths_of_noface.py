"""A killed noface goes on and blames nobody without evidence; an attempt that kills it is not repeated for ever."""

import json

import pytest
from support.processes import wait_for

from noface.engine.recover import evidence_of


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
        ("1", 0, [{"write": "half.txt", "text": "half"}, {"sleep": 60}]), ("2", 0, [{"write": "two.txt", "text": "2"}])
    )
    project.issue(1)
    project.commit()
    return project


def without_walls(project, workers=1):
    """Let programs of attempts see noface, and signal it: no sandbox, no PID namespace."""
    project.config(workers=workers)
    toml = project.path / "noface.toml"
    toml.write_text(toml.read_text().replace('kind = "none"', 'kind = "none"\nprocesses = "subreaper"'))
    project.commit()


@pytest.mark.parametrize(
    ("oom_kills", "contained", "alone", "evidence"),
    [
        (0, True, True, None),  # somebody killed noface; an attempt could not
        (0, True, False, None),
        (0, False, False, None),  # which of them?
        (0, False, True, "signal"),
        (1, True, True, "memory"),
        (1, False, False, "memory"),
    ],
)
def test_a_death_is_evidence_against_an_attempt_only_if_that_could_have_caused_it(
    oom_kills, contained, alone, evidence
):
    assert evidence_of(oom_kills, contained=contained, alone=alone) == evidence


@pytest.mark.thorough
def test_without_walls_an_attempt_that_three_times_alone_sees_noface_die_waits_and_others_go_on(deadly):
    project = deadly
    without_walls(project)
    for number in (1, 2, 3):
        dies(project, number)
    project.issue(2)
    project.commit()
    out = project.run(code=3)
    assert project.statuses() == {"1": "blocked", "2": "merged"}
    assert len(project.attempts("1")) == 3
    assert "noface died during attempt 3" in out
    told = json.dumps(project.shown("blocked")["blocked"])
    assert "died 3 times" in told
    assert "neither the sandbox nor a PID namespace" in told
    assert str(project.state / "attempts" / "1" / "3") in told
    assert project.git("show", "refs/noface/issues/1/1:half.txt") == "half"


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
