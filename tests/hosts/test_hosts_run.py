"""Attempts on hosts: what a run does with them, and with what goes wrong there."""

import asyncio
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import msgpack
import pytest
from distributed.comm import CommClosedError
from support import ROOT
from support.cases import cases, first_ones
from support.hosts import NearHost, Task, run, with_hosts
from support.processes import alive
from support.run_parts import run_parts
from support.ssh_ground import NOFACE, WHY_NOT, Sshd

from noface.attempt.attempt import Attempt
from noface.config.load import load
from noface.extras.hosts.calls import project_parcel
from noface.extras.hosts.cluster import ALONE_S, LOSSES_MAX
from noface.extras.hosts.connection import HostLost, raised_there
from noface.extras.hosts.host import LEASE_S
from noface.extras.hosts.parcel import WorkParcel
from noface.git.refs import hold_ref
from noface.model.attempt import HOST_LOST, AttemptOrder, Interrupted, NotStarted, noted
from noface.model.codec import encode
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.model.worker_run import Session, Usage
from noface.process.supervise import Canceller

WORK = ("*", 0, [{"write": "b.txt", "text": "b"}])


@pytest.fixture
def host(tmp_path):
    return NearHost(tmp_path / "host")


def attempts(context):
    return [attempt for issue in context.issues for attempt in context.reader.past(issue.id)]


@pytest.fixture
def sshd(tmp_path, token):
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    server = Sshd(tmp_path / "sshd", {**environment, "NOFACE_TOKEN": token})
    server.start()
    yield server
    server.stop()


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_a_run_has_a_host_over_a_real_sshd_do_all_its_work_and_leaves_nothing_there(project, sshd, tmp_path, token):
    """The one whole run in `make test` with all parts as they are: ssh, sshd, dask.distributed, noface as processes."""
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    program = shlex.join([shutil.which("ssh"), *sshd.ssh[1:]])
    ssh.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
    ssh.chmod(0o755)
    noface = NOFACE.partition(" ")[0]
    project.config(f'[executor]\nhosts = ["bigbox"]\nattempts = 2\ncommand = "{noface}"\n', workers=0)
    for number in (1, 2):
        project.issue(number)
    project.play(*((str(n), 0, [{"say": f"it is {n}"}, {"write": f"{n}.txt", "text": "b"}]) for n in (1, 2)))
    project.run(PATH=f"{ssh.parent}:{os.environ['PATH']}")
    assert [project.attempts(n)[0]["notes"] for n in ("1", "2")] == [["carried out on bigbox"]] * 2
    assert "it is 2" in (project.state / "attempts" / "2" / "1" / "agent.log").read_text()
    assert project.git("show", "main:1.txt", "main:2.txt") == "bb"
    assert alive(token) == []
    assert list((tmp_path / "state").glob("noface/host/projects/*/kept/*")) == []


def test_with_no_workers_here_hosts_work_and_this_machine_only_while_none_is_there(project, host):
    project.issue(1)
    project.play(WORK)
    with run_parts(project.path, begun=False) as context, with_hosts(context, host, here=0) as cluster:
        joined(cluster)
        assert not cluster.is_open(0)
        run(context)
        assert [cluster.place(attempt.slot) for attempt in attempts(context)] == ["bigbox"]
        host.cut = "the cable was pulled"
        while cluster.is_open(1):
            time.sleep(0.01)
        assert not cluster.is_open(0)
        cluster._seen_at -= ALONE_S
        assert cluster.is_open(0)


def joined(cluster):
    """Wait until a host is there, and have this machine take nothing."""
    while not cluster.is_open(1):
        time.sleep(0.01)


def test_a_host_that_is_cut_off_costs_nobody_anything_and_what_it_did_is_fetched_later(project, host):
    project.issue(1)
    project.play(("1", 1, [{"write": "half.txt", "text": "half"}, {"say": "half is done"}, {"sleep": 60}]), WORK)
    with run_parts(project.path, begun=False) as context, with_hosts(context, host) as cluster:
        joined(cluster)

        def cut_off():
            host.began.wait(60)
            while not any("half is done" in log.read_text() for log in host.folder.rglob("agent.log")):
                time.sleep(0.05)
            host.cut, host.clock.ahead = "the cable was pulled", LEASE_S + 1
            while not host.host.kept(cluster._project.id) or cluster.is_open(1):  # home has seen the cut, too
                time.sleep(0.05)
            host.cut = ""

        cutting = threading.Thread(target=cut_off)
        cutting.start()
        exit_code, _ = run(context)
        cutting.join()
        first, second = context.reader.past("1")
        assert (exit_code, first.outcome, first.charged) == (0, "INTERRUPTED", False)
        assert noted(first.notes, HOST_LOST) == f"{HOST_LOST}: bigbox (the cable was pulled)"
        assert second.outcome == "PASSED"
        plumbing = context.env.plumbing
        while (held := plumbing.resolve(hold_ref("1", "1"))) is None:
            time.sleep(0.05)
        assert "half.txt" in plumbing.paths(plumbing.tree(held))


