"""`noface tools worker`: what it says of its machine, how it joins a standing cluster by hand, and how it ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError
from support.cases import cases, first_ones
from support.home_scheduler import home_scheduler
from support.processes import alive, wait_for
from support.ssh_ground import free_port
from typer.main import get_command

from noface.cli.main import build
from noface.config.values import HostName
from noface.errors import HostError, NofaceError, UsageError
from noface.extras.hosts.certificates import make_identity
from noface.extras.hosts.handshake import Invitation, parse_invitation
from noface.extras.hosts.hello import hello, parse_hello
from noface.extras.hosts.worker import EndRequest, reach, serve

NOFACE = [sys.executable, "-P", "-m", "noface", "tools", "worker"]


@pytest.fixture(scope="module")
def home():
    with home_scheduler() as running:
        yield running


def files_of(identity, folder):
    folder.mkdir(exist_ok=True)
    texts = {"ca": identity.ca, "cert": identity.certificate, "key": identity.key}
    for name, text in texts.items():
        (folder / f"{name}.pem").write_text(text)
    return [word for name in texts for word in (f"--{name}", str(folder / f"{name}.pem"))]


def run(*arguments, **more):
    return subprocess.run([*NOFACE, *arguments], capture_output=True, text=True, timeout=60, check=False, **more)


@contextmanager
def joined(home, tmp_path, token, *arguments, before=()):
    """A worker that has joined by hand."""
    options = files_of(home.identity, tmp_path / "pem")
    argv = [*before, *NOFACE, "--scheduler", home.address, *options, "--folder", str(tmp_path / "host"), *arguments]
    environment = os.environ | {"NOFACE_TOKEN": token}
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    with process:
        try:
            yield process, process.stdout.readline()
        finally:
            process.kill()


def test_a_worker_joins_by_hand_and_ends_on_ctrl_c(home, tmp_path, token):
    with joined(home, tmp_path, token, "--name", "bigbox", "--attempts", "3") as (process, line):
        assert line.startswith(f"bigbox works for {home.address}, 3 at once.")
        assert home.names() == ["bigbox"]
        assert home.ask(os.getpid) == process.pid
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "bigbox has ended: it was asked to (SIGINT).\n", "")
    assert home.names() == []
    assert "Registered to" in (tmp_path / "host" / "worker.log").read_text()


@pytest.mark.thorough
def test_a_worker_whose_scheduler_goes_says_so_and_leaves_nothing(tmp_path, token):
    with home_scheduler() as home, joined(home, tmp_path, token) as (process, _):
        home.close()
        _, err = process.communicate(timeout=30)
        assert process.returncode == 1
    assert "noface: the scheduler has gone" in err
    assert "Traceback" not in err
    assert alive(token) == []


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="another user is become by root")
def test_an_ordinary_user_whose_memory_is_hidden_can_be_a_worker(home, token):
    """dask.distributed looks at its own open files, which the kernel shows to the process itself only."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        place = Path(folder)
        place.chmod(0o777)
        before = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", f"HOME={folder}")
        with joined(home, place, token, "--name", "other", before=before) as (process, line):
            if not line:
                pytest.skip(f"this Python is closed to other users: {process.stderr.read()[-200:]}")
            assert home.ask(os.getuid) == 65534
            process.terminate()
            assert process.wait(30) == 0


@pytest.mark.thorough
def test_a_worker_that_dask_starts_itself_is_a_host_too(home, tmp_path, token):
    """As dask-jobqueue and dask-kubernetes do it."""
    files_of(home.identity, tmp_path)
    tls = [
        f"--tls-{dask}={tmp_path / name}"
        for dask, name in (("ca-file", "ca.pem"), ("cert", "cert.pem"), ("key", "key.pem"))
    ]
    more = ["--no-nanny", "--nthreads=2", "--no-dashboard", f"--local-directory={tmp_path}", "--name=node-7"]
    argv = [sys.executable, "-m", "distributed.cli.dask_worker", home.address, *tls, *more]
    environment = os.environ | {"NOFACE_TOKEN": token}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [*argv, "--preload=noface.extras.hosts.preload"], stdout=log, stderr=log, env=environment
        )
    wait_for(lambda: home.names() == ["node-7"] or process.poll() is not None, 30)
    assert home.ask(os.getpid) == process.pid, (tmp_path / "log").read_text()
    process.terminate()
    process.wait(30)
    assert "noface.extras.hosts.preload" in (tmp_path / "log").read_text()


WORDS = {
    "nothing to do": ([], "nobody to work for"),
    "two things": (["--check", "--over-ssh"], "one thing at a time"),
    "no certificates": (["--scheduler", "tls://h:1"], "--ca, --cert, --key are missing"),
    "one is missing": (["--scheduler", "tls://h:1", "--ca", "x", "--cert", "x"], "--key is missing"),
    "no such file": (["--scheduler", "tls://h:1", "--ca", "/x", "--cert", "/x", "--key", "/x"], "/x cannot be read"),
}


