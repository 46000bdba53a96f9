"""`noface board`: the pages of what is under way, on this machine alone, and the terminal that lets a person in."""

import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from noface.cli.verb import ConfigFile
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.extras.board.guard import Sessions

_PR_SET_DUMPABLE = 4
_NEEDS = ("starlette", "uvicorn", "sse_starlette")
_PORT_MAX = 65_535


def board(
    port: int = typer.Option(0, "--port", min=0, max=_PORT_MAX, help="The port; without, one that is free."),
    read_only: bool = typer.Option(False, "--read-only", help="Show everything, and decide nothing."),
    open_browser: bool = typer.Option(False, "--open", help="Open a browser, where you type the code."),
    config: ConfigFile = None,
) -> None:
    """Show the board in a browser on this machine: look, and decide. Ctrl-C ends it; a run goes on."""
    lacking = [name for name in _NEEDS if find_spec(name) is None]
    if lacking:
        from noface.process.installation import bringing

        raise UsageError(f"noface board needs {', '.join(lacking)}", f"Install it: `{bringing('board')}`.")
    with _terminal() as terminal, _listening(port) as listening:
        _hide()
        _serve(terminal, listening, config, read_only=read_only, open_browser=open_browser)


def _hide() -> None:
    """Keep other processes of this user out of the memory, where tokens and sessions are (prctl(2), proc(5))."""
    from noface.process.process_tree import prctl

    prctl(_PR_SET_DUMPABLE, 0)


@contextmanager
def _terminal() -> Iterator[TextIO]:
    """Open the terminal itself: what goes to standard output may be a file, and agents read files."""
    try:
        file = open("/dev/tty", "w", encoding="utf-8", errors="replace")  # noqa: PTH123, SIM115 - closed below
    except OSError:
        raise UsageError(
            "noface board shows its address in a terminal only, and there is none here",
            "Start it in a terminal; from another machine: ssh -t -L 8000:127.0.0.1:8000 HOST noface board --port 8000",
        ) from None
    with file:
        yield file


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    from noface.extras.board.guard import LOOPBACK

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as made:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((LOOPBACK, port))
            made.listen(128)
        except OSError as error:
            hint = "Give another one with --port, or none: then one that is free is taken."
            raise UsageError(f"port {port} cannot be had: {error.strerror}", hint) from None
        yield made


def _serve(
    terminal: TextIO, listening: socket.socket, config: Path | None, *, read_only: bool, open_browser: bool
) -> None:
    import asyncio

    import uvicorn

    from noface.extras.board.app import Board
    from noface.extras.board.guard import LOOPBACK
    from noface.extras.board.pages import Pages

    with _opened(config) as session:  # what is wrong is said before anything is served
        title, folder = session.location.root.name, session.location.state_dir
    port = int(listening.getsockname()[1])
    address = f"http://{LOOPBACK}:{port}/"

    def tell(text: str) -> None:
        with suppress(OSError):  # the terminal was closed; who is in stays in
            terminal.write(f"{text}\n")
            terminal.flush()

    made = Board(lambda: _opened(config), Pages(title, read_only=read_only), port, folder, tell, read_only=read_only)
    # No log of requests: an address can hold a token, and a log is a file that somebody keeps.
    settings = uvicorn.Config(
        made.app,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=1,
        timeout_keep_alive=30,
    )

    async def serve() -> None:
        tell(f"The board of {title}{', read-only' if read_only else ''}. Ctrl-C ends it.")
        _show_address(tell, made.sessions, address)
        _hear(lambda: _show_address(tell, made.sessions, address), tell)
        if open_browser:
            _open(address, tell)
        await uvicorn.Server(settings).serve([listening])

    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        tell("The board has ended.")


def _show_address(tell: Callable[[str], None], sessions: "Sessions", address: str) -> None:
    from noface.extras.board.guard import TOKEN_S

    token = sessions.token(time.time())
    tell(f"Open, once and within {TOKEN_S / 60:.0f} minutes: {address}enter?token={token}")


def _hear(again: Callable[[], None], tell: Callable[[str], None]) -> None:
    import asyncio

    if not sys.stdin.isatty():
        return
    number = sys.stdin.fileno()

    def pressed() -> None:
        if os.tcgetpgrp(number) != os.getpgrp():
            return  # it works in the background: to read would stop it
        if os.read(number, 4096):
            again()
        else:
            asyncio.get_running_loop().remove_reader(number)

    asyncio.get_running_loop().add_reader(number, pressed)
    tell("Enter shows another address, for another browser.")


def _open(address: str, tell: Callable[[str], None]) -> None:
    """Open a browser at the way in, without the token: everybody reads another program's command line."""
    import webbrowser

    if sys.platform != "darwin" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        tell("There is no screen to open a browser on.")
    elif not webbrowser.open(address):
        tell("No browser could be opened.")
    else:
        tell("The browser asks for the code: what stands behind token= in the address.")


@contextmanager
def _opened(config: Path | None) -> "Iterator[ReadSession]":
    from noface.cli.session import open_session

    session = open_session(config)
    try:
        yield session
    finally:
        session.database.close()
