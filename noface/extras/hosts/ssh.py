"""A host that is reached over ssh: logged in to, invited, kept, and left.

The person's own ssh does it, with their configuration, keys and agent, and one connection carries all: what home and
host say to each other, and a port of loopback in each direction. So a host needs no open port, and home none either.
"""

import json
import os
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from secrets import token_hex
from shutil import rmtree
from threading import Event, Lock, Thread
from typing import IO

from noface.data import table
from noface.errors import HostError
from noface.extras.hosts.certificates import TlsIdentity
from noface.extras.hosts.handshake import BEAT_S, LINE_BYTES_MAX, Invitation, held_port, parse_line
from noface.extras.hosts.hello import Hello, difference, hello, parse_hello

_SSH_FAILED = 255
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
_SIGNALLED = 128
_QUOTED_MAX = 300


def reason_of(host: str, command: str, exit_code: int | None, words: Sequence[str], *, joined: bool) -> HostError:
    """Return why ssh has ended. `words` are the last lines of its standard error, `joined`: the host was at work."""
    text = "\n".join(words).lower()
    quoted = _quoted(words)
    if exit_code == _SSH_FAILED:
        for end in table("ssh")["ends"]:
            if end["says"] in text:
                return HostError(f"{end['means'].format(host=host)}{quoted}", end["advice"].format(host=host))
    if exit_code == _NOT_FOUND:
        hint = f'Install it there, or say where it is: [executor] command = "/path/to/{_program(command)}".'
        return HostError(f"{host} has no `{_program(command)}` on its PATH{quoted}", hint)
    if exit_code == _NOT_EXECUTABLE:
        return HostError(f"`{_program(command)}` cannot be run on {host}{quoted}", "Look at its permissions there.")
    if "no such command" in text and "worker" in text:
        return HostError(f"noface on {host} is too old: it has no `worker`", "Install the version there that is here.")
    if joined:
        killed = exit_code in (_SSH_FAILED, None) or exit_code > _SIGNALLED
        how = "was killed" if killed else f"has ended with code {exit_code}"
        return HostError(f"noface on {host} {how}{quoted}", "See ~/.local/state/noface/host/worker.log there.")
    return HostError(
        f"`{command}` on {host} ended at once (exit code {exit_code}){quoted}",
        f"Try it: `ssh {host} noface tools worker --check`.",
    )


def _program(command: str) -> str:
    return command.split(maxsplit=1)[0]


def _quoted(words: Sequence[str]) -> str:
    text = " / ".join([line.strip() for line in words if line.strip(" @\r\n")][-2:])
    return f" (“{text[-_QUOTED_MAX:]}”)" if text else ""


COMMAND = "noface tools worker --over-ssh"
CONNECT_S = 20.0
JOIN_S = 30.0
CLOSE_S = 65.0
_FORWARD_S = 10.0
_ENDED_S = 3.0
_CONTROL_CHARS_MAX = 80
"""A socket's path has 104 bytes at most on some systems, and ssh makes it under a name of 17 more."""

_PREFIX = "noface-ssh-"
_OLD_S = 600.0

_WORDS_MAX = 20
_WORD_CHARS_MAX = 500


Member = Callable[[], tuple[int, TlsIdentity]]
"""The port of the scheduler on this machine's loopback, and what its worker proves itself with; may take a while."""


