"""`noface doctor`: whether the machine, the project and the models are ready, and what to do where they are not."""

import typer

from noface.cli.candidates import model_name
from noface.cli.verb import ConfigFile, VerbResult, answers


@answers()
def doctor(
    probe: bool = typer.Option(False, "--probe", help="Send a cheap prompt through the models in use."),
    model: list[str] = typer.Option(
        [], "--model", "-m", help="Only this model; may be given several times.", autocompletion=model_name
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Check programs, logins, disk space and configuration.

    Exit code 0: all that a run needs is there; 2: `noface run` would not start; 3: something else needs you.
    """
    from noface.cli.probes.health import look
    from noface.ui.doctor import doctor_page

    health = look(config, tuple(model), probe=probe)
    return VerbResult(health, doctor_page, health.exit_code)
