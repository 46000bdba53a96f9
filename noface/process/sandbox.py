"""A box around one command: which files it sees and may write, and what it reaches of the network.

Bubblewrap (0.8.0 and later) makes it: the machine read-only; /tmp and /run private; of the home what rules name
(sandbox_home); nothing writable but what is named; no capabilities, and a PID namespace. What it does not stop: outside
the home it reads whatever the person can, and a hole in the kernel is a way out.
"""

import os
import stat
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from noface.data import table
from noface.model.access import Network, port_of
from noface.process.files import is_folder, kind_at
from noface.process.home_places import below, outermost
from noface.process.own_network import HOLDER
from noface.process.sandbox_home import Home, Mount, cache_of, hide, home_mounts, make_mount_point
from noface.process.supervisor import BOX_GATE, BOX_INFO, BOX_STATUS

_FLAGS = (
    "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
    "--die-with-parent", "--new-session", "--cap-drop", "ALL",
)  # fmt: skip
_MACHINE = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
_PROBE_S_MAX = 10.0
_ON_DISK = ("/tmp", "/var/tmp")  # noqa: S108 - what programs write there may not fit into memory
CONNECTORS = ("pasta", "slirp4netns")
"""Programs that give a loopback of its own the outside, the better one first."""
_RESOLV_CONF = "/etc/resolv.conf"
_RESOLVER = "10.0.2.3"
"""Where slirp4netns answers questions for names, and pasta if it is told so, by way of the machine's own resolver."""
_SOCKETS = "/proc/net/unix"
_SOCKET_FIELDS = 8


@dataclass(frozen=True, slots=True)
class Box:
    """What one command may reach. All paths are absolute; those that do not exist are passed over.

    `tmp` is /tmp inside, `workspace` is seen at `address`. `hidden` is empty inside, but for what is in `visible`
    (read-only) and `writable`. `services` of this machine are there with a loopback of its own, too, and `connector`
    is the program that gives that the outside.
    """

    program: str
    homes: tuple[Home, ...]
    tmp: str
    writable: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()
    workspace: str = ""
    address: str = ""
    hidden: tuple[str, ...] = ()
    network: Network = Network.ON
    services: tuple[str, ...] = ()
    connector: str = ""

    @property
    def shares_network(self) -> bool:
        """True if what listens on this machine can be reached."""
        return self.network is Network.ON or (self.network is Network.OWN and not self.connector)

    @property
    def joined(self) -> dict[str, list[object]]:
        """What leads out of a network of its own: ports of services, and the command line that gives the outside."""
        ports = [port for each in self.services if (port := port_of(each)) is not None]
        outside = list(_outside(self.connector)) if self.network is Network.OWN else []
        return {"ports": [*ports], "outside": [*outside]} if (ports or outside) and not self.shares_network else {}

    def command_line(self, argv: tuple[str, ...], cwd: str) -> tuple[str, ...]:
        """Return the command line that runs `argv` in the box, with BOX_STATUS for a descriptor. Raise OSError."""
        options = [self.program, *_FLAGS, *(() if self.shares_network else ("--unshare-net",))]
        options += ("--info-fd", BOX_INFO, "--block-fd", BOX_GATE) if self.joined else ()
        options += ["--json-status-fd", BOX_STATUS, *_MACHINE]
        for mount in self._mounts():
            for cached in filter(None, (cache_of(home, mount[-1]) for home in self.homes)):
                # An agent may have put a link there.
                make_mount_point(*cached, folder=mount[0] == "--tmpfs" or is_folder(os.path.realpath(mount[1])))
            options += mount
        inside = f"{self.address}{cwd.removeprefix(self.workspace)}" if below(cwd, (self.workspace,)) else cwd
        return (*options, "--chdir", inside, "--", *argv)

    def _mounts(self) -> Iterator[Mount]:
        places = table("sandbox_places")
        yield from (_read(path) for path in places["kernel"]["read"] if os.path.exists(path))
        yield from _barred(places["kernel"]["hidden"])
        for folder in places["private"]["folders"]:
            if is_folder(folder):
                yield ("--bind", self.tmp, folder) if folder in _ON_DISK else ("--tmpfs", folder)
        yield from (_read(path) for path in places["private"]["needed"] if os.path.exists(path))
        yield from _barred(places["machine"]["hidden"])
        at_home = tuple(home.path for home in self.homes)
        hidden = [place for path in self.hidden if os.path.exists(place := os.path.realpath(path))]
        # Each mount costs bubblewrap a look at all mounts, so that nothing is mounted only to be hidden.
        mounted = [path for path in self.visible if not below(path, hidden)]
        outside = [path for path in mounted if not below(path, at_home)]
        yield from (_read(path) for path in outermost(outside) if os.path.exists(path))
        for home in self.homes:
            yield from home_mounts(home, (*self.visible, *self.writable, self.address))
        inside = [path for path in mounted if below(path, at_home) and path not in at_home]
        yield from (_read(path) for path in outermost(inside) if os.path.exists(path))
        # After the home: what a rule of the home shows would lie over it else. bwrap does as it is told, in this order.
        yield from (hide(path) for path in outermost(hidden) if not self._away(path))
        meant = {os.path.realpath(service) for service in self.services if service.startswith("/")}
        yield from (hide(path) for path in _listening() - meant if not self._away(path) and not below(path, hidden))
        yield from (_read(path) for path in sorted(meant) if self._away(path) and os.path.exists(path))
        yield from (_read(path) for path in self.visible if below(path, hidden) and os.path.exists(path))
        yield from (("--bind", path, path) for path in self.writable if os.path.exists(path) and path != self.workspace)
        if self.workspace:
            yield "--bind" if self.workspace in self.writable else "--ro-bind", self.workspace, self.address
        yield from self._resolver()

    def _resolver(self) -> Iterator[Mount]:
        """Yield what names the connector's resolver of names, where the machine's own listens on its loopback only."""
        if self.network is not Network.OWN or not self.connector:
            return
        lines = Path(_RESOLV_CONF).read_text("utf-8", "replace").splitlines() if os.path.isfile(_RESOLV_CONF) else []
        servers = [line.split()[1] for line in lines if line.startswith("nameserver ")]
        if servers and all(server.startswith("127.") or server == "::1" for server in servers):
            other = Path(f"{self.tmp}.resolv.conf")
            kept = [line for line in lines if not line.startswith("nameserver ")]
            other.write_text("\n".join((*kept, f"nameserver {_RESOLVER}", "")))
            yield "--ro-bind", str(other), os.path.realpath(_RESOLV_CONF)

    def keep_caches(self) -> None:
        for home in self.homes:
            home.keep_caches()

    def _away(self, path: str) -> bool:
        """True if a path of the machine is not there in the box anyway, so that nothing can be put over it."""
        if below(path, table("sandbox_places")["private"]["folders"]) and not below(path, self.visible):
            return True
        there = [place for home in self.homes for place in home.visible()]
        if below(path, (home.path for home in self.homes)):
            return not below(path, (*there, *self.visible))
        return False


