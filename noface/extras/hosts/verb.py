"""`noface tools worker`: carry attempts out for a noface that runs on another machine."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.verb import VerbResult, answers
from noface.errors import EXIT_ATTENTION, EXIT_DONE, UsageError

if TYPE_CHECKING:
    from noface.extras.hosts.hello import Hello
    from noface.ui.doctor import Point


@answers("With --check: as JSON.")
def worker(
    over_ssh: bool = typer.Option(False, "--over-ssh", help="Serve the noface that calls through ssh: it gives this."),
    check: bool = typer.Option(False, "--check", help="Only say what this machine has for attempts."),
    scheduler: str = typer.Option("", "--scheduler", metavar="URL", help="Join the cluster of this dask scheduler."),
    ca: Path | None = typer.Option(None, "--ca", help="The certificate of the cluster's authority."),
    cert: Path | None = typer.Option(None, "--cert", help="The certificate of this host."),
    key: Path | None = typer.Option(None, "--key", help="The key of that certificate."),
    attempts: int = typer.Option(1, "--attempts", min=1, max=1000, help="So many attempts at once."),
    name: str = typer.Option("", "--name", help="What this host is called; its host name if left out."),
    folder: Path | None = typer.Option(
        None, "--folder", help="For what it does; ~/.local/state/noface/host if left out."
    ),
) -> VerbResult | None:
    """Work for a noface on another machine.

    `noface run` starts it itself on the hosts of [executor]; by hand it joins a standing cluster until Ctrl-C.
    """
    from noface.extras.hosts.worker import HOST_FOLDER, HOST_KEY, by_hand, host_folder
    from noface.extras.hosts.worker import over_ssh as serve_over_ssh

    place = (folder or host_folder()).expanduser().absolute()
    os.environ[HOST_FOLDER] = str(place)
    ways = sum((over_ssh, check, bool(scheduler)))
    if ways != 1:
        raise UsageError(
            "noface tools worker does one thing at a time." if ways else "noface tools worker has nobody to work for.",
            "Give --scheduler with --ca, --cert and --key; --check; or --over-ssh, which is for noface itself.",
        )
    if check:
        from noface.extras.hosts.hello import hello
        from noface.ui.doctor import State, check_rows

        document = hello(place)
        points = _points(document)
        bad = any(each.state is State.BAD for each in points)
        return VerbResult(document, lambda _, width: check_rows(points, width), EXIT_ATTENTION if bad else EXIT_DONE)
    if over_ssh:
        from importlib import import_module

        raise typer.Exit(serve_over_ssh(place, lambda: import_module("noface.extras.hosts.calls")))
    if ca is None or cert is None or key is None:
        missing = [f"--{option}" for option, path in (("ca", ca), ("cert", cert), ("key", key)) if path is None]
        verb = "is" if len(missing) == 1 else "are"
        raise UsageError(f"{', '.join(missing)} {verb} missing.", "A cluster is joined with TLS only: docs/hosts.md.")
    from socket import gethostname

    from noface.extras.hosts.certificates import read_identity
    from noface.extras.hosts.dask_settings import check_installed
    from noface.extras.hosts.handshake import Invitation

    check_installed()
    identity = read_identity(ca, cert, key)
    os.environ[HOST_KEY] = str(key.absolute())
    called = name or gethostname()
    invited = Invitation(scheduler, None, called, attempts, identity.ca, identity.certificate, identity.key)
    line = f"{called} works for {scheduler}, {attempts} at once. Its log is in {place}. Ctrl-C ends it."
    why = by_hand(invited, place, lambda: typer.echo(line))
    typer.echo(f"{called} has ended: {why}.")
    return None


def _points(host: "Hello") -> "tuple[Point, ...]":
    from noface.process.installation import bringing
    from noface.ui.doctor import Point, State
    from noface.ui.text import count, size

    bring = f"`{bringing('cluster')}`"
    return (
        Point("noface", State.OK, f"{host.noface} ({host.code}) with Python {host.python}"),
        Point("dask", State.OK, f"distributed {host.distributed}")
        if host.distributed
        else Point("dask", State.BAD, "the extra `cluster` is not installed", f"Install it: {bring}."),
        Point("git", State.OK, host.git)
        if host.git
        else Point("git", State.BAD, "there is none that noface can work with", "Install git 2.38 or newer."),
        Point("machine", State.OK, f"{count(host.cores, 'core')}, {size(host.memory_bytes)} of memory"),
        Point("disk", State.OK, f"{size(host.disk_free_bytes)} free"),
        Point("sandbox", State.OK if host.boxed else State.NOTE, host.sandbox),
        Point("agents", State.OK, ", ".join(host.agents))
        if host.agents
        else Point(
            "agents", State.NOTE, "none is on PATH", "Install the agent that this host is to run, and log it in."
        ),
    )
