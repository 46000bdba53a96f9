"""Stands for ssh where there is no sshd: runs the command here, and forwards ports as ssh does when it is asked to."""

import os
import socket
import subprocess
import sys
import threading


def relay(listener: socket.socket, port: int) -> None:
    while True:
        near, _ = listener.accept()
        far = socket.create_connection(("127.0.0.1", port))
        for source, target in ((near, far), (far, near)):
            threading.Thread(target=pump, args=(source, target), daemon=True).start()


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(1 << 16):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(control: socket.socket) -> None:
    while True:
        asker, _ = control.accept()
        with asker:
            kind, near, far = asker.recv(1000).decode().split()
            listener = socket.create_server(("127.0.0.1", int(near)))
            threading.Thread(target=relay, args=(listener, int(far)), daemon=True).start()
            asker.sendall(f"{listener.getsockname()[1]}\n".encode() if kind == "-R" else b"\n")


arguments = sys.argv[1:]
path = next(word.partition("=")[2] for word in arguments if word.startswith("-oControlPath="))
words = arguments[arguments.index("--") + 1 :]
if "-O" in arguments:
    kind = "-R" if "-R" in arguments else "-L"
    _, near, _, far = arguments[arguments.index(kind) + 1].split(":")
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(path)
        asking.sendall(f"{kind} {near} {far}".encode())
        sys.stdout.write(asking.recv(100).decode().strip())
else:
    with socket.socket(socket.AF_UNIX) as control:
        control.bind(path)
        control.listen()
        threading.Thread(target=serve, args=(control,), daemon=True).start()
        code = subprocess.run(["/bin/sh", "-c", " ".join(words[1:])], check=False).returncode
    sys.stdout.flush()
    os._exit(255 if code < 0 else code)
