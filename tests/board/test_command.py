"""`noface board` as it is started: in a terminal, on loopback, with what can be wrong."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx2 as httpx
import pytest
from support.board import start_board


@pytest.fixture
def board(project):
    started = []

    def start(*args, **env):
        started.append(start_board(project.path, project.environment(**env), *args))
        return started[-1]

    yield start
    for each in started:
        each.end()


def test_a_board_before_the_first_run_shows_the_backlog_beside_one_and_after_it(project, board):
    project.issue(1, "Greet")
    project.commit()
    shown = board()
    person = shown.enter()
    assert "Nothing has run here yet" in person.get("").text
    assert "Greet" in person.get("").text
    project.run()
    assert "No run is at work" in person.get("").text
    assert 'class="card merged"' in person.get("").text
    with person.stream("GET", "events", timeout=20) as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        lines = events.iter_lines()
        time.sleep(1.5)
        project.play(("*", 0, [{"write": "c.txt", "text": "c"}]))
        project.issue(2, "Greet again")
        project.run()
        if os.geteuid() == 0:  # a board hides what it has open from its own user
            opened = [link.readlink().name for link in Path(f"/proc/{shown.process.pid}/fd").iterdir()]
            assert not [name for name in opened if name.startswith("state.db")], (
                "it would hold up, or lose, the run's locks"
            )
        data = next(line for line in lines if line.startswith("data: ") and "2" in line)
        assert set(data.removeprefix("data: ")) <= set('{"ids": []}, 012'), "ids, and nothing else"
    # It listens on this machine's loopback alone, and the address stands on no command line.
    assert f"00000000:{shown.port:04X}" not in Path("/proc/net/tcp").read_text()
    assert shown.token not in Path(f"/proc/{shown.process.pid}/cmdline").read_text()
    shown.process.send_signal(2)
    assert shown.process.wait(10) == 0
    with pytest.raises(httpx.ConnectError):
        person.get("")


def test_a_database_that_is_broken_gone_or_back_is_told_of_and_ends_nothing(project, board):
    project.issue(1, "Greet")
    project.commit()
    project.run()
    person = board().enter()
    database = project.state / "state.db"
    kept = database.read_bytes()
    for path in project.state.glob("state.db*"):
        path.unlink()
    database.write_bytes(b"no database" * 100)
    broken = person.get("")
    assert broken.status_code == 503
    assert "state.db" in broken.text
    assert person.post("run", data={"do": "pause"}).status_code == 503
    database.unlink()
    assert "Nothing has run here yet" in person.get("").text
    refused = person.post("decide", data={"id": "1", "verb": "skip", "status": "ready", "attempt": "0", "commit": ""})
    assert (refused.status_code, "nothing has run yet" in refused.text.lower()) == (409, True)
    database.write_bytes(kept)
    assert 'class="card merged"' in person.get("").text


def test_what_is_wrong_at_the_beginning_is_said_in_words(project, board, tmp_path):
    def said(*args, path=project.path, **env):
        board_process = start_board(path, project.environment(**env), *args)
        try:
            assert board_process.wait("→ [^\r]*\r")
            assert board_process.process.wait(20) == 2
            return " ".join(board_process.screen.split())
        finally:
            board_process.end()

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"port {port} cannot be had: Address already in use" in said("--port", port)
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    assert "is not in a git repository" in said(path=nowhere)
    # Without a terminal there is nowhere to show an address that no agent reads.
    done = subprocess.run(
        [sys.executable, "-m", "noface", "board"], cwd=project.path, env=project.environment(), capture_output=True,
        text=True, stdin=subprocess.DEVNULL, start_new_session=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "in a terminal only" in done.stderr
    assert "Traceback" not in done.stderr
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['uvicorn'] = None\n")
    lacking = said(PYTHONPATH=str(hidden))
    assert "noface board needs uvicorn" in lacking
    assert "Install it: `" in lacking
    assert "Traceback" not in lacking
