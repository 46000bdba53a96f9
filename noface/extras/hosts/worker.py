"""A host at work: one process with a worker of dask.distributed, whose threads carry attempts out.

It has no nanny, which would start again what should stay dead, and it ends with whoever it works for: over ssh when its
standard input ends or falls silent, by hand on Ctrl-C, and in both cases when the scheduler has gone. Then its
attempts are cancelled, and nothing that they started is left.
"""

import asyncio
import json
import os
import select
import signal
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from noface.errors import HostError, NofaceError, UsageError
from noface.extras.hosts.certificates import TlsIdentity
from noface.extras.hosts.dask_settings import check_installed, log_to, use_settings
from noface.extras.hosts.handshake import LINE_BYTES_MAX, SILENCE_S, Invitation, held_port, parse_invitation
from noface.extras.hosts.hello import hello
from noface.process.namespace import hide_memory

if TYPE_CHECKING:
    from distributed import Worker

LOG_NAME = "worker.log"
HOST_FOLDER = "NOFACE_HOST_FOLDER"
"""The variable that says where a host keeps what it does."""
HOST_KEY = "NOFACE_HOST_KEY"
"""The variable that says in which file a host's key is, if it is in one: no box shows that."""
INVITED_S = 60.0
_CONNECT_S = 20.0
_END_S = 60.0
_CLOSE_S = 3.0
_TICK_S = 0.2


def host_folder() -> Path:
    return Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "noface" / "host"


