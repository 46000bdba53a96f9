"""What `config check`, `doctor` and `run --dry-run` find before a run: each check once, and in the same words."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from noface.attempt.isolation import home_of
from noface.cli.policy_records import model_specs, policy
from noface.cli.wiring import RunOptions, bubblewrap_for, gate_specs, sandbox_rules, settings, slots_dir
from noface.config.sections import Config
from noface.data import table
from noface.data.extras import extra
from noface.data.trackers import TRACKERS
from noface.engine.readiness import (
    box_findings,
    checkout_findings,
    gate_findings,
    model_findings,
    price_findings,
    spare_models,
)
from noface.errors import EXIT_ATTENTION, EXIT_DONE, NofaceError, UsageError
from noface.git.checkout import PersonsCheckout, accept_faults
from noface.git.locate import locate
from noface.git.plumbing import Plumbing
from noface.git.repository import Repository, discover
from noface.integrity.accepting import notes_on
from noface.model.backlog import without_unknown_models
from noface.model.finding import Finding, refused
from noface.model.issue import Backlog, Issue
from noface.model.listed import IssueFault
from noface.process.home_places import below, is_closed
from noface.process.memory import memory_problem
from noface.store.database import Database
from noface.store.reader import Reader
from noface.trackers.base import open_tracker


def check_workspaces(folder: Path, root: Path) -> None:
    """Raise UsageError if workspaces may not lie in `folder`."""
    if folder.resolve().is_relative_to(root.resolve()):
        raise UsageError(
            f"[run] slots_dir puts the workspaces into the repository: {folder}.",
            "Tools in a workspace would find your checkout above it. Name a folder outside it, or remove slots_dir.",
        )


def repository_of(start: Path, config: Config) -> tuple[Repository | None, tuple[Finding, ...]]:
    try:
        return discover(start, config.project.main), ()
    except UsageError as error:
        return None, (refused(error),)


def config_findings(config: Config, repository: Repository | None, root: Path) -> tuple[Finding, ...]:
    named = (*_refusals(config, repository), *_programs(config, repository, root))
    return (*named, *idle_findings(config, root), *_messages(config, root), *_elsewhere(config, repository))


def _messages(config: Config, root: Path) -> Iterator[Finding]:
    try:
        if config.notify.tells:
            extra("notifier")(config, root)
    except UsageError as error:
        yield refused(error)
    if not all(each.strip().startswith("$") for each in (*config.notify.urls, *config.notify.answers)):
        fix = "Write it as $NAME, a variable that is set where noface is started."
        yield Finding(
            "[notify]", "agents read noface.toml, and an address that is a secret stands there", fix, EXIT_DONE
        )


def left_out(config: Config, root: Path) -> Iterator[Finding]:
    spare = spare_models(policy(config))
    yield from model_findings(model_specs(config, root), spare, spare)


def idle_findings(config: Config, root: Path) -> Iterator[Finding]:
    """Yield what holds nothing here, and the open doors; a run tells them as well when it begins."""
    boxes, specs = True, model_specs(config, root)
    with suppress(UsageError):  # the sandbox that is wanted cannot be had, which is said in its own line
        bubblewrap = bubblewrap_for(config)
        boxes = bubblewrap is not None and bubblewrap.works
    yield from silent_limits(config)
    yield from price_findings(specs, config.models_in_use, config.run.max_cost_usd, config.retry.max_cost_usd)
    yield from open_doors(config)
    yield from place_findings(config.sandbox.show) if boxes else ()
    if config.limits.memory_max is not None and (lacking := memory_problem(config.limits.memory_max)):
        yield Finding("[limits] memory_max", lacking, _MEMORY_FIX, EXIT_DONE)


def silent_limits(config: Config) -> Iterator[Finding]:
    """Yield the limits in dollars and tokens that hold no model whose agent tells neither."""
    silent = [name for name in config.models_in_use if table("agents")[config.models[name].agent].get("tells_nothing")]
    limits = [("[run]", config.run), ("[retry]", config.retry)]
    keys = [f"{where} {key}" for where, part in limits for key in ("max_cost_usd", "max_tokens") if getattr(part, key)]
    keys += [f"[models.{name}] max_cost_usd" for name in silent if config.models[name].max_cost_usd is not None]
    if silent and keys:
        what = f"does nothing for {', '.join(silent)}: a plain command tells neither unless it prints them"
        fix = "Set [run] max_hours, which holds it, or have it print its usage (docs/agents.md)."
        yield Finding(", ".join(keys), what, fix, EXIT_DONE)


def open_doors(config: Config) -> Iterator[Finding]:
    """Yield that anybody may write what workers are told to do."""
    if "*" in config.tracker.authors and TRACKERS[config.tracker.kind].remote:
        yield Finding(
            "[tracker] authors",
            '"*" lets anyone who can open an issue write what workers are told to do',
            "Name the people, or leave authors out: those with write access to the repository are allowed.",
            EXIT_DONE,
        )


def place_findings(paths: Iterable[str]) -> Iterator[Finding]:
    """Yield what is wrong with places that `[sandbox] show` names, or worth knowing of them."""
    home = home_of(dict(os.environ))
    for path in paths:
        place = os.path.realpath(Path(path).expanduser())
        if not Path(place).exists():
            yield Finding(_SHOW, f"{path} is not there", "Correct the path, or remove it.", EXIT_DONE)
        elif below(home, (place,)):
            what = f"{path} is your whole home, which stays hidden" if place == home else f"{path} holds your home"
            yield Finding(_SHOW, f"{what}; of that the places count that are named", "Name what is missed.", EXIT_DONE)
        elif is_closed(place):
            yield Finding(_SHOW, f"{path} holds what only you may read; agents and gates read it too", "", EXIT_DONE)


_SHOW = "[sandbox] show"
_MEMORY_FIX = "Where systemd runs for you: systemd-run --user --scope noface run"


def _elsewhere(config: Config, repository: Repository | None) -> Iterator[Finding]:
    """Yield what is missing on this machine for GitHub, if the configuration asks for it; nothing is sent."""
    from noface.cli.probes.github import github_findings

    if repository is not None and (config.tracker.kind == "github" or config.landing.by_pull_request):
        yield from github_findings(repository, config)


def _refusals(config: Config, repository: Repository | None) -> Iterator[Finding]:
    checks: list[Callable[[], object]] = [lambda: bubblewrap_for(config)]
    if repository is not None:
        checks += [
            lambda: check_workspaces(slots_dir(config, repository), repository.root),
            lambda: settings(config, repository, RunOptions()),  # reads the prompt templates
        ]
    for check in checks:
        try:
            check()
        except UsageError as error:
            yield refused(error)


def _programs(config: Config, repository: Repository | None, root: Path) -> Iterator[Finding]:
    specs = model_specs(config, root)
    yield from model_findings(specs, config.models_in_use, spare_models(policy(config)))
    with suppress(UsageError):  # the sandbox that is wanted cannot be had, which is said in its own line
        box = sandbox_rules(config, bubblewrap_for(config)).bubblewrap
        yield from box_findings(specs, config.retry.models, config.roles.models, box)
    if repository is None:
        yield from gate_findings(gate_specs(config), config.project.setup)
        return
    with closing(Plumbing(repository)) as plumbing:
        yield from checkout_findings(plumbing, plumbing.main())
        paths = frozenset(plumbing.paths(plumbing.main()))
        yield from gate_findings(
            gate_specs(config), config.project.setup, lambda path: path.removeprefix("./") in paths
        )


def backlog_of(config: Config, root: Path, merged: tuple[str, ...] = ()) -> Backlog:
    """Return the backlog as a run has it: issues that no model may work on are among the faults."""
    try:
        state = locate(root).state_dir
    except UsageError:
        state = root / ".git" / "noface"  # a folder without a repository has issue files at most
    tracker = open_tracker(config.tracker_settings, root, state)
    return without_unknown_models(tracker.backlog(merged), model_specs(config, root))


def accept_findings(config: Config, repository: Repository, issues: Iterable[Issue]) -> tuple[Finding, ...]:
    """Return what keeps the `accept` of issues from passing, or from showing anything: the former needs a person."""
    asked, gates = tuple(issue for issue in issues if issue.accept), gate_specs(config)
    if not asked:
        return ()
    tracker = open_tracker(config.tracker_settings, repository.root, repository.state_dir)
    with closing(Plumbing(repository)) as plumbing:
        checkout = PersonsCheckout(plumbing, tracker.protected)
        faults = accept_faults(checkout, asked, (gate.command for gate in gates))
        on_main = checkout.state.on_main
    notes = ((issue, note) for issue in asked if issue.id not in faults for note in notes_on(issue, gates, on_main))
    told = (Finding(issue.source, *note, EXIT_DONE) for issue, note in notes)
    return (*map(fault_finding, faults.values()), *told)


def open_issues(config: Config, repository: Repository) -> tuple[Issue, ...]:
    """Return the issues of the backlog that have not landed; none if it cannot be read, which is said elsewhere."""
    with suppress(NofaceError), closing(Database.at(repository.state_dir / "state.db")) as database:
        merged = tuple(Reader(database).merged())
        issues = backlog_of(config, repository.root, merged).issues
        return tuple(issue for issue in issues if issue.id not in merged)
    return ()


def fault_finding(fault: IssueFault) -> Finding:
    return Finding(fault.source, fault.problem, fault.hint, EXIT_ATTENTION)