LACKS = [
    ({"failure": encode(Failure(FailureKind.AUTH, "claude is not logged in", "r", charged=False))}, "not logged in"),
    ({"error": "it runs another noface than home"}, "it runs another noface than home"),
]


@pytest.mark.parametrize(("lacks", "why"), first_ones(LACKS, rows=True), ids=["no login", "another noface"])
def test_a_host_that_lacks_something_is_not_used_again_and_no_issue_waits_for_that(project, host, lacks, why):
    project.issue(1)
    project.play(WORK)
    host.tampered = lambda packed: packed | {"text": json.dumps(json.loads(packed["text"]) | {"work": None} | lacks)}
    with run_parts(project.path, begun=False) as context, with_hosts(context, host) as cluster:
        joined(cluster)
        run(context)
        assert {row.status for row in context.reader.issues()} == {IssueStatus.MERGED}
        assert not any(attempt.charged for attempt in attempts(context) if attempt.slot)
        assert not cluster.is_open(1)
        assert why in context.hosts["bigbox"].why


def test_a_host_that_answers_that_it_cannot_gets_no_further_order(project, host):
    """As when it has no room for an order's pack: there would be no end to it."""
    project.issue(1)
    project.play(WORK)

    def no_room(*_):
        host.asked.append("bring")
        raise HostLost("OSError: [Errno 28] No space left on device", unfit=True)

    host.work = no_room
    with run_parts(project.path, begun=False) as context, with_hosts(context, host) as cluster:
        joined(cluster)
        run(context)
        assert [attempt.outcome for attempt in attempts(context)] == ["INTERRUPTED", "PASSED"]
        assert host.asked.count("bring") == 1
        assert "No space left" in context.hosts["bigbox"].why


def test_an_order_is_refused_by_a_host_whose_disk_is_full(project, tmp_path):
    """What an attempt before has left in the workspace goes first; its agent is not begun for nothing."""
    with small_disk(tmp_path / "host") as folder:
        host = NearHost(folder)
        project.issue(1)
        project.play(("*", 0, [{"write": "b.txt", "text": "b"}]))
        left = folder / "slots" / "agent-001" / project.path.name / "big"
        with run_parts(project.path, begun=False) as context, with_hosts(context, host) as cluster:
            joined(cluster)
            left.parent.mkdir(parents=True)
            left.write_bytes(bytes(3 << 20))
            (folder / "others").write_bytes(bytes(3 << 19))
            run(context)
            assert "its disk is full" in context.hosts["bigbox"].why
            assert not left.exists()
            assert [attempt.outcome for attempt in attempts(context)] == ["INTERRUPTED", "PASSED"]


@contextmanager
def small_disk(folder):
    """A folder with room for 5 MB."""
    folder.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", folder]
    if subprocess.run(mounted, capture_output=True, check=False).returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@cases(
    ("error", "its_own"),
    [
        (OSError(28, "No space left on device"), True),
        (PermissionError(13, "Permission denied"), True),
        (KeyError("text"), True),
        (CommClosedError("in <TLS>: Stream is closed"), False),
        (OSError("Timed out during handshake"), False),
        (ConnectionResetError(104, "Connection reset by peer"), False),
        (TimeoutError(), False),
        (asyncio.CancelledError(), False),
    ],
)
def test_what_a_host_answers_is_told_from_what_breaks_on_the_way(error, its_own):
    assert raised_there(error) is its_own


def test_a_host_on_which_setup_fails_is_not_used_again_and_says_how_it_failed(project, host):
    setup = "case $PWD in */host/*) echo no compiler; exit 3;; esac; mkdir -p dep"
    project.config(f'[project]\nsetup = "{setup}"\nkeep = ["dep"]\n')
    project.commit()
    project.issue(1)
    project.play(WORK)
    with run_parts(project.path, begun=False) as context, with_hosts(context, host) as cluster:
        joined(cluster)
        run(context)
        assert [attempt.outcome for attempt in attempts(context)] == ["INTERRUPTED", "PASSED"]
        assert not cluster.is_open(1)
        assert "ended with exit code 3" in context.hosts["bigbox"].why


