"""`noface run`: work through the backlog; `noface pause` and `resume`: have it rest, and go on."""

from contextlib import nullcontext
from math import inf
from pathlib import Path

import typer

from noface.cli.candidates import any_issue, model_name
from noface.cli.verb import ConfigFile, VerbResult, answers, tell
from noface.data.extras import extra
from noface.errors import UsageError


def run(
    issue: list[str] = typer.Option(
        [], "--issue", "-i", help="Only this issue; may be given several times.", autocompletion=any_issue
    ),
    once: bool = typer.Option(False, "--once", help="Start what is ready now, settle it, and end."),
    max_iterations: int | None = typer.Option(
        None, "--max-iterations", min=0, help="Start at most this many attempts."
    ),
    max_cost: float | None = typer.Option(None, "--max-cost", min=0, help="Spend at most this many dollars."),
    max_tokens: int | None = typer.Option(None, "--max-tokens", min=0, help="Use at most this many tokens."),
    until: str = typer.Option("", "--until", metavar="TIME", help="Start nothing more after this time, such as 07:00."),
    watch: bool = typer.Option(False, "--watch", help="Wait for new issues instead of ending."),
    awake: bool = typer.Option(False, "--awake", help="Keep the machine from falling asleep meanwhile."),
    workers: int | None = typer.Option(None, "--workers", "-w", min=1, max=64, help="Issues worked on at once."),
    model: str | None = typer.Option(
        None, "--model", "-m", help="The model of the first attempts.", autocompletion=model_name
    ),
    allow_red: bool = typer.Option(False, "--allow-red", help="Accept tests that fail on main already, in this run."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show what would start and why; change nothing."),
    json: bool = typer.Option(False, "--json", help="One event a line, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration file, if it is not noface.toml."),
) -> None:
    """Give each issue to a worker, and merge what the gates prove."""
    from noface.cli.run_session import plan, run_project
    from noface.cli.wiring import RunOptions

    if watch and once:
        raise UsageError("--watch waits for new issues, and --once for nothing", "Give one of them.")
    options = RunOptions(
        workers, model, max_iterations, max_cost, tuple(issue), once, allow_red, max_tokens, until, watch
    )
    if not dry_run:
        with extra("awake")() if awake else nullcontext("") as problem:
            if problem:
                typer.echo(f"The machine may fall asleep: {problem}", err=True)
            raise typer.Exit(run_project(Path.cwd(), config, options, as_json=json))
    tell(plan(Path.cwd(), config, options), as_json=json)


@answers("What was done, as JSON.")
def pause(config: ConfigFile = None) -> VerbResult:
    """Have the run at work start nothing more."""
    return _set(config, paused=True)


@answers("What was done, as JSON.")
def resume(
    overage: float | None = typer.Option(
        None, "--overage", metavar="USD", help="Let it spend so much beyond windows that are used up."
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Have a paused run go on."""
    if overage is not None and not 0 <= overage < inf:
        raise UsageError("--overage takes US dollars from 0 up", "Write: noface resume --overage 5")
    return _set(config, paused=False, overage=overage)


def _set(config: ConfigFile, *, paused: bool, overage: float | None = None) -> VerbResult:
    import time

    from noface.cli.session import open_session
    from noface.store.decisions import pause as set_paused

    session = open_session(config)
    set_paused(time.time(), session.journal, session.reader, paused=paused, overage_usd=overage)
    line = "It starts nothing more; `noface resume` has it go on." if paused else "It goes on."
    if overage is None:
        return VerbResult({"paused": paused}, lambda _document, _width: [line])
    line = f"It goes on, and spends at most ${overage:.2f} beyond windows that are used up."
    return VerbResult({"paused": paused, "overage_usd": overage}, lambda _document, _width: [line])