def _read(path: str) -> Mount:
    return "--ro-bind", path, path


def _barred(paths: Iterable[str]) -> Iterator[Mount]:
    for path in paths:
        if any(os.access(path, right) for right in (os.R_OK, os.W_OK, os.X_OK)):
            yield hide(path)


def _outside(program: str) -> tuple[str, ...]:
    """Return the command line by which a program gives a namespace the outside, but not this machine's loopback."""
    if os.path.basename(program) == "slirp4netns":
        user = f"--userns-path=/proc/{HOLDER}/ns/user"
        return program, "--configure", "--mtu=65520", "--disable-host-loopback", user, HOLDER, "tap0"
    closed = ("--tcp-ports", "none", "--udp-ports", "none", "--tcp-ns", "none", "--udp-ns", "none", "--no-map-gw")
    root = ("--runas", "0") if os.geteuid() == 0 else ()
    names = ("--dns-forward", _RESOLVER)
    return program, "--config-net", "--foreground", "--quiet", *closed, *names, *root, HOLDER


def _listening() -> frozenset[str]:
    """Return the sockets in the file system: a folder that can only be read keeps nobody from connecting to one."""
    try:
        lines = Path(_SOCKETS).read_bytes().splitlines()[1:]
    except OSError:
        return frozenset()
    fields = (os.fsdecode(line).split(" ", _SOCKET_FIELDS - 1) for line in lines)
    named = {field[-1].strip() for field in fields if len(field) == _SOCKET_FIELDS}
    places = {os.path.realpath(path) for path in named if path.startswith("/")}
    return frozenset(path for path in places if kind_at(path) == stat.S_IFSOCK)


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """What became of looking for bubblewrap: its path and version, or in `problem` why no box can be made."""

    program: str = ""
    version: str = ""
    problem: str = ""
    remedy: str = ""

    @property
    def works(self) -> bool:
        return not self.problem


def find_bubblewrap(program: str | None) -> Bubblewrap:
    """Try whether `program` (None: there is none) makes a box here; containers and some systems forbid it."""
    if program is None:
        return Bubblewrap(problem="bubblewrap is not installed", remedy=_INSTALL)
    box = (*_MACHINE, "--tmpfs", "/run", "--", "true")
    try:
        version = _output_of(program, "--version").stdout.strip().removeprefix("bubblewrap ")
        done = _output_of(program, *_FLAGS, *box)
    except (OSError, subprocess.SubprocessError) as error:
        return Bubblewrap(program, problem=f"{program} cannot be run: {error}", remedy=_INSTALL)
    if done.returncode != 0:
        message = " ".join(done.stderr.split())[:300] or f"exit code {done.returncode}"
        return Bubblewrap(program, version, f"bubblewrap cannot make a box here: {message}", _ALLOW)
    return Bubblewrap(program, version)


_INSTALL = "Install it (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)."
_ALLOW = "Let ordinary users make user namespaces (docs/safety.md says how on your system)."


def _output_of(*argv: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        argv,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=_PROBE_S_MAX,
        stdin=subprocess.DEVNULL,
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
    )
