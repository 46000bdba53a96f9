"""An sshd of a test's own on loopback, with keys and settings of its own; and a stand-in for ssh where there is none."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import psutil

from support import ROOT
from support.processes import wait_for

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
WHY_NOT = "" if SSHD and shutil.which("ssh-keygen") else "there is no sshd here (Debian: apt install openssh-server)"
if not WHY_NOT and os.geteuid() == 0 and not Path("/run/sshd").is_dir():
    Path("/run/sshd").mkdir(mode=0o755)  # sshd as root wants it, and a service would have made it

NOFACE = f"{Path(sys.executable).parent / 'noface'} tools worker --over-ssh"
STAND_IN = ROOT / "tests" / "support" / "stand_in_ssh.py"


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


class Sshd:
    """A server that lets this user in with a key of the test's; `ssh` is what speaks with it, `host` its name there."""

    def __init__(
        self, folder: Path, environment: dict[str, str], *, address: str = "127.0.0.1", settings: str = ""
    ) -> None:
        folder.mkdir(mode=0o700)
        self.folder = folder
        self.host = "bigbox"
        self.port = free_port()
        self.address = address
        self._wrap: tuple[str, ...] = ()
        for name in ("host_key", "login"):
            keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name]
            subprocess.run(keygen, check=True)
        shutil.copyfile(folder / "login.pub", folder / "authorized_keys")
        variables = " ".join(f'"{name}={value}"' for name, value in environment.items())
        (folder / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress {address}\nHostKey {folder / 'host_key'}\nPidFile none\nUsePAM no\n"
            f"AuthorizedKeysFile {folder / 'authorized_keys'}\nStrictModes no\nPasswordAuthentication no\n"
            f"KbdInteractiveAuthentication no\nSetEnv {variables}\n{settings}\n"
        )
        self.known = folder / "known_hosts"
        self.trust()
        self.configure()

    def trust(self) -> None:
        self.known.write_text(f"[{self.address}]:{self.port} {(self.folder / 'host_key.pub').read_text()}")

    def configure(self, more: str = "", key: str = "login") -> None:
        """Write the person's own configuration of ssh; `more` comes first, and so counts."""
        (self.folder / "config").write_text(
            f"{more}\nHost {self.host}\n  HostName {self.address}\n  Port {self.port}\n  IdentityFile {self.folder / key}\n"
            f"  IdentitiesOnly yes\n  UserKnownHostsFile {self.known}\n  GlobalKnownHostsFile none\n"
        )

    @property
    def ssh(self) -> tuple[str, ...]:
        return ("ssh", "-F", str(self.folder / "config"))

    def start(self, *wrap: str) -> None:
        """Start it; `wrap` are words before its command line."""
        argv = [*wrap, SSHD, "-D", "-e", "-f", self.folder / "sshd_config"]
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        wait_for(lambda: self.process.poll() is not None or "listening" in (self.folder / "log").read_text(), 10)
        assert self.process.poll() is None, (self.folder / "log").read_text()

    def stop(self) -> None:
        """End it and what serves its connections, of which one that was cut would wait for hours."""
        serving = psutil.Process(self.process.pid).children(recursive=True) if self.process.poll() is None else []
        self.process.terminate()
        self.process.wait(10)
        for each in serving:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