@pytest.mark.parametrize("same", [True, False], ids=["it is there", "another host had it"])
def test_a_session_goes_on_where_it_lies_and_costs_what_is_new(project, host, monkeypatch, same):
    """Codex counts the whole thread: where that began only the host can say."""
    thread = "01a1f994-5124-7a23-963e-32084e1344d5"
    counts = {"thread_id": thread, "thread_token_usage": {"input_tokens": 900, "output_tokens": 20}}
    log = host.folder / f"codex/sessions/2026/11/20/rollout-2026-11-20T15-00-00-{thread}.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text(json.dumps({"type": "token_usage_record", "payload": counts}) + "\n")
    monkeypatch.setenv("CODEX_HOME", str(host.folder / "codex"))
    with run_parts(project.path) as context:
        parcel = project_parcel(load(project.path), context.env.plumbing.repository)
        there = host.host._opened(parcel, Canceller())
        main, model = context.env.plumbing.main(), replace(context.settings.models["small"], agent="codex")
        order = AttemptOrder("run", "1", Issue("1", "1"), 2, model, "", main, main, 1, "/home/attempts/1/2", ())
        before = there.repository.state_dir / "attempts" / "1" / "1"
        if same:
            before.mkdir(parents=True)
        session = host.host._as_here(
            there, replace(order, session=Session(thread, 1, "/home/attempts/1/1", "go on"))
        ).session
        assert session == (Session(thread, 1, str(before), "go on", Usage(None, 900, 20)) if same else None)


def lose(context, cluster, host, tokens):
    """Have a host carry attempts out, at issues named by their tokens, and lose it; return how they ended."""
    joined(cluster)
    main = context.env.plumbing.main()
    model = context.settings.models["small"]
    orders = [
        AttemptOrder(
            "run",
            token,
            Issue(token, token),
            number,
            model,
            "",
            main,
            main,
            number,
            f"{context.settings.attempts_dir}/{token}/{number}",
            (),
        )
        for number, token in enumerate(tokens, 1)
    ]
    with ThreadPoolExecutor() as threads:
        scope = context.quiet_scope(Canceller())
        reports = [threads.submit(cluster.carry_out, Attempt(order, scope)) for order in orders]
        place = cluster._places[0]
        while [each.began for each in place.awaited.values()] != [True] * len(tokens):
            time.sleep(0.01)
        host.cut = "its process was killed"
        reports = [report.result() for report in reports]
    host.host.end_all()
    host.cut = ""
    return [type(report) for report in reports]


@pytest.mark.thorough
def test_only_an_issue_that_a_host_had_alone_each_time_waits_for_a_person(project, host):
    project.play(("*", 0, [{"sleep": 60}]))
    with run_parts(project.path) as context, with_hosts(context, host) as cluster:
        assert lose(context, cluster, host, ["9", "8"]) == [Interrupted, Interrupted]
        for time_lost in range(1, LOSSES_MAX + 1):
            assert lose(context, cluster, host, ["9"]) == [NotStarted if time_lost == LOSSES_MAX else Interrupted]


KILLED = """
import sys
from pathlib import Path
import msgpack
from support.hosts import NearHost
NearHost(Path(sys.argv[1])).host.work(msgpack.unpackb(Path(sys.argv[2]).read_bytes()))
"""


class Killed(NearHost):
    """A host whose first attempt is carried out by a process of its own, which is killed in the middle."""

    def work(self, parcel, project, token, worker, going):
        if self.began.is_set():
            return super().work(parcel, project, token, worker, going)
        self.began.set()
        order = self.folder / "order"
        order.parent.mkdir(parents=True, exist_ok=True)
        order.write_bytes(msgpack.packb(parcel))
        path = os.pathsep.join((str(ROOT / "tests"), str(ROOT)))
        argv = [sys.executable, "-c", KILLED, str(self.folder), str(order)]
        process = subprocess.Popen(argv, env={**os.environ, "PYTHONPATH": path})
        threading.Thread(target=self._kill, args=(process,)).start()
        return Task(Future())

    def _kill(self, process):
        while not any("half is done" in log.read_text() for log in self.folder.rglob("agent.log")):
            time.sleep(0.05)
        process.kill()
        process.wait()
        self.cut = "its process was killed"
        while self.opened < 2:
            time.sleep(0.05)
        self.cut = ""


@pytest.mark.thorough
def test_what_an_attempt_had_done_when_its_host_was_killed_is_kept_for_home(project, tmp_path):
    host = Killed(tmp_path / "host")
    project.issue(1)
    project.issue(2)
    project.play(("1", 1, [{"write": "half.txt", "text": "half"}, {"say": "half is done"}, {"sleep": 60}]), WORK)
    with run_parts(project.path, begun=False) as context, with_hosts(context, host) as cluster:
        joined(cluster)
        run(context)
        assert next(attempt.outcome for attempt in attempts(context)) == "INTERRUPTED"
    project.issue(3)
    project.commit()
    with run_parts(project.path, begun=False) as context, with_hosts(context, host) as cluster:
        joined(cluster)
        run(context)
    (token,) = host.host.kept(cluster._project.id)
    parcel = WorkParcel.unpacked(host.parcel(cluster._project.id, token, host.name, lambda: None))
    assert (parcel.issue_id, parcel.number) == ("1", 1)
    repository = next(host.folder.glob("*/*/*/.git"))
    assert "half.txt" in subprocess.check_output(
        ["git", "-C", repository, "ls-tree", "--name-only", parcel.held], text=True
    )
