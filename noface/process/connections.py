"""Tells which servers, there before a command began, it has connected to: they are not its own.

Looking at connections from time to time misses short ones, so the kernel asks at each connect(2): a filter (seccomp)
hands the call to the supervisor, which notes where it leads and lets it go on. Some 50 µs each; nothing is kept from
the program. Standard library only, and nothing that is slow to import.
"""

import ctypes
import fcntl
import os
import socket
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from noface.process.process_tree import below, libc, prctl

_ABI = {"x86_64": (0xC000003E, 42, 317), "aarch64": (0xC00000B7, 203, 277), "riscv64": (0xC00000F3, 203, 277)}
"""By machine: the number that the kernel has for it, and those of its calls connect and seccomp."""
_NO_NEW_PRIVS = 38
_SET_MODE_FILTER = 1
_NEW_LISTENER, _SPEC_ALLOW = 8, 4
_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ASK, _ALLOW = 0x7FC00000, 0x7FFF0000
_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_REQUEST, _ANSWER = struct.Struct("QIIiIQ6Q"), struct.Struct("QqiI")
_GO_ON = 1
_SOCKET_DIAGNOSIS, _BY_FAMILY, _DUMP, _LISTEN = 4, 20, 0x301, 1 << 10
_QUESTION, _MESSAGE = struct.Struct("=IHHIIBBxxI48x"), struct.Struct("=IH")
_PORT, _INODE, _PORT_AT, _INODE_AT = struct.Struct("!H"), struct.Struct("=I"), 20, 84
_ANSWER_BYTES = 1 << 16
_UNIX_LISTENS = 0x10000
_UNIX_FIELDS = 8
_ADDRESS_BYTES_MAX = 128
_SHARED_FOLDERS = ("/tmp/", "/var/tmp/")  # noqa: S108 - where programs of a person meet by a fixed name
_FOREIGN_MAX = 20
_PUBLISH = frozenset(("docker-proxy", "dockerd", "rootlesskit", "rootlessport", "containerd-shim-runc-v2", "conmon"))
"""Programs that listen on behalf of containers, which a command may have started and which are not below it."""


class ConnectWatch:
    """Hears from the kernel of each connect of this process and of all that it starts.

    `foreign` are the servers met that are not among the `named`: "localhost:5432", a socket's path, or `@` and a name.
    Its value is "" where the server was there before; else it identifies a socket that came later, which somebody
    outside may hold on behalf of the command, as the engine of containers does.
    """

    def __init__(self, descriptor: int, named: list[str], ports: dict[int, set[str]]) -> None:
        self.descriptor = descriptor
        self.foreign: dict[str, str] = {}
        self._named = frozenset(named)
        self._own: set[int] = set()
        self._ports, self._sockets = ports, _unix_listening()

    def answer(self) -> None:
        """Let one connect go on, after a look at where it leads."""
        request = bytearray(_REQUEST.size)
        try:
            fcntl.ioctl(self.descriptor, _RECEIVE, request)
        except OSError:
            return  # it was interrupted, or has ended
        number, pid, _, _, _, _, descriptor, place, length, *_ = _REQUEST.unpack(request)
        if len(self.foreign) < _FOREIGN_MAX:
            hidden = suppress(OSError, ValueError, struct.error)  # it is ending, or hides its memory
            with hidden, Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
                memory.seek(place)
                self._look(pid, descriptor, memory.read(min(length, _ADDRESS_BYTES_MAX)))
        with suppress(OSError):
            fcntl.ioctl(self.descriptor, _SEND, bytearray(_ANSWER.pack(number, 0, 0, _GO_ON)))

    def _look(self, pid: int, descriptor: int, address: bytes) -> None:
        (family,) = struct.unpack_from("=H", address)
        if family == socket.AF_UNIX:
            self._look_at_socket(pid, address[2:])
            return
        if family not in (socket.AF_INET, socket.AF_INET6):
            return
        (port,) = struct.unpack_from("!H", address, 2)
        host = socket.inet_ntop(family, address[4:8] if family == socket.AF_INET else address[8:24])
        name = f"localhost:{port}"
        if port in self._own or name in self._named or name in self.foreign or not _is_here(family, host):
            return
        now = _listening().get(port, set())
        inode = _socket_behind(Path(f"/proc/{pid}/fd/{descriptor}"))
        rows = (*_rows("/proc/self/net/udp"), *_rows("/proc/self/net/udp6"))
        if not now or any(inode == fields[9] for fields in rows):  # by UDP a look-up of a name sends nothing
            return
        if now & self._ports.get(port, set()):
            self.foreign[name] = ""
            return
        own: set[str] = set()
        for each in below([os.getpid()]):
            with suppress(OSError):
                own.update(_socket_behind(entry) for entry in Path(f"/proc/{each}/fd").iterdir())
        if now & own:
            self._own.add(port)
        else:
            self.foreign[name] = min(now)

    def _look_at_socket(self, pid: int, name: bytes) -> None:
        if name[:1] == b"\0":
            text = "@" + os.fsdecode(name[1:].rstrip(b"\0"))
            there = text in self._sockets
        else:
            text = os.fsdecode(name.split(b"\0", 1)[0])
            if not text.startswith("/"):
                text = os.path.normpath(f"{Path(f'/proc/{pid}/cwd').readlink()}/{text}")
            there = text in self._sockets and text.startswith(_SHARED_FOLDERS)
            # In a sandbox the same name leads elsewhere.
            there = there and os.path.samestat(Path(f"/proc/{pid}/root{text}").stat(), self._sockets[text])
        if there and text not in self._named:
            self.foreign[text] = ""


