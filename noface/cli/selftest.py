"""`noface selftest`: measure recovery with a worker that fails on purpose, against two simpler loops."""

import typer

from noface.cli.candidates import failure_kind
from noface.cli.verb import VerbResult, answers
from noface.errors import EXIT_DONE, EXIT_FAILURE, UsageError


@answers("The result as JSON.")
def selftest(
    kind: list[str] = typer.Option(
        [], "--kind", help="Only failures of this kind; may be given several times.", autocompletion=failure_kind
    ),
    baselines: bool = typer.Option(True, "--baselines/--no-baselines", help="Run the two simpler loops as well."),
    keep: bool = typer.Option(False, "--keep", help="Keep the projects, and say where they are."),
    workers: int = typer.Option(3, "--workers", "-w", min=1, max=16, help="Issues worked on at once, in each project."),
) -> VerbResult:
    """Provoke each kind of failure, and count what is recovered. No key, no network; about three minutes."""
    from noface.selftest.run import run_selftest
    from noface.selftest.scenario import catalogue
    from noface.ui.selftest import selftest_page

    kinds = tuple(dict.fromkeys(name.upper().replace("-", "_") for name in kind))
    unknown = [name for name in kinds if name not in catalogue()]
    if unknown:
        raise UsageError(
            f"--kind {unknown[0]}: there are no scenarios of this kind.", f"Known: {', '.join(catalogue())}."
        )
    document = run_selftest(kinds, baselines=baselines, keep=keep, workers=workers)
    return VerbResult(document, selftest_page, EXIT_DONE if document["ok"] else EXIT_FAILURE)
