"""Who has an issue wait ends that wait, and nobody else's."""

from dataclasses import replace

import pytest
from support.run_parts import run_parts
from support.scripted_http import StandingClock

from noface.attempt.run import LocalExecutor
from noface.engine.jobs import Job, Jobs
from noface.engine.outside import BacklogWatch
from noface.engine.red_main import RedMain
from noface.engine.stations import Stations
from noface.model.failure import Failure
from noface.model.taxonomy import Cause, FailureKind, IssueStatus

RED = Failure(FailureKind.BASELINE_RED, "gate test: 1 failed", "r")


@pytest.fixture
def context(project):
    project.issue(7)
    project.commit()
    with run_parts(project.path, StandingClock()) as made:
        BacklogWatch(made).refresh()
        yield made


@pytest.mark.parametrize(("cause", "status"), [(Cause.RED_MAIN, IssueStatus.READY), (Cause.HELD, IssueStatus.WAITING)])
def test_a_green_main_ends_the_wait_for_it_and_leaves_another_wait(project, context, cause, status):
    jobs = Jobs(context.inbox, LocalExecutor(1))
    red_main = RedMain(context, jobs, Stations(context.clock, context.inbox, jobs, pytest.fail, pytest.fail))
    red_main.wait(context.issues[0], RED)
    assert context.reader.issue("7").cause == Cause.RED_MAIN
    if cause is not Cause.RED_MAIN:
        context.set_status("7", IssueStatus.WAITING, "something is in the way", cause=cause)
    project.write("mended.txt", "green")
    project.commit()
    red_main.step()
    assert context.reader.issue("7").status == status
    jobs.close()


def test_a_main_that_passes_by_itself_is_seen_by_looking_again(context):
    jobs = Jobs(context.inbox, LocalExecutor(1))
    stations = Stations(context.clock, context.inbox, jobs, pytest.fail, pytest.fail)
    red_main = RedMain(context, jobs, stations)
    red_main.wait(context.issues[0], RED)
    red_main.wait(context.issues[0], RED)
    assert (context.reader.issue("7").status, context.inbox.empty()) == (IssueStatus.WAITING, True)
    context.clock.sleep(15)
    red_main.wait(context.issues[0], RED)
    looked = next(message for message in iter(lambda: context.inbox.get(timeout=60), None) if isinstance(message, Job))
    jobs.ended(looked)
    stations.ended(looked)
    assert context.reader.issue("7").status == IssueStatus.READY
    jobs.close()


@pytest.mark.parametrize("meanwhile", [IssueStatus.WAITING, IssueStatus.SKIPPED])
def test_a_look_at_a_main_that_is_still_red_moves_nobody_who_waits_for_it_no_more(context, meanwhile):
    issue, jobs = context.issues[0], Jobs(context.inbox, LocalExecutor(1))
    context.settings = replace(context.settings, gates=(replace(context.settings.gates[0], command="false"),))
    stations = Stations(context.clock, context.inbox, jobs, pytest.fail, pytest.fail)
    red_main = RedMain(context, jobs, stations)
    red_main.wait(issue, RED)
    context.clock.sleep(15)
    red_main.wait(issue, RED)  # it is time to look
    if meanwhile is not IssueStatus.WAITING:
        context.set_status("7", meanwhile, "a person leaves it")
    while not isinstance(message := context.inbox.get(timeout=30), Job):
        pass
    jobs.ended(message)
    stations.ended(message)
    row = context.reader.issue("7")
    assert row.status == meanwhile
    assert (row.until or 0.0) > context.clock.now() or meanwhile is not IssueStatus.WAITING
    jobs.close()
