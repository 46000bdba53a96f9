"""A `[project] setup` that fails: told with its output, repeated where the cause may pass, charged to who caused it."""

import json
import signal
from pathlib import Path

import pytest
from support.cases import cases
from support.processes import wait_for

from noface.diagnosis.known_causes import killed_by, passing_cause

SETUP = '[project]\nsetup = "bash ./setup.sh"\nsetup_inputs = ["deps.lock", "setup.sh"]\nkeep = ["kept"]\n'


@cases(
    "line",
    [
        "npm ERR! code ETIMEDOUT",
        "npm error network request to https://registry.npmjs.org/x failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org",
        "fatal: unable to access 'https://example.org/x.git/': Could not resolve host: example.org",
        "ERROR: HTTP error 503 while getting https://example.org/x.whl",
        "error: RPC failed; curl 22 The requested URL returned error: 502",
        "requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: https://example.org",
        "/bin/sh: ./tool: Text file busy",
        "urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='pypi.org', port=443): Read timed out.",
        "curl: (56) Recv failure: Connection reset by peer",
        "429 Too Many Requests",
    ],
)
def test_a_cause_that_may_pass_is_known_by_the_words_of_package_managers(line):
    assert passing_cause(f"Collecting x\n{line}\n") == line


def with_setup(project, script):
    project.config(SETUP)
    project.write("setup.sh", script)
    project.write("deps.lock", "one\n")
    project.issue(1)
    project.commit()


def test_a_setup_that_fails_on_main_is_shown_with_its_output_and_log_and_ends_with_3(project):
    with_setup(project, "echo first; echo the-reason-why >&2; exit 7\n")
    done = project.noface("run")
    assert done.returncode == 3
    assert "ended with exit code 7" in done.stderr
    assert "the-reason-why" in done.stderr
    log = next(line.partition("log: ")[2] for line in done.stderr.splitlines() if "log: " in line)
    assert "the-reason-why" in Path(log).read_text()
    assert "Correct [project] setup" in done.stderr


def test_a_setup_that_failed_for_the_network_is_tried_again(project):
    tried = project.folder / "tried"
    with_setup(
        project, f"if ! test -e {tried}; then touch {tried}; echo 'curl: (6) Could not resolve host: x'; exit 6; fi\n"
    )
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert project.attempts("1")[0]["outcome"] == "PASSED"


@pytest.mark.parametrize(
    ("exit_code", "by"),
    [(-15, "SIGTERM"), (143, "SIGTERM"), (137, "SIGKILL"), (-1, "SIGHUP"), (0, ""), (1, ""), (130, ""), (None, "")],
)
def test_only_a_signal_that_no_program_sends_itself_says_that_a_command_was_ended_by_somebody(exit_code, by):
    assert killed_by(exit_code) == (f"it was ended by {by}" if by else "")


VERDICT = [{"say": json.dumps({"verdict": "approve", "summary": "good", "points": []})}]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("nth", "signals", "outcomes"),
    [
        pytest.param(4, [signal.SIGINT, signal.SIGINT], ["PASSED"], id="of a reviewer, twice"),
        pytest.param(3, [signal.SIGINT], ["INTERRUPTED", "PASSED"], id="of a gate", marks=pytest.mark.thorough),
    ],
)
def test_a_setup_that_ctrl_c_ends_says_nothing_and_the_next_run_goes_on(project, nth, signals, outcomes):
    ran, here = project.folder / "ran", project.folder / "here"
    with_setup(project, f"echo x >> {ran}; test $(wc -l < {ran}) != {nth} || {{ touch {here}; sleep 60; }}\n")
    text = (project.path / "noface.toml").read_text()
    project.write("noface.toml", text + '[roles]\nreviewer = "big"\n[review]\nwhen = "always"\n')
    project.commit()
    project.play(("1", 0, VERDICT, "review"), ("1", 0, [{"write": "deps.lock", "text": "two\n"}]))
    running = project.start("run")
    wait_for(here.exists)
    for each in signals:
        running.send_signal(each)
    running.communicate()
    shown = project.shown("show", "1")
    assert (shown["status"], running.returncode) == ("ready", 130)
    assert [(each["outcome"], each["charged"]) for each in shown["attempts"]] == [(outcomes[0], outcomes == ["PASSED"])]
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert [each["outcome"] for each in project.attempts("1")] == outcomes


def test_a_setup_broken_by_the_change_is_told_to_the_worker_and_ends_no_run(project):
    with_setup(project, "grep -q broken deps.lock && { echo cannot-resolve-broken; exit 9; }; true\n")
    project.issue(2)
    project.commit()
    project.play(
        ("1", 1, [{"write": "deps.lock", "text": "broken\n"}, {"write": "one.txt", "text": "1"}]),
        ("1", 2, [{"write": "deps.lock", "text": "two\n"}, {"write": "one.txt", "text": "1"}]),
        ("2", 0, [{"write": "two.txt", "text": "2"}]),
    )
    project.run()
    assert project.statuses() == {"1": "merged", "2": "merged"}
    first = project.attempts("1")[0]
    assert (first["outcome"], first["charged"]) == ("RUNTIME_ERROR", True)
    assert "cannot-resolve-broken" in project.prompt("1", 2)


def test_setup_runs_in_a_repository_whose_settings_stay_in_the_workspace(project):
    setup = "git config core.hooksPath .husky && git log -1 --format=%s > kept.txt"
    project.config(f'\n[project]\nsetup = "{setup}"\nkeep = ["kept.txt"]\n', gate="grep -q first kept.txt")
    project.commit("first")
    project.issue(1)
    project.commit("first and an issue")
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert project.git("config", "--get", "core.hooksPath", check=False) == ""
