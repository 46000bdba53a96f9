"""A link that carries so many bytes a second each way: listens at PORT of ADDRESS, leads to TARGET there."""

import socket
import sys
import threading
import time


def pump(source: socket.socket, target: socket.socket, rate: int) -> None:
    due = time.monotonic()
    try:
        while piece := source.recv(1400):
            due = max(due, time.monotonic()) + len(piece) / rate
            time.sleep(max(0.0, due - time.monotonic()))
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


address, port, target, rate = sys.argv[1], *map(int, sys.argv[2:5])
with socket.socket() as listener:
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 17)  # the queue of a modem
    listener.bind((address, port))
    listener.listen()
    print("ready", flush=True)
    while True:
        near, _ = listener.accept()
        far = socket.create_connection((address, target))
        for ends in ((near, far), (far, near)):
            threading.Thread(target=pump, args=(*ends, rate), daemon=True).start()
