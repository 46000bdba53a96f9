"""What a machine has once, and workers and gates at the same time each have of their own: ports, TMPDIR, a name."""

import json
import re
import socket
import sys

import pytest

from noface.attempt.allotment import compose_project, slot_number
from noface.attempt.environment import slot_name
from noface.process.ports import SIZE, PortRanges, is_free


@pytest.mark.parametrize(
    ("slot", "number"),
    [
        ("gate-0land", 0), ("agent-000", 1), ("gate-0000", 2), ("setup-000", 3),
        ("gate-l001", 4), ("agent-001", 5), ("gate-0001", 6),
        ("gate-l002", 8), ("agent-063", 253), ("gate-0063", 254),
        ("agent-0", 1),
    ],
)  # fmt: skip
def test_a_workspace_has_a_number(slot, number):
    assert slot_number(slot) == number


def test_no_two_workspaces_have_one_number():
    names = [slot_name("gate", "land"), slot_name("setup", "0")]
    names += [slot_name("gate", f"l{index:03}") for index in range(1, 64)]
    names += [slot_name(kind, str(index)) for kind in ("agent", "gate") for index in range(64)]
    assert len({slot_number(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("name", "project"),
    [
        ("shop", "noface-shop-1a2b3c4d-2"),
        ("My Shop.v2", "noface-my-shop-v2-1a2b3c4d-2"),
        ("Übung", "noface-bung-1a2b3c4d-2"),
        ("…", "noface-1a2b3c4d-2"),
        ("x" * 99, f"noface-{'x' * 30}-1a2b3c4d-2"),
    ],
)
def test_compose_takes_the_name_of_its_project(name, project):
    assert compose_project(name, "1a2b3c4d", 2) == project
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*", project)


@pytest.fixture
def ranges():
    made = []

    def make(seed=0):
        made.append(PortRanges(seed))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_two_repositories_have_ranges_of_their_own_even_where_their_hashes_agree(ranges):
    one, other = ranges(), ranges()
    ports = [port for each in (one, other) for number in range(8) for port in each.of(number)]
    assert len(ports) == len(set(ports)) == 16 * (SIZE - 1)
    assert all(is_free(port) for port in ports)
    assert one.of(3) == one.of(3)


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::")])
def test_a_workspace_whose_port_somebody_takes_has_another_range_next_time(ranges, family, address):
    of_run = ranges()
    before = of_run.of(0)
    try:
        server = socket.socket(family)
        server.bind((address, before[4]))
    except OSError:
        pytest.skip("no such address here")
    with server:
        server.listen()
        after = of_run.of(0)
        assert set(after).isdisjoint(before)
        assert of_run.of(0) == after


NAMES = ("NOFACE_SLOT", "NOFACE_PORT", "NOFACE_PORTS", "COMPOSE_PROJECT_NAME", "TMPDIR")


def test_worker_setup_gate_and_accept_have_what_belongs_to_their_workspace(project):
    seen = project.folder / "seen"
    seen.mkdir()
    python = (
        f"{sys.executable} -c 'import json, os, sys; print(json.dumps({{n: os.environ[n] for n in sys.argv[2:]}}))'"
    )
    notes = project.write("notes.sh", f"{python} x {' '.join(NAMES)} > {seen}/$1-$NOFACE_SLOT-$$\n")
    project.config(f'[project]\nsetup = "sh {notes} setup"\n', gate=f"sh {notes} gate", workers=2)
    for number in (1, 2):
        project.issue(number, accept=[f"test -e {number}.txt && sh {notes} accept"])
    project.play(*((f"{n}", 0, [{"shell": f"sh {notes} worker"}, {"write": f"{n}.txt", "text": ""}]) for n in (1, 2)))
    project.commit()
    project.run()
    runs = [(path.name.split("-")[0], json.loads(path.read_text())) for path in seen.iterdir()]
    assert {who for who, _ in runs} == {"setup", "worker", "gate", "accept"}
    of_slot: dict[str, set[str]] = {}
    for who, run in runs:
        assert all(run[name] for name in NAMES), who
        of_slot.setdefault(run["NOFACE_SLOT"], set()).add(run["NOFACE_PORT"] + run["COMPOSE_PROJECT_NAME"])
    assert all(len(each) == 1 for each in of_slot.values())
    assert len({each for kinds in of_slot.values() for each in kinds}) == len(of_slot)
    worker, gate = ({run["NOFACE_SLOT"] for who, run in runs if who == name} for name in ("worker", "gate"))
    assert worker.isdisjoint(gate), "what a worker leaves running does not reach the gates"