@cases("case", WORDS)
def test_a_command_line_that_joins_nothing_is_told(case):
    words, message = WORDS[case]
    with pytest.raises(UsageError) as caught:
        get_command(build("tools")).main(["tools", "worker", *words], standalone_mode=False)
    assert message in caught.value.message


ADDRESSES = {
    "not encrypted": ("tcp://127.0.0.1:1", "is no address of a scheduler"),
    "no port": ("tls://bigbox", "is no address of a scheduler"),
    "no address": ("[::", "is no address of a scheduler"),
    "nobody there": (f"tls://127.0.0.1:{free_port()}", "Connection refused"),
    "no such machine": ("tls://no-such-machine.invalid:1", "cannot be reached"),
}


@cases("case", ADDRESSES)
def test_why_a_scheduler_is_not_reached_is_told(home, case):
    address, message = ADDRESSES[case]
    with pytest.raises(NofaceError, match=message):
        reach(address, home.identity)


def test_a_file_in_the_way_of_a_hosts_folder_is_told():
    with pytest.raises(HostError, match="/dev/null cannot be used"):
        serve(INVITED, 0, Path("/dev/null"), EndRequest(), lambda: None)


def test_check_says_what_the_machine_has():
    text, document = run("--check"), run("--check", "--json")
    assert document.returncode == text.returncode == 0
    told = json.loads(document.stdout)
    assert told.pop("schema") == 1
    there = parse_hello(told)
    assert there == hello(Path.home())._replace(disk_free_bytes=there.disk_free_bytes)
    for part in (there.noface, there.code, there.distributed, there.git, there.sandbox):
        assert part in text.stdout


WITHOUT = "import sys; sys.modules['distributed'] = None; from noface.__main__ import main; main()"


def test_without_the_extra_it_is_told_what_to_install(tmp_path):
    """The hello goes out all the same, so that home can say of which host it is missing."""
    words = ["tools", "worker", "--scheduler", "tls://127.0.0.1:1", *files_of(make_identity(), tmp_path)]
    answer = subprocess.run([sys.executable, "-c", WITHOUT, *words], capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert "not installed (distributed)" in answer.stderr
    assert "pip install" in answer.stderr
    assert "distributed" in answer.stderr


def test_other_commands_import_nothing_of_it():
    code = "import sys; from noface.cli.main import build; build(None); print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"dask", "distributed", "cryptography", "noface.extras.hosts.ssh"} & set(answer.stdout.split()) == set()


INVITED = Invitation("tls://127.0.0.1:1", "tls://127.0.0.1:2", "bigbox/1", 1, "CA", "CERT", "KEY")
NO_INVITATIONS = {
    "": b"",
    "no object": b"[1]",
    "no JSON": b"{",
    "deep": b"[" * 100_000,
    "more": json.dumps(INVITED._asdict() | {"more": 1}).encode(),
    "less": json.dumps({"name": "x"}).encode(),
    "none at once": json.dumps(INVITED._asdict() | {"attempts": 0}).encode(),
    "true at once": json.dumps(INVITED._asdict() | {"attempts": True}).encode(),
    "no text": json.dumps(INVITED._asdict() | {"key": None}).encode(),
}


def test_an_invitation_is_read_as_it_was_written():
    assert parse_invitation(json.dumps(INVITED._asdict()).encode() + b"\n") == INVITED


@cases("case", NO_INVITATIONS)
def test_what_is_no_invitation_is_none(case):
    assert parse_invitation(NO_INVITATIONS[case]) is None


def talk(said, tmp_path):
    """What `--over-ssh` answers to lines on its standard input, after its hello."""
    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path)}
    answer = run("--over-ssh", input=said, env=environment)
    first, *lines = map(json.loads, answer.stdout.splitlines())
    assert parse_hello(first).port > 0
    return answer.returncode, lines, answer.stderr


@pytest.mark.parametrize(
    ("said", "told"),
    first_ones(
        [
            (f"{json.dumps(INVITED._asdict())}\n", "is no certificate and key"),
            ("", "home has not invited this host"),
            ("who are you\n", "home has not invited this host"),
        ],
        rows=True,
    ),
)
def test_over_ssh_a_host_says_what_is_wrong_as_its_last_line(tmp_path, said, told):
    code, lines, err = talk(said, tmp_path)
    assert code != 0
    assert len(lines) == 1
    assert told in lines[0]["error"]
    assert "Traceback" not in err


@cases(
    "name", ["bigbox", "build@bigbox", "build@192.0.2.7", "::1", "me@fe80::1%eth0", "a_b.example.org", "ssh://u@h:22"]
)
def test_what_ssh_takes_for_a_machine_is_a_host(name):
    assert TypeAdapter(HostName).validate_python(name) == name


@cases(
    "name",
    ["", " ", "-oProxyCommand=x", "-v", "a b", "a@-x", "h;rm", "$(x)", "`x`", "a\nb", "h\n", "ü", "a'b", "u@", "@h"],
)
def test_what_ssh_or_a_shell_would_take_for_something_else_is_no_host(name):
    with pytest.raises(ValidationError):
        TypeAdapter(HostName).validate_python(name)
