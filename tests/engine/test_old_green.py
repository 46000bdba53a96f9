"""Main was green once, on a machine that may be another by now: what has changed there is charged to nobody."""

import pytest

KILLED = -9
GATE = "echo x >> {runs}; test -e {service} && test ! -e bad"


@pytest.fixture
def served(project):
    """A project whose gate needs a service; `runs` counts its runs."""

    def make(*plays, **config):
        service, runs = project.folder / "service", project.folder / "runs"
        service.touch()
        runs.touch()
        project.config(gate=GATE.format(runs=runs, service=service), **config)
        project.write("a.txt", "one\n")
        project.play(*plays)
        project.issue(1, max_attempts=2)
        project.commit()
        return project, service, lambda: len(runs.read_text().split())

    return make


def test_a_new_run_asks_main_again_and_pays_no_worker_where_it_is_red_by_now(served):
    project, service, _ = served(("1", 0, [{"write": "bad", "text": "x"}]), ("2", 0, [{"write": "b", "text": "x"}]))
    project.run(code=3)
    service.unlink()
    project.issue(2)
    said = project.noface("run")
    assert "BASELINE_RED" in said.stderr
    assert project.attempts("2") == []


@pytest.mark.thorough
def test_a_service_that_goes_down_during_the_run_is_not_charged_to_the_worker(served):
    project, service, _ = served(("1", 0, [{"shell": "rm -f $SERVICE; echo two > b.txt"}]))
    project.env["SERVICE"] = str(service)
    text = (project.path / "noface.toml").read_text()
    text = text.replace("[retry]\n", '[retry]\noutage_max = "1s"\n')  # it is waited for, and does not come back
    project.write("noface.toml", text.replace("tier = 1", f'tier = 1\nenv = {{ SERVICE = "{service}" }}'))
    project.run(code=3)
    (attempt, *_) = project.attempts("1")
    assert attempt["outcome"] == "BASELINE_RED"
    assert not attempt["charged"]


@pytest.mark.thorough
def test_a_tool_that_has_changed_makes_what_it_found_count_no_more(project):
    tool = project.folder / "bin/check-it"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    project.env["PATH"] = f"{tool.parent}:{project.environment()['PATH']}"
    project.config(gate="check-it")
    project.issue(1, depends_on=["2"])
    project.issue(2)
    project.play(("*", 0, [{"write": "b.txt", "text": "x"}]))
    project.commit()
    assert project.noface("run", NOFACE_FAILPOINT="landing_intent").returncode == KILLED
    tool.write_text("#!/bin/sh\nexit 1\n")
    assert "BASELINE_RED" in project.noface("run").stderr