class SshHost:
    """A host, from `start` to `close`; both may be called from any thread, and `close` during `start`."""

    def __init__(
        self,
        name: str,
        member: Member,
        *,
        attempts: int = 1,
        command: str = COMMAND,
        ssh: tuple[str, ...] = ("ssh",),
        connect_s: float = CONNECT_S,
    ) -> None:
        self.name = name
        self.worker_name = f"{name}/{token_hex(3)}"
        self.hello: Hello | None = None
        self._member = member
        self._attempts = attempts
        self._command = command
        self._ssh = ssh
        self._connect_s = connect_s
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: SimpleQueue[Mapping[str, object] | None] = SimpleQueue()
        self._words: deque[str] = deque(maxlen=_WORDS_MAX)
        self._readers: list[Thread] = []
        self._closed = Event()
        self._lock = Lock()
        self._joined = False
        self._ended = ""

    def start(self) -> Hello:
        """Log in, look at what is there, invite it; return what it says of itself once its worker has joined."""
        try:
            self._open()
            self.hello = self._greeted()
            port, identity = self._member()
            ours = self._invite(self.hello, port, identity)
            what = f"was invited, and has not joined within {JOIN_S:.0f} s"
            self._next("joined", time.monotonic() + JOIN_S, what)
            context = identity.security().get_connection_args("client")["ssl_context"]
            try:
                with socket.create_connection(("127.0.0.1", ours), _FORWARD_S) as plain, context.wrap_socket(plain):
                    pass
            except OSError as error:
                hint = f"{self.name} has to allow both directions: `AllowTcpForwarding yes` in its sshd_config."
                raise HostError(f"the worker on {self.name} cannot be reached through ssh: {error}.", hint) from error
        except BaseException:
            self.close(wait_s=0)
            raise
        self._joined = True
        Thread(target=self._beat, name=f"beats for {self.name}", daemon=True).start()
        return self.hello

    def greet(self) -> Hello:
        """Log in and look at what is there, without having it join; return what it says of itself. Raises HostError."""
        try:
            self._open()
            return self._greeted()
        finally:
            self.close(wait_s=0)

    def alive(self) -> bool:
        process = self._process
        return self._joined and process is not None and process.poll() is None and not self._closed.is_set()

    @property
    def why(self) -> str:
        """Why it is not alive, in a sentence or two; "" if it is, or was closed."""
        process = self._process
        if process is None or process.poll() is None or self._closed.is_set():
            return ""
        return self._reason().reason

    def close(self, wait_s: float = CLOSE_S) -> None:
        """Tell the host to end its attempts and itself, wait for that, and leave nothing of the connection here."""
        self._closed.set()
        with self._lock:
            process, self._process = self._process, None
            folder, self._folder = self._folder, None
        if process is not None:
            if process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
            try:
                process.wait(wait_s)
            except subprocess.TimeoutExpired:
                process.terminate()  # so that ssh takes leave, which sshd notices at once
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_ENDED_S)
            # What ssh has started to connect through (ProxyCommand, ProxyJump) is of its group.
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for reader in self._readers:
                reader.join(_ENDED_S)
        if folder is not None:
            rmtree(folder, ignore_errors=True)

    def _open(self) -> None:
        folder = _private_folder()
        options = [f"-o{key}={value}" for key, value in table("ssh")["options"].items()]
        # A shell that is no login shell often leaves out the folder that pipx and uv install to.
        remote = f'PATH="$PATH:$HOME/.local/bin"; export PATH; {self._command}'
        argv = [*self._ssh, *options, f"-oControlPath={folder / 'c'}", "--", self.name, f"sh -c {shlex.quote(remote)}"]
        try:
            # A session of its own: Ctrl-C in the terminal is noface's to act on.
            process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            rmtree(folder, ignore_errors=True)
            hint = "Install an ssh client (Debian, Ubuntu: apt install openssh-client)."
            raise HostError(f"`{self._ssh[0]}` cannot be run: {error.strerror}.", hint) from error
        with self._lock:
            self._process, self._folder = process, folder
        self._readers = [
            Thread(target=reader, args=(stream,), name=f"what {self.name} writes", daemon=True)
            for reader, stream in ((self._read_lines, process.stdout), (self._read_words, process.stderr))
        ]
        for reader in self._readers:
            reader.start()

    def _read_lines(self, out: IO[bytes]) -> None:
        with out as stream:
            while line := stream.readline(LINE_BYTES_MAX):
                if (value := parse_line(line)) is None:
                    continue
                if last := value.get("ended") or value.get("error"):
                    self._ended = str(last)[:_WORD_CHARS_MAX]
                self._lines.put(value)
        self._lines.put(None)

    def _read_words(self, err: IO[bytes]) -> None:
        with err as stream:
            while line := stream.readline(LINE_BYTES_MAX):
                self._words.append(line.decode(errors="replace").rstrip()[:_WORD_CHARS_MAX])

    def _next(self, key: str, deadline: float, what: str) -> Mapping[str, object]:
        while True:
            try:
                value = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                raise HostError(
                    f"{self.name} {what}", f"Try it: `ssh {self.name} noface tools worker --check`."
                ) from None
            if value is None:
                raise self._reason()
            if "error" in value:
                raise HostError(f"{self.name}: {str(value['error'])[:_WORD_CHARS_MAX]}")
            if key in value:
                return value

    def _greeted(self) -> Hello:
        deadline = time.monotonic() + self._connect_s
        while True:
            try:
                value = self._next("noface", deadline, f"did not answer within {self._connect_s:.0f} s")
            except HostError as error:
                logged_in = self._folder is not None and (self._folder / "c").exists()
                if logged_in and self._process is not None and self._process.poll() is None:
                    raise HostError(f"{error.message.rstrip('.')}, though the login worked.", error.hint) from None
                raise
            if (there := parse_hello(value)) is not None:
                break
        if different := difference(hello(Path("/")), there):
            hint = f"Install on {self.name} what is here, with the extra: pip install 'noface-loop[cluster]'."
            raise HostError(f"{self.name}: {different}.", hint)
        if there.git is None:
            raise HostError(f"{self.name} has no git that noface can work with.", "Install git 2.38 or newer there.")
        return there

    def _invite(self, there: Hello, port: int, identity: TlsIdentity) -> int:
        """Forward a port each way and tell the host of them; return the one here that leads there."""
        text = self._forwarded("-R", f"127.0.0.1:0:127.0.0.1:{port}")
        theirs = text.strip()
        if not theirs.isdecimal():
            raise HostError(f"ssh to {self.name} did not say which port it forwards{_short(text)}")
        with held_port() as held:
            ours = int(held.getsockname()[1])
            self._forwarded("-L", f"127.0.0.1:{ours}:127.0.0.1:{there.port}")
        invitation = Invitation(
            scheduler=f"tls://127.0.0.1:{theirs}",
            contact=f"tls://127.0.0.1:{ours}",
            name=self.worker_name,
            attempts=self._attempts,
            ca=identity.ca,
            cert=identity.certificate,
            key=identity.key,
        )
        if not self._send(json.dumps(invitation._asdict()).encode() + b"\n"):
            raise self._reason()
        return ours

    def _forwarded(self, *what: str) -> str:
        # Without the person's configuration, whose forwarded ports it would ask for as well.
        argv = [*self._ssh, "-F", "none", f"-oControlPath={self._folder}/c", "-O", "forward", *what, "--", self.name]
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_FORWARD_S,
                check=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            raise HostError(f"ssh to {self.name} does not forward a port within {_FORWARD_S:.0f} s") from None
        if done.returncode != 0:
            hint = (
                f"{self.name} has to allow it: `AllowTcpForwarding yes` in its sshd_config, and no `restrict` or "
                "`no-port-forwarding` at your key in its authorized_keys."
            )
            raise HostError(f"ssh to {self.name} forwards no ports{_short(done.stderr)}", hint)
        return done.stdout

    def _beat(self) -> None:
        while not self._closed.wait(BEAT_S):
            if not self._send(b"\n"):
                return

    def _send(self, data: bytes) -> bool:
        process = self._process
        if process is None or process.stdin is None:
            return False
        try:
            process.stdin.write(data)
            process.stdin.flush()
        except (OSError, ValueError):  # a ValueError if it was closed meanwhile
            return False
        return True

    def _reason(self) -> HostError:
        process = self._process
        code = None
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(_ENDED_S)
            for reader in self._readers:
                reader.join(_ENDED_S)
        if self._ended:
            return HostError(f"noface on {self.name} has ended: {self._ended}")
        return reason_of(self.name, self._command, code, tuple(self._words), joined=self._joined)


def _short(text: str) -> str:
    line = " ".join(text.split())[:_WORD_CHARS_MAX]
    return f" (“{line}”)" if line else ""


def _private_folder() -> Path:
    for base in (tempfile.gettempdir(), os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp"):  # noqa: S108 - mkdtemp's
        if base and len(os.fsencode(base)) <= _CONTROL_CHARS_MAX and "%" not in base and '"' not in base:
            for old in Path(base).glob(f"{_PREFIX}*"):
                with suppress(OSError):
                    if old.stat().st_mtime < time.time() - _OLD_S:
                        old.rmdir()
            with suppress(OSError):
                return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    raise HostError("there is no folder for ssh's socket.", "Let yourself write to /tmp, or give a short TMPDIR.")