def watching(named: list[str], *, boxed: bool) -> ConnectWatch | None:
    """Have the kernel tell of each connect from here; None if it cannot. Only `boxed` this may cost rights."""
    abi = _ABI.get(os.uname().machine)
    if abi is None or sys.platform != "linux":
        return None
    try:
        ports = _listening()
    except OSError:
        return None  # the kernel does not tell of sockets
    machine, connect, seccomp = abi
    rules = ((_LOAD, 0, 0, 4), (_IF_EQUAL, 0, 3, machine), (_LOAD, 0, 0, 0), (_IF_EQUAL, 0, 1, connect))
    program = b"".join(struct.pack("HBBI", *rule) for rule in (*rules, (_RETURN, 0, 0, _ASK), (_RETURN, 0, 0, _ALLOW)))
    lines = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(lines))
    flags = _NEW_LISTENER | _SPEC_ALLOW
    descriptor = libc().syscall(seccomp, _SET_MODE_FILTER, flags, filter_)
    if descriptor < 0 and boxed and prctl(_NO_NEW_PRIVS, 1):
        descriptor = libc().syscall(seccomp, _SET_MODE_FILTER, flags, filter_)
    if descriptor < 0:
        return None
    os.set_inheritable(descriptor, False)
    return ConnectWatch(descriptor, named, ports)


def _listening() -> dict[int, set[str]]:
    ports: dict[int, set[str]] = {}
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCKET_DIAGNOSIS) as asked:
        for family in (socket.AF_INET, socket.AF_INET6):  # /proc/net/tcp takes a hundred times as long: 50 ms
            asked.send(_QUESTION.pack(_QUESTION.size, _BY_FAMILY, _DUMP, 1, 0, family, socket.IPPROTO_TCP, _LISTEN))
            for port, inode in _answers(asked):
                ports.setdefault(port, set()).add(str(inode))
    return ports


def _answers(asked: socket.socket) -> Iterator[tuple[int, int]]:
    """Yield port and inode of each socket that an answer of the kernel names (sock_diag(7))."""
    while data := asked.recv(_ANSWER_BYTES):
        while data:
            size, kind = _MESSAGE.unpack_from(data)
            if kind != _BY_FAMILY:
                return  # the end, or the kernel does not tell of sockets
            yield _PORT.unpack_from(data, _PORT_AT)[0], _INODE.unpack_from(data, _INODE_AT)[0]
            data = data[(size + 3) & ~3 :]


def _unix_listening() -> dict[str, os.stat_result]:
    """Return the Unix sockets at which somebody listens: by path, or by `@` and name those without a file."""
    sockets = {}
    for fields in _rows("/proc/self/net/unix"):
        if len(fields) >= _UNIX_FIELDS and int(fields[3], 16) & _UNIX_LISTENS:
            name = " ".join(fields[_UNIX_FIELDS - 1 :])
            with suppress(OSError):
                status = Path("/" if name.startswith("@") else name).stat()
                if name.startswith("@") or stat.S_ISSOCK(status.st_mode):
                    sockets[name] = status
    return sockets


def _socket_behind(entry: Path) -> str:
    try:
        return str(entry.readlink()).removeprefix("socket:[").removesuffix("]")
    except OSError:
        return ""


def _rows(path: str) -> list[list[str]]:
    try:
        lines = Path(path).read_text("utf-8", "surrogateescape").splitlines()[1:]
    except OSError:
        return []
    return [line.split() for line in lines]


def _is_here(family: int, host: str) -> bool:
    if host.removeprefix("::ffff:").startswith(("127.", "0.")) or host in ("::1", "::"):
        return True
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as trial:
            trial.bind((host, 0))
    except OSError:
        return False
    return True


def strangers(met: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the servers that are not the command's own, each with the process behind it, "" if unknown.

    One that came after the command had begun counts only if its process is seen, and no container's engine.
    """
    others = {}
    for name, inode in met:
        process = _listener(name)
        if inode and (process is None or process.name() in _PUBLISH):
            continue
        others[name] = _described(process)
    return others


def _listener(name: str) -> Any:
    import psutil

    port = name.rpartition(":")[2]
    try:
        for each in psutil.net_connections("tcp" if port.isdecimal() else "unix"):
            here = each.laddr.port == int(port) and each.status == "LISTEN" if port.isdecimal() else each.laddr == name
            if here and each.pid:
                return psutil.Process(each.pid)
    except (psutil.Error, OSError):
        pass
    return None


def _described(process: Any) -> str:
    import psutil

    try:
        return f"{process.name()}, pid {process.pid}, in {process.cwd()}" if process is not None else ""
    except psutil.Error:
        return ""
