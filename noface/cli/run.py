"""`noface run`: work through the backlog."""

from pathlib import Path

import typer


def run(
    issue: list[str] = typer.Option([], "--issue", "-i", help="Only this issue; may be given several times."),
    once: bool = typer.Option(False, "--once", help="Start what is ready now, settle it, and end."),
    max_iterations: int | None = typer.Option(None, "--max-iterations", min=0, help="Start at most so many attempts."),
    max_cost: float | None = typer.Option(None, "--max-cost", min=0, help="Spend at most so many dollars."),
    max_tokens: int | None = typer.Option(None, "--max-tokens", min=0, help="Use at most so many tokens."),
    workers: int | None = typer.Option(None, "--workers", "-w", min=1, max=64, help="Issues worked on at once."),
    model: str | None = typer.Option(None, "--model", "-m", help="The model of the first attempts."),
    allow_red: bool = typer.Option(False, "--allow-red", help="Let main's own failures not count in this run."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show what would start and why; change nothing."),
    json: bool = typer.Option(False, "--json", help="One event a line, as JSON."),
    config: Path | None = typer.Option(None, "--config", help="The configuration, where it is not noface.toml."),
) -> None:
    """Give each issue to a worker, prove the result, merge to main what passes."""
    from noface.cli.run_session import run_project, show_plan
    from noface.cli.wiring import RunOptions

    options = RunOptions(workers, model, max_iterations, max_cost, tuple(issue), once, allow_red, max_tokens)
    if not dry_run:
        raise typer.Exit(run_project(Path.cwd(), config, options, as_json=json))
    show_plan(Path.cwd(), config, options, as_json=json)
