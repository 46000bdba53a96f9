"""A PID namespace around a command, so that nothing it starts can outlive it or reach what watches over it.

In it the supervisor is process 1: the kernel kills everything when it ends, and nothing inside sees or signals what is
outside. Root makes one as it is; an ordinary user needs a user namespace, in which setuid programs do not work.
"""

import ctypes
import os
import signal
import sys
from pathlib import Path

from noface.process.process_tree import libc, prctl

SET_PDEATHSIG = 1
SET_DUMPABLE = 4

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MS_REC, _MS_SLAVE = 0x4000, 0x80000


def hide_memory() -> None:
    """Keep other processes of this user from reading the memory and environment of this one, and of forks of it."""
    prctl(SET_DUMPABLE, 0)


def available() -> bool:
    """Try whether a PID namespace with a /proc of its own can be made here; containers often forbid it."""
    if sys.platform != "linux":
        return False
    _ = libc().unshare, libc().mount
    pid = os.fork()
    if pid == 0:
        try:
            _enter()
            inner = os.fork()
            if inner == 0:
                _mount_proc()
                os._exit(0 if os.getpid() == 1 else 1)
            os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) & 0xFF)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def become_init(*inherited: int) -> None:
    """Go on as process 1 of a new PID namespace; returns there, and there only.

    The calling process stays outside, without the descriptors `inherited`, until the namespace has ended, and ends
    then; if it is killed, the namespace ends with it. Raises OSError if `available` would have been False.
    """
    _enter()
    pid = os.fork()
    if pid == 0:
        prctl(SET_PDEATHSIG, signal.SIGKILL)
        _mount_proc()
        return
    # Held open here, too, they would keep noface from seeing the supervisor's end.
    for descriptor in inherited:
        os.close(descriptor)
    while True:
        reaped, _ = os.waitpid(-1, 0)
        if reaped == pid:
            os._exit(0)


def _enter() -> None:
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        _check(libc().unshare(_CLONE_NEWPID | _CLONE_NEWNS))
    else:
        prctl(SET_DUMPABLE, 1)  # else these files belong to root
        _check(libc().unshare(_CLONE_NEWUSER | _CLONE_NEWPID | _CLONE_NEWNS))
        # Who has no privileges may map a group only once setgroups(2) is given up (user_namespaces(7)).
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        hide_memory()
    # Slave: what is mounted inside stays inside, and the machine's own mounts still come in.
    _check(libc().mount(b"none", b"/", None, _MS_REC | _MS_SLAVE, None))


def _mount_proc() -> None:
    _check(libc().mount(b"proc", b"/proc", b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
