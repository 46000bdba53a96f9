"""Attempts on hosts: what a run does with them, and with what goes wrong there."""

import time

import pytest
from support.hosts import NearHost, run, with_hosts
from support.run_parts import run_parts

from noface.model.taxonomy import IssueStatus

WORK = ("*", 0, [{"write": "b.txt", "text": "b"}])


@pytest.fixture
def host(tmp_path):
    return NearHost(tmp_path / "host")


def attempts(context):
    return [attempt for issue in context.issues for attempt in context.reader.past(issue.id)]


@pytest.mark.parametrize("gated", [False, True], ids=["gates here", "gates on hosts"])
def test_what_hosts_do_lands(project, host, gated):
    for number in range(4):
        project.issue(number)
    project.play(*((str(n), 0, [{"say": f"it is {n}"}, {"write": f"{n}.txt", "text": "b"}]) for n in range(4)))
    with run_parts(project.path, begun=False) as context, with_hosts(context, host, per_host=4, gated=gated):
        while not context.executor.is_open(1):
            time.sleep(0.01)
        assert run(context).exit_code == 0
        assert {row.status for row in context.reader.issues()} == {IssueStatus.MERGED}
        assert {attempt.slot > 0 for attempt in attempts(context)} >= {True}
        there = next(attempt.slot for attempt in attempts(context) if attempt.slot)
        assert context.executor.place(there) == "bigbox"
        assert host.host.kept(context.executor._project.id) == []
    log = project.state / "attempts" / "3" / "1" / "agent.log"
    assert "it is 3" in log.read_text()
