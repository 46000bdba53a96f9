"""All that `noface doctor` looks at."""

from contextlib import suppress
from pathlib import Path

from noface.cli.connections import talks_to_github
from noface.cli.policy_records import model_specs
from noface.cli.probes.github import github_checks, remote_checks
from noface.cli.probes.machine import machine, named, project
from noface.cli.probes.models import model_findings, probed, uses
from noface.config.load import find, load, parse
from noface.config.problems import unknown_model
from noface.config.sections import Config
from noface.data.extras import extra
from noface.errors import EXIT_USAGE, ConfigError, NofaceError
from noface.git.locate import locate
from noface.git.repository import Repository, discover
from noface.process.masking import known_secrets
from noface.process.supervise import Launcher
from noface.ui.doctor import Health, ModelFinding, Point, State
from noface.ui.text import count


def look(path: Path | None, wanted: tuple[str, ...], *, probe: bool) -> Health:
    """Look at the machine, the project around the current folder, and its models, or those that are `wanted`."""
    config, repository, findings = _project(path)
    error = next((each.text for each in findings if each.state is State.BAD), "")
    machine_checks = machine(config)
    elsewhere: tuple[Point, ...] = ()
    if config is not None and repository is not None:  # nothing is looked at that the configuration does not use
        hosts = extra("hosts looked at")(config) if config.executor.hosts else ()
        github = talks_to_github(config)
        remote = remote_checks(repository, config) if github or config.landing.push else ()
        elsewhere = (*hosts, *(github_checks(repository, config) if github else ()), *remote)
    texts = {each.text for each in (*machine_checks, *elsewhere)}
    if config is not None:
        checks = named(config, None, Path.cwd(), texts) if repository is None else project(config, repository, texts)
        findings += (*checks, *elsewhere)
    given = [variable for each in config.models.values() for variable in each.env.items()] if config else []
    with Launcher(masker=known_secrets(given)) as launcher:
        models = _models(config, repository, wanted, launcher, probe=probe and not error)
    return Health(machine_checks, findings, models, error)


def _project(path: Path | None) -> tuple[Config | None, Repository | None, tuple[Point, ...]]:
    config: Config | None = None
    repository: Repository | None = None
    root = Path.cwd()
    with suppress(NofaceError):
        root = locate(Path.cwd()).root
    try:
        config = load(root, path)
        config.require_gates()
        ladder = ", then ".join(config.retry.models)
        text = f"{find(root, path).name}: {count(len(config.gates), 'gate')}; models {ladder}"
        configured = Point("config", State.OK, text)
    except ConfigError as error:
        configured = Point("config", State.BAD, error.message, error.hint)
    try:
        repository = discover(root, config.project.main if config is not None else "")
        how = "becomes pull requests for" if config is not None and config.landing.by_pull_request else "lands on"
        found = Point("repository", State.OK, f"{root}, work {how} {repository.main_name}")
    except NofaceError as error:
        found = Point("repository", State.BAD, error.message, error.hint, EXIT_USAGE)
    return config, repository, (found, configured)


def _models(
    config: Config | None, repository: Repository | None, wanted: tuple[str, ...], launcher: Launcher, *, probe: bool
) -> tuple[ModelFinding, ...]:
    known = config if config is not None else parse("", "noface.toml")
    specs = model_specs(known, repository.root if repository is not None else Path.cwd())
    if missing := [name for name in wanted if name not in specs]:
        raise unknown_model(missing[0], specs)
    chosen = {name: spec for name, spec in specs.items() if not wanted or name in wanted}
    used = {name: purposes for name, purposes in (uses(known) if config else {}).items() if name in chosen}
    used |= {name: ("asked for",) for name in wanted if name not in used}
    findings = model_findings(chosen, used, config, launcher)
    if not (probe and config is not None and repository is not None):
        return findings
    asked = (each for each in findings if each.used_by and (wanted or each.agent not in ("command", "scripted")))
    names = [each.name for each in asked if not any(problem.name == "program" for problem in each.problems)]
    return probed(findings, {name: specs[name] for name in names}, config, repository, launcher)
