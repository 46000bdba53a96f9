"""A terminal for tests: runs noface behind a pty, and shows what a person would see, scrolled lines included."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

from rich.cells import cell_len

_TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b[^\[]|[\r\n]|[^\x1b\r\n]+", re.DOTALL)


class Screen:
    """Rows as a terminal keeps them. Narrowed, it breaks long rows anew, as most terminals do."""

    def __init__(self, width):
        self.width = width
        self.rows = [""]
        self.at, self.column = 0, 0
        self.cursor_shown = True
        self._pending = ""

    def feed(self, text):
        text = self._pending + text
        cut = text.rfind("\x1b") if re.search(r"\x1b(\[[?0-9;]*)?$", text) else len(text)
        text, self._pending = text[:cut], text[cut:]
        for token in _TOKEN.finditer(text):
            self._do(token)

    def _do(self, token):
        match token[2], token[0]:
            case "A", _:
                self.at = max(self.at - int(token[1] or 1), 0)
            case "K", _:
                self.rows[self.at] = ""
            case "h" | "l", _:
                self.cursor_shown = token[2] == "h" if token[1] == "?25" else self.cursor_shown
            case None, "\r":
                self.column = 0
            case None, "\n":
                self._down()
            case None, text if not text.startswith("\x1b"):
                self._write(text)

    def _down(self):
        self.at, self.column = self.at + 1, 0
        if self.at == len(self.rows):
            self.rows.append("")

    def _write(self, text):
        for char in text:
            if self.column + cell_len(char) > self.width:
                self._down()
            row = self.rows[self.at]
            self.rows[self.at] = row[: self.column].ljust(self.column) + char + row[self.column + 1 :]
            self.column += cell_len(char)

    @property
    def lines(self):
        return [row.rstrip() for row in self.rows]

    @property
    def text(self):
        return "\n".join(self.lines)


class Terminal:
    """A program in a terminal of its own; `raw` is everything it wrote, `screen` what that looks like."""

    def __init__(self, project, *args, width=80, height=24, **env):
        self.screen = Screen(width)
        self.raw = ""
        self.master, slave = pty.openpty()
        self._size(width, height)
        given = project.environment(**{"TERM": "xterm-256color", "CI": "", "NO_COLOR": ""} | env)
        for name in ("COLUMNS", "LINES"):
            given.pop(name, None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "noface", *args],
            cwd=project.path,
            env=given,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no thread of the tests holds locks
        )
        os.close(slave)
        self.encoding = env.get("PYTHONIOENCODING", "utf-8")

    def _size(self, width, height):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def read(self):
        """Take what comes within half a second; False once there is nothing to come."""
        if not select.select([self.master], [], [], 0.5)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:  # Linux says so when the other side is closed
            return False
        text = data.decode(self.encoding, "replace")
        self.raw += text
        self.screen.feed(text)
        return bool(data)

    def until(self, seen, seconds=120.0):
        """Read until `seen(screen)` is true; what it returns."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := seen(self.screen):
                return found
            if not self.read():
                break
        raise AssertionError(f"it was never shown:\n{self.screen.text}")

    def ended(self):
        """Read to the end; the exit code."""
        while self.read():
            pass
        return self.process.wait(60)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
