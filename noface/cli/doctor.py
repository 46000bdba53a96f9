"""`noface doctor`: whether the machine, the project and the models are ready, and what to do where they are not."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import model_name
from noface.cli.verb import ConfigFile, VerbResult, answers
from noface.data.extras import extra
from noface.errors import EXIT_USAGE, ConfigError, NofaceError

if TYPE_CHECKING:
    from noface.config.sections import Config
    from noface.git.repository import Repository
    from noface.process.supervise import Launcher
    from noface.ui.doctor import Health, ModelFinding, Point


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
    from noface.ui.doctor import doctor_document, doctor_page

    health = _look(config, tuple(model), probe=probe)
    return VerbResult(doctor_document(health), lambda _, width: doctor_page(health, width), health.exit_code)


def _look(path: Path | None, wanted: tuple[str, ...], *, probe: bool) -> "Health":
    from noface.cli.probes.machine import machine, named, project
    from noface.process.masking import known_secrets
    from noface.process.supervise import Launcher
    from noface.ui.doctor import Health

    config, repository, findings = _project(path)
    error = next((each.text for each in findings if each.state == "bad"), "")
    machine_checks = machine(config)
    elsewhere = _elsewhere(config, repository) if config is not None and repository is not None else ()
    texts = {each.text for each in (*machine_checks, *elsewhere)}
    if config is not None:
        checks = named(config, None, Path.cwd(), texts) if repository is None else project(config, repository, texts)
        findings += (*checks, *elsewhere)
    given = [variable for each in config.models.values() for variable in each.env.items()] if config else []
    with Launcher(masker=known_secrets(given)) as launcher:
        models = _models(config, repository, wanted, launcher, probe=probe and not error)
    return Health(machine_checks, findings, models, error)


def _elsewhere(config: "Config", repository: "Repository") -> "tuple[Point, ...]":
    """Say how what lies on other machines is ready; nothing is looked at that the configuration does not use."""
    from noface.cli.probes.github import github_checks, remote_checks, wanted_of

    hosts = extra("hosts looked at")(config) if config.executor.hosts else ()
    wanted = wanted_of(config)
    if wanted is None:
        return hosts
    checks = github_checks(repository, wanted) if wanted.github else ()
    return (*hosts, *checks, *remote_checks(repository, wanted))


def _project(path: Path | None) -> "tuple[Config | None, Repository | None, tuple[Point, ...]]":
    """Return the configuration and the repository, as far as they can be had, and what is said of them."""
    from noface.config.load import find, load
    from noface.git.locate import locate
    from noface.git.repository import discover
    from noface.ui.doctor import Point, State
    from noface.ui.text import count

    findings: list[Point] = []
    config: Config | None = None
    repository: Repository | None = None
    root = Path.cwd()
    with suppress(NofaceError):
        root = locate(Path.cwd()).root
    try:
        config = load(root, path)
        config.require_gates()
        name = find(root, path).name
        ladder = ", then ".join(config.retry.models)
        findings.append(Point("config", State.OK, f"{name}: {count(len(config.gates), 'gate')}; models {ladder}"))
    except ConfigError as error:
        findings.append(Point("config", State.BAD, error.message, error.hint))
    try:
        repository = discover(root, config.project.main if config is not None else "")
        how = "becomes pull requests for" if config is not None and config.landing.by_pull_request else "lands on"
        findings.insert(0, Point("repository", State.OK, f"{root}, work {how} {repository.main_name}"))
    except NofaceError as error:
        findings.insert(0, Point("repository", State.BAD, error.message, error.hint, EXIT_USAGE))
    return config, repository, tuple(findings)


def _models(
    config: "Config | None",
    repository: "Repository | None",
    wanted: tuple[str, ...],
    launcher: "Launcher",
    *,
    probe: bool,
) -> "tuple[ModelFinding, ...]":
    from noface.cli.policy_records import model_specs
    from noface.cli.probes.models import model_findings, uses, with_probe, with_relations
    from noface.cli.probes.models import probe as ask
    from noface.config.load import parse
    from noface.config.problems import unknown_model

    known = config if config is not None else parse("", "noface.toml")
    specs = model_specs(known, repository.root if repository is not None else Path.cwd())
    missing = [name for name in wanted if name not in specs]
    if missing:
        raise unknown_model(missing[0], specs)
    chosen = {name: spec for name, spec in specs.items() if not wanted or name in wanted}
    used = {name: purposes for name, purposes in (uses(known) if config else {}).items() if name in chosen}
    used |= {name: ("asked for",) for name in wanted if name not in used}
    findings = model_findings(chosen, used, launcher)
    findings = with_relations(findings, config) if config is not None else findings
    if not (probe and config is not None and repository is not None):
        return findings
    startable = [each for each in findings if not any(problem.name == "program" for problem in each.problems)]
    asked = [
        each.name for each in startable if wanted or (each.used_by and each.spec.agent not in ("command", "scripted"))
    ]
    answers = ask({name: specs[name] for name in asked}, config, repository, launcher)
    return tuple(
        with_probe(each, specs[each.name], answers[each.name]) if each.name in answers else each for each in findings
    )
