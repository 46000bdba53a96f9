"""Gates beside each other, and alone: whose turn it is, and what becomes of one that meets another."""

import socket
import sys
import threading

import pytest
from support.cases import first_ones

from noface.attempt.gate_turns import GateTurns, Turn
from noface.process.command import Canceller


class Gate(threading.Thread):
    """A gate in a thread of its own, which runs until it is let go."""

    def __init__(self, turns, who, alone=False):
        super().__init__(daemon=True)
        self.turns, self.mine, self.cancel = turns, Turn(who, alone), Canceller()
        self.runs, self.ends, self.refused = threading.Event(), threading.Event(), threading.Event()
        self.start()

    def run(self):
        with self.turns.turn(self.mine, self.cancel, lambda: None) as granted:
            (self.runs if granted else self.refused).set()
            self.ends.wait(20 if granted else 0)

    def over(self):
        self.ends.set()
        self.join(20)


def waits(gate):
    return not gate.runs.wait(0.3)


def test_gates_run_beside_each_other_and_know_it():
    turns = GateTurns()
    first, second = Gate(turns, "unit of 1"), Gate(turns, "unit of 2")
    assert first.runs.wait(5)
    assert second.runs.wait(5)
    first.over()
    third = Gate(turns, "unit of 3")
    assert third.runs.wait(5)
    second.over(), third.over()
    assert [list(gate.mine.beside) for gate in (first, second, third)] == [
        ["unit of 2"],
        ["unit of 1", "unit of 3"],
        ["unit of 2"],
    ]


def test_who_is_to_be_alone_comes_when_its_turn_is_and_nobody_overtakes_it():
    turns = GateTurns()
    first = Gate(turns, "a")
    assert first.runs.wait(5)
    alone = Gate(turns, "b", alone=True)
    assert waits(alone)
    later = Gate(turns, "c")
    assert waits(later)
    first.over()
    assert alone.runs.wait(5)
    assert waits(later)
    alone.over()
    assert later.runs.wait(5)
    later.over()
    assert not alone.mine.beside


def test_a_cancel_ends_a_wait_and_leaves_nobody_waiting_for_it():
    turns = GateTurns()
    first = Gate(turns, "a")
    assert first.runs.wait(5)
    alone = Gate(turns, "b", alone=True)
    assert waits(alone)
    alone.cancel.cancel()
    assert alone.refused.wait(5)
    last = Gate(turns, "c")
    assert last.runs.wait(5)
    first.over(), last.over()


def test_so_many_run_at_once_and_the_next_one_waits():
    turns = GateTurns(limit=2)
    first, second = Gate(turns, "a"), Gate(turns, "b")
    assert first.runs.wait(5)
    assert second.runs.wait(5)
    third = Gate(turns, "c")
    assert waits(third)
    first.over()
    assert third.runs.wait(5)
    second.over(), third.over()


def test_who_would_rather_be_alone_waits_for_a_while_and_knows_then_who_was_there():
    """A gate may wait for what this very one holds up: it must not wait for ever."""
    turns = GateTurns()
    long, brief = Turn("long", alone=False), Turn("brief", alone=True, patience_s=0.1)
    with turns.turn(long, Canceller(), lambda: None), turns.turn(brief, Canceller(), lambda: None) as granted:
        assert granted is brief
        assert tuple(brief.beside) == ("long",)


def test_a_turn_ends_however_its_gate_ends():
    turns = GateTurns()
    with pytest.raises(OSError, match="broken"), turns.turn(Turn("a", alone=True), Canceller(), lambda: None):
        raise OSError("broken")
    after = Gate(turns, "b", alone=True)
    assert after.runs.wait(5)
    after.over()


GATE = """\
import pathlib, socket, sqlite3, sys, time
shared = pathlib.Path({folder!r})


def hold():
    # What is shared is kept until another gate has met it; on main nobody comes.
    until = time.monotonic() + 5 * any(pathlib.Path(f"{{number}}.txt").exists() for number in range(5))
    while not [*shared.glob("met-*")] and time.monotonic() < until:
        time.sleep(0.02)


def met(kind, error, trace):
    (shared / f"met-{{time.time_ns()}}").touch()
    sys.__excepthook__(kind, error, trace)


sys.excepthook = met
if pathlib.Path("bad").exists():
    twice = socket.socket()
    twice.bind(("127.0.0.1", {port}))
    twice.listen()
kind = sys.argv[1]
if kind == "port":
    port = socket.socket()
    port.bind(("127.0.0.1", {port}))
    port.listen()
    hold()
elif kind == "lock":
    (shared / "build.lock").mkdir()
    hold()
    (shared / "build.lock").rmdir()
else:
    base = sqlite3.connect(shared / "shared.db", timeout=0.1)
    base.execute("BEGIN EXCLUSIVE")
    hold()
    base.commit()
"""
MEETS = {"port": "Address already in use", "lock": "File exists", "base": "database is locked"}


def backlog(project, tmp_path, kind, issues=4, extra=""):
    """Four workers whose gate needs what only one can have; issue 1's own change binds the port twice if it is bad."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    project.config(gate=f"{sys.executable} gate.py {kind}", workers=4)
    if extra:
        config = project.path / "noface.toml"
        config.write_text(config.read_text().replace("canary = false\n", f"canary = false\n{extra}\n"))
    project.write("gate.py", GATE.format(folder=str(tmp_path), port=port))
    for number in range(1, issues + 1):
        project.issue(number)
    project.commit()


def done(number, together=""):
    return (str(number), 0, [{"write": f"{number}.txt", "text": "done"}, *([{"shell": together}] if together else [])])


@pytest.mark.parametrize("kind", first_ones(MEETS))
def test_gates_that_meet_charge_nobody_and_a_person_is_told_how_to_have_one_run_alone(project, tmp_path, kind):
    backlog(project, tmp_path, kind)
    ready = tmp_path / "ready"
    ready.mkdir()
    together = f"touch {ready}/$NOFACE_ISSUE_ID; until test $(ls {ready} | wc -l) -ge 4; do sleep 0.02; done"
    project.play(*(done(number, together) for number in range(1, 5)))
    run = project.noface("run")
    assert run.returncode == 0, run.stdout
    assert [project.attempts(str(number))[0]["outcome"] for number in range(1, 5)] == ["PASSED"] * 4
    told = " ".join(run.stdout.split())
    assert "and passed alone" in told
    assert MEETS[kind] in told
    assert 'below name = "check" in [[gates]] of noface.toml, alone = true has it always run so' in told


@pytest.mark.thorough
def test_a_gate_with_alone_meets_nobody_and_a_port_that_the_change_takes_itself_is_charged(project, tmp_path):
    backlog(project, tmp_path, "port", issues=3, extra="alone = true")
    project.play(("1", 0, [{"write": "bad", "text": "x"}]), done(2), done(3))
    run = project.noface("run", "--max-iterations", "4")
    assert [attempt["outcome"] for number in "23" for attempt in project.attempts(number)] == ["PASSED"] * 2, run.stdout
    first = project.attempts("1")[0]
    assert (first["outcome"], first["charged"]) == ("ENVIRONMENT", True)
    assert "passed alone" not in run.stdout
