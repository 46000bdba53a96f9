"""Whose the servers are that a command has connected to, as far as the system tells.

A supervisor may see no process outside its own namespace; this is asked in noface itself.
"""

from typing import Any

_PUBLISH = frozenset(("docker-proxy", "dockerd", "rootlesskit", "rootlessport", "containerd-shim-runc-v2", "conmon"))
"""Programs that listen on behalf of containers, which a command may have started and which are not below it."""


def strangers(met: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the servers, by name, that are not the command's own, each with the process behind it, "" if unknown.

    `met` is what `ConnectWatch` tells. One that came after the command had begun counts only if its process is seen: it
    may publish a port of the command's own containers.
    """
    others = {}
    for name, socket in met:
        process = _listener(name)
        if process is None and socket:
            continue
        if process is not None and socket and process.name() in _PUBLISH:
            continue
        others[name] = _described(process)
    return others


def _listener(name: str) -> Any:
    import psutil

    port = name.rpartition(":")[2]
    try:
        open_now = psutil.net_connections("tcp" if port.isdecimal() else "unix")
        for each in open_now:
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