class EndRequest:
    """Why the worker is to end; the first reason counts."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self.why = ""

    def ask(self, why: str) -> None:
        if not self._asked.is_set():
            self.why = why
            self._asked.set()

    def asked(self) -> bool:
        return self._asked.is_set()


def over_ssh(folder: Path, prepare: Callable[[], object]) -> int:
    """Serve the home that has started this process through ssh, until its standard input ends; return an exit code."""
    hide_memory()
    say = _take_output()
    stop = EndRequest()
    _on_signals(stop)
    try:
        with held_port() as held:
            port = int(held.getsockname()[1])
            say(hello(folder, port)._asdict())
            check_installed()
            import distributed  # noqa: F401 - while home reads the hello

            lines = HomeLines(stop)
            invited = lines.invitation(INVITED_S)
            if invited is None:
                raise HostError("home has not invited this host.", "It is `noface run` that starts this over ssh.")
            lines.watch()
            threading.Thread(target=prepare, name="imports", daemon=True).start()
            serve(invited, port, folder, stop, lambda: say({"joined": True}))
    except NofaceError as error:
        with suppress(OSError):
            say({"error": error.reason})
        return error.exit_code
    with suppress(OSError):
        say({"ended": stop.why})
    return 0


def by_hand(invited: Invitation, folder: Path, joined: Callable[[], object]) -> str:
    """Serve a standing cluster until a signal ends it; return why it has ended. Raises HostError."""
    hide_memory()
    stop = EndRequest()
    _on_signals(stop)
    serve(invited, 0, folder, stop, joined)
    return stop.why


def serve(invited: Invitation, port: int, folder: Path, stop: EndRequest, joined: Callable[[], object]) -> None:
    """Join, carry out what comes until `stop` is asked or the scheduler has gone, and leave nothing running."""
    from distributed import Worker

    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        log_to(folder / LOG_NAME)
    except OSError as error:
        hint = "Let yourself write there, or give --folder."
        raise HostError(f"{folder} cannot be used: {error.strerror}.", hint) from error
    use_settings()
    identity = TlsIdentity(invited.ca, invited.cert, invited.key)
    reach(invited.scheduler, identity)
    make = partial(
        Worker,
        invited.scheduler,
        nthreads=invited.attempts,
        name=invited.name,
        host="127.0.0.1" if port else None,
        port=port,
        contact_address=invited.contact,
        security=identity.security(),
        local_directory=str(folder),
        memory_limit=0,
        dashboard=False,
    )
    asyncio.run(_serve(make, stop, joined))


async def _serve(make: "Callable[[], Worker]", stop: EndRequest, joined: Callable[[], object]) -> None:
    from distributed import Status

    worker = make()  # here, since it takes the loop that runs
    starting = asyncio.ensure_future(worker.start())
    try:
        either = [starting, asyncio.ensure_future(_until(stop.asked))]
        await asyncio.wait(either, timeout=_CONNECT_S, return_when=asyncio.FIRST_COMPLETED)
        if stop.asked():
            return
        if not starting.done():
            raise HostError("the scheduler does not answer", _HINT_SCHEDULER)
        if (error := starting.exception()) is not None:
            raise HostError(f"the worker cannot join: {error.__cause__ or error}", _HINT_LOG) from error
        joined()
        await _until(lambda: stop.asked() or worker.status not in (Status.running, Status.paused))
        if not stop.asked():
            raise HostError("the scheduler has gone", _HINT_LOG)
    finally:
        starting.cancel()
        await _end(worker)


async def _until(holds: Callable[[], object]) -> None:
    while not holds():  # noqa: ASYNC110 - other threads bring it about
        await asyncio.sleep(_TICK_S)


_HINT_SCHEDULER = "Is it running, and is its address reachable from this machine?"
_HINT_LOG = f"More stands in {LOG_NAME} in the folder of the host."


async def _end(worker: "Worker") -> None:
    from noface.extras.hosts.host import end_all

    # Whatever hangs, this process ends: what watches over its programs ends them with it.
    last = threading.Timer(_END_S + 2 * _CLOSE_S, os._exit, args=(1,))
    last.daemon = True
    last.start()
    await asyncio.to_thread(end_all)
    with suppress(TimeoutError):
        await asyncio.wait_for(_until(lambda: not worker.active_threads), _END_S)
    with suppress(Exception):
        await asyncio.wait_for(worker.close(timeout=_CLOSE_S, executor_wait=False), _CLOSE_S)
    last.cancel()


class HomeLines:
    """What home sends through ssh: an invitation, then beats. `ended`: it has closed its end."""

    def __init__(self, stop: EndRequest) -> None:
        self.ended = False
        self._stop = stop

    def invitation(self, seconds: float) -> Invitation | None:
        """Wait for the invitation; None if home has gone, or says something else."""
        deadline, read = time.monotonic() + seconds, b""
        while b"\n" not in read and len(read) < LINE_BYTES_MAX and not self._stop.asked():
            piece = self._piece(min(_TICK_S, deadline - time.monotonic()))
            if self.ended or time.monotonic() > deadline:
                return None
            read += piece
        return parse_invitation(read)

    def watch(self) -> None:
        threading.Thread(target=self._watch, name="beats from home", daemon=True).start()

    def _watch(self) -> None:
        heard = time.monotonic()
        while not self._stop.asked():
            if self._piece(_TICK_S):
                heard = time.monotonic()
            elif self.ended:
                self._stop.ask("home has closed the connection")
            elif time.monotonic() > heard + SILENCE_S:
                self._stop.ask(f"home was silent for {SILENCE_S:.0f} s")

    def _piece(self, seconds: float) -> bytes:
        ready, _, _ = select.select([0], [], [], max(0.0, seconds))
        if not ready:
            return b""
        try:
            piece = os.read(0, LINE_BYTES_MAX)
        except OSError:
            piece = b""
        self.ended = self.ended or not piece
        return piece


def reach(address: str, identity: TlsIdentity) -> None:
    """Speak with a scheduler once, so that what is wrong is told clearly; dask.distributed tries again in silence."""
    try:
        parts = urlsplit(address)
        name, port = parts.hostname, parts.port
    except ValueError:
        name, port, parts = None, None, urlsplit("")
    if parts.scheme != "tls" or not name or not port:
        raise UsageError(f"{address} is no address of a scheduler.", "It looks like tls://192.0.2.7:8786.")
    try:
        context = identity.security().get_connection_args("worker")["ssl_context"]
    except (OSError, ValueError) as error:
        raise HostError("what this host was given to prove itself with is no certificate and key") from error
    try:
        with socket.create_connection((name, port), _CONNECT_S) as plain, context.wrap_socket(plain) as secure:
            secure.settimeout(1.0)
            with suppress(TimeoutError):  # a refusal comes at once
                secure.recv(1)
    except ssl.SSLError as error:
        hint = "All members of a cluster need certificates of one authority, and machines whose clocks are right."
        raise HostError(f"{address} and this machine do not trust each other: {error.reason or error}", hint) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise HostError(f"the scheduler at {address} cannot be reached: {reason}", _HINT_SCHEDULER) from error


def _take_output() -> Callable[[dict[str, object]], None]:
    """Keep standard output for what is said to home: whatever else prints there, prints to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)

    def say(value: dict[str, object]) -> None:
        os.write(kept, json.dumps(value).encode() + b"\n")

    return say


def _on_signals(stop: EndRequest) -> None:
    def hear(number: int, _: object) -> None:
        if stop.asked():
            os._exit(128 + number)  # asked twice: what watches over the programs ends them
        stop.ask(f"it was asked to ({signal.Signals(number).name})")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, hear)
