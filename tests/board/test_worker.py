"""A worker of a real run reaches the board of a real person on loopback, and cannot approve itself there."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.board import start_board
from support.cases import first_ones
from support.cli_story import Story
from support.processes import wait_for

from noface.process.sandbox import find_bubblewrap

ATTACK = Path(__file__).with_name("attack.py")
REFUSED = (403, 404, 405, 421)
NOBODY = 65_534
HIDING = """
import ctypes, os, sys, time
from noface.extras.board.verb import _hide
from noface.process.process_tree import prctl
if os.geteuid() == 0:
    os.setuid(65534)
    prctl(4, 1)  # as it is for a process that has changed nobody
if sys.argv[1] == "hides":
    _hide()
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", ["hides", "lies open"])
def test_no_process_of_the_same_user_reads_what_the_board_remembers(how):
    """Root reads everything, so that as root this is looked at as somebody else."""
    user = None if os.geteuid() else NOBODY
    with subprocess.Popen([sys.executable, "-c", HIDING, how], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            for command in ("cat", "environ"), ("cat", "maps"), ("ls", "fd/"), ("head -c 0", "mem"):
                argv = [*command[0].split(), f"/proc/{process.pid}/{command[1]}"]
                done = subprocess.run(argv, user=user, capture_output=True, text=True, check=False)
                assert (done.returncode != 0) == (how == "hides"), done
        finally:
            process.kill()


CONFIG = """
[[gates]]
name = "check"
command = "true"
canary = false
[models.small]
agent = "command"
command = "{python} -I {attack}"
[retry]
default_model = "small"
[sandbox]
kind = "{sandbox}"
[run]
slots_dir = "{slots}"
"""


@pytest.mark.parametrize("sandbox", first_ones(["none", "bubblewrap"]))
def test_a_worker_that_tries_to_approve_itself_fails(project, sandbox):
    if sandbox == "bubblewrap" and not find_bubblewrap(shutil.which("bwrap")).works:
        pytest.skip("bubblewrap does not work here")
    attack = (
        shutil.copy(ATTACK, project.folder / "slots.py") if sandbox == "none" else shutil.copy(ATTACK, project.path)
    )
    project.write(
        "noface.toml",
        CONFIG.format(python=sys.executable, attack=attack, sandbox=sandbox, slots=project.folder / "slots"),
    )
    project.issue("005", "Export orders")
    project.issue("009", "Steal the approval of 005")
    project.commit()
    story = Story(project.path, project.git("rev-parse", "HEAD")).sync().run()
    story.attempt("005", 1, model="small").request_approval("005").end()
    board = start_board(project.path, project.environment())
    try:
        person = board.enter()
        used = board.token
        running = project.start("run", "--issue", "9", "--once")
        workspace = project.in_slots("ready.txt").parent
        unused = board.new_address().partition("token=")[2]
        fields = {
            "id": "005",
            "verb": "approve",
            "note": "",
            "status": "approval",
            "attempt": 1,
            "commit": story.commit,
        }
        folder = f"/{str(person.base_url).rstrip('/').rpartition('/')[2]}/"
        stolen = {"port": board.port, "folder": folder, "cookie": person.headers["cookie"], "fields": fields}
        stolen |= {"used": used, "unused": unused, "state": str(project.state)}
        (workspace / "stolen.tmp").write_text(json.dumps(stolen))
        (workspace / "stolen.tmp").rename(workspace / "stolen.json")
        log = project.state / "attempts" / "009" / "1" / "agent.log"
        came = json.loads(wait_for(lambda: log.exists() and "}" in log.read_text() and log.read_text(), 60))
        seen = {name: came.pop(name) for name in ("read tokens", "read cookies")}
        assert came.pop("the person's cookie, gone before it is looked at") == 0
        assert {name: status for name, status in came.items() if status not in REFUSED} == {}
        assert len(came) >= 10
        if os.geteuid() or sandbox != "none":  # root reads whatever memory it likes
            assert seen == {"read tokens": [], "read cookies": []}
        assert story.reader.issue("005").status == "approval"
        assert story.reader.decisions("005") == ()
        board.wait("A worker of the run tried")
        assert person.get("").status_code == 200, "it takes nobody's session away either"
        assert person.post("decide", data=fields).status_code == 303, "a person decides all the while"
        assert story.reader.issue("005").status == "ready"
        running.wait(60)
    finally:
        board.end()
        story.close()
