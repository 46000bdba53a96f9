"""A board at work in a terminal of its own, and a person who opens its address."""

import fcntl
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx2 as httpx


@dataclass
class BoardProcess:
    """`noface board` in a pseudo-terminal; `screen` is all that it has shown."""

    process: subprocess.Popen
    terminal: int
    screen: str = ""
    clients: list[httpx.Client] = field(default_factory=list)

    def wait(self, pattern: str, seconds: float = 20) -> re.Match:
        """Wait until the terminal shows something."""
        until = time.monotonic() + seconds
        while not (found := re.search(pattern, self.screen)):
            assert time.monotonic() < until, f"{pattern!r} is not in {self.screen!r}"
            if select.select([self.terminal], [], [], 0.1)[0]:
                try:
                    self.screen += os.read(self.terminal, 4096).decode()
                except OSError:
                    assert self.process.poll() is None or re.search(pattern, self.screen), self.screen
                    time.sleep(0.05)
        return found

    @property
    def address(self) -> str:
        return self.wait(r"http://127\.0\.0\.1:\d+/enter\?token=[a-z0-9-]+(?=\s)")[0]

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].split("/")[0])

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    def new_address(self) -> str:
        """Press Enter; the address that is shown then."""
        self.screen = ""
        os.write(self.terminal, b"\n")
        return self.address

    def enter(self, address: str = "") -> httpx.Client:
        """Open an address as a browser does; the client of its session, whose paths are below the session's folder."""
        came = httpx.get(address or self.address, follow_redirects=False)
        assert came.status_code == 303, came.text
        cookie = came.headers["set-cookie"].partition(";")[0]
        base = f"{self.origin}{came.headers['location']}"
        client = httpx.Client(base_url=base, headers={"cookie": cookie, "origin": self.origin}, timeout=30)
        self.clients.append(client)
        return client

    def end(self) -> None:
        for client in self.clients:
            client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        finally:
            self.process.kill()
            os.close(self.terminal)


def start_board(path: Path, env: dict[str, str], *args: str, user: int | None = None) -> BoardProcess:
    """Start a board in a repository; as another user if one is given."""
    terminal, line = os.openpty()
    if user is not None:
        os.fchown(line, user, -1)

    def own_terminal() -> None:
        fcntl.ioctl(line, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(
        [sys.executable, "-m", "noface", "board", *args],
        cwd=path,
        env=env,
        stdin=line,
        stdout=line,
        stderr=line,
        start_new_session=True,
        preexec_fn=own_terminal,  # noqa: PLW1509 - it calls one system call
        user=user,
    )
    os.close(line)
    return BoardProcess(process, terminal)
