"""What is long travels in pieces, and an order finds its way if a host is not as home believes it to be."""

import time

import pytest
from support.hosts import NearHost, run, with_hosts
from support.run_parts import run_parts

from noface.extras.hosts.connection import HostLost
from noface.model.taxonomy import IssueStatus


def landed_there(project, host, number):
    """The issue's attempts, once one of them has landed that was carried out there."""
    project.issue(number)
    with run_parts(project.path, begun=False) as context, with_hosts(context, host) as cluster:
        while not cluster.is_open(cluster.here):
            time.sleep(0.01)
        assert run(context)[0] == 0
        past = context.reader.past(str(number))
        assert {row.status for row in context.reader.issues()} == {IssueStatus.MERGED}
        assert all(cluster.place(attempt.slot) == host.name for attempt in past)
    return past


@pytest.fixture
def plays(project):
    project.play(*((str(n), 0, [{"write": f"{n}.txt", "text": "b"}]) for n in range(4)))


@pytest.mark.thorough
@pytest.mark.usefixtures("plays")
def test_a_project_that_a_process_before_still_holds_gets_another_folder(project, tmp_path):
    before = NearHost(tmp_path / "host")
    landed_there(project, before, 1)
    after = NearHost(tmp_path / "host", ending_s=0.5)
    assert len(landed_there(project, after, 2)) == 1
    made = (tmp_path / "host").glob(f"*/*/{project.path.name}/.git")  # of repositories, and of the workspace
    assert sorted(path.parent.parent.name for path in made) == ["0", "1", "agent-001"]


@pytest.mark.usefixtures("plays")
def test_an_order_whose_commits_are_not_there_after_all_is_sent_whole(project, tmp_path):
    host = NearHost(tmp_path / "host")
    host.there = lambda *_: [project.git("rev-parse", "main")]
    assert len(landed_there(project, host, 1)) == 1


def test_a_host_that_is_killed_costs_each_of_its_attempts_one_try(project, tmp_path):
    """Its attempts end before anything else tells of it: none may begin there in that moment."""
    project.issue(1)
    project.play(("*", 0, [{"write": "b.txt", "text": "b"}]))
    host = NearHost(tmp_path / "host")

    def killed(_):
        host.cut = "noface there was killed"
        raise HostLost("its process has ended")

    host.tampered = killed
    with run_parts(project.path, begun=False) as context, with_hosts(context, host) as cluster:
        while not cluster.is_open(cluster.here):
            time.sleep(0.01)
        assert run(context)[0] == 0
        assert [attempt.outcome for attempt in context.reader.past("1")] == ["INTERRUPTED", "PASSED"]
