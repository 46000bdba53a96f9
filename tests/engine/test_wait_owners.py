"""Who has an issue wait ends that wait, and nobody else's."""

from contextlib import ExitStack

import pytest

from noface.cli.run_session import make_context, open_project
from noface.cli.wiring import RunOptions, settings
from noface.engine.jobs import Jobs
from noface.engine.outside import BacklogWatch
from noface.engine.red_main import RedMain
from noface.engine.stations import Stations
from noface.model.failure import Failure
from noface.model.taxonomy import Cause, FailureKind, IssueStatus
from noface.store.database import Database

RED = Failure(FailureKind.BASELINE_RED, "gate test: 1 failed", "r")


@pytest.fixture
def context(project):
    project.issue(7)
    project.commit()
    with ExitStack() as stack:
        repository, config, tracker = open_project(project.path, None, RunOptions())
        database = Database.open(repository.state_dir / "state.db")
        stack.callback(database.close)
        chosen = settings(config, repository, RunOptions())
        made = make_context(repository, config, tracker, chosen, database, lambda *_: None, stack)
        made.journal.run_started(0.0, 1)
        BacklogWatch(made).refresh()
        yield made


@pytest.mark.parametrize(
    ("cause", "status"), [(Cause.RED_MAIN, IssueStatus.READY), (Cause.CLAIMED, IssueStatus.WAITING)]
)
def test_a_green_main_ends_the_wait_for_it_and_leaves_that_for_another_machine(project, context, cause, status):
    jobs = Jobs(context.inbox, 1)
    red_main = RedMain(context, jobs, Stations(context.clock, context.inbox, jobs, pytest.fail))
    red_main.wait(context.issues[0], RED)
    assert context.reader.issue("7").cause == Cause.RED_MAIN
    if cause is not Cause.RED_MAIN:  # a run elsewhere was faster, while main was red
        context.set_status("7", IssueStatus.WAITING, "another machine has it", cause=cause)
    project.write("mended.txt", "green")
    project.commit()
    red_main.step()
    assert context.reader.issue("7").status == status
    jobs.close()
