"""What `noface doctor` looks at besides models: the machine noface runs on, and the project it would work on."""

import os
import platform
import shutil
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path

from noface import __version__
from noface.attempt.environment import fingerprint
from noface.attempt.isolation import home_of
from noface.cli.findings import backlog_of, config_findings, fault_finding
from noface.cli.wiring import bubblewrap_for, gate_specs, passed_patterns, sandbox_rules, setup_rules, slots_dir
from noface.config.project_sections import Sandbox
from noface.config.sections import Config
from noface.data.trackers import TRACKERS
from noface.engine.gate_networks import NETWORKS, needing, networks_of, shares
from noface.engine.isolation_checks import isolated
from noface.errors import EXIT_USAGE, NofaceError, UsageError
from noface.git.command import Git
from noface.git.repository import Repository, check_version
from noface.model.gate import GateKind
from noface.model.quoting import some
from noface.process.environment import gate_environment
from noface.process.files import bytes_in
from noface.process.home_places import needed
from noface.process.home_settings import rebuilt_paths
from noface.process.installation import bringing
from noface.process.sandbox import find_bubblewrap
from noface.process.supervise import Containment, Launcher
from noface.store.database import Database
from noface.store.reader import Reader
from noface.ui.doctor import Point, State, point_of
from noface.ui.text import count, size

_FEW_BYTES, _TOO_FEW_BYTES = 1_000_000_000, 100_000_000
_WRAP_CHARS_MAX = 120
_PLACES_MAX = 12
_RIGHTS = "agents and gates can read and write whatever you can"


def machine(config: Config | None = None) -> tuple[Point, ...]:
    """Look at the machine: programs, kernel, libraries, what `config` makes of them. Changes nothing."""
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return (
        Point("noface", State.OK, f"{__version__} with Python {platform.python_version()} on {system}"),
        _git(),
        _processes(),
        _sandbox(config),
        _syntax(),
    )


def project(config: Config, repository: Repository, elsewhere: Collection[str] = ()) -> tuple[Point, ...]:
    """Look at what a run needs: disk, what is configured, backlog. `elsewhere` are the texts of other lines."""
    return (
        _room("state", repository.state_dir),
        _room("workspaces", slots_dir(config, repository), "noface tools clean removes them; a run makes its own"),
        *named(config, repository, repository.root, elsewhere),
        *_backlog(config, repository),
        *_isolation(config, repository),
    )


def _git() -> Point:
    git = Git.user("/")
    try:
        check_version(git)
    except UsageError as error:
        return Point("git", State.BAD, error.message, error.hint)
    return Point("git", State.OK, git.run("version").text.removeprefix("git version "))


_HELD_BY = {
    Containment.NAMESPACE: (State.OK, "no process outlives its attempt: each command has a PID namespace of its own"),
    Containment.SUBREAPER: (
        State.NOTE,
        "no process outlives its attempt, unless it kills what watches over it (subreaper; no PID namespaces here)",
    ),
    Containment.GROUP: (State.NOTE, "no subreaper here: a process that detaches itself is found by its environment"),
}


def _processes() -> Point:
    try:
        with Launcher() as launcher:
            return Point("processes", *_HELD_BY[launcher.containment()])
    except NofaceError as error:
        return Point("processes", State.BAD, error.message, error.hint)


def _sandbox(config: Config | None) -> Point:
    chosen = config.sandbox if config is not None else Sandbox()
    if chosen.wrap:
        return Point("sandbox", State.OK, f"[sandbox] wrap: {' '.join(chosen.wrap)[:_WRAP_CHARS_MAX]}")
    if chosen.kind == "none":
        return Point("sandbox", State.NOTE, f'none ([sandbox] kind = "none"): {_RIGHTS}')
    bubblewrap = find_bubblewrap(shutil.which("bwrap"))
    if not bubblewrap.works:
        if chosen.kind == "bubblewrap":
            problem = f'[sandbox] kind = "bubblewrap": {bubblewrap.problem}.'
            return Point("sandbox", State.BAD, problem, bubblewrap.remedy, EXIT_USAGE)
        return Point("sandbox", State.NOTE, f"none: {bubblewrap.problem}; {_RIGHTS}", bubblewrap.remedy)
    home = home_of(dict(os.environ))
    places, _ = needed(home, dict(gate_environment()))
    rebuilt = [path for path in rebuilt_paths() if Path(home, path).is_file()]
    shown = some(tuple(f"~/{path}" for path in places), _PLACES_MAX) or "no toolchain"
    settings = f"; harmless keys of {', '.join(f'~/{path}' for path in rebuilt)}" if rebuilt else ""
    text = (
        f"bubblewrap {bubblewrap.version} ({bubblewrap.program}): writes only to the workspace; of your home it shows"
        f" {shown} (PATH and known toolchains){settings}; [sandbox] show names more; outside your home what you can"
        " read, and an allowed network, are not stopped"
    )
    return Point("sandbox", State.OK, text)


def _syntax() -> Point:
    if find_spec("tree_sitter") is not None:
        return Point("syntax", State.OK, "tree-sitter is installed")
    text = "tree-sitter is missing: languages beyond Python, JSON and TOML are not parsed before the gates"
    return Point("syntax", State.NOTE, text, bringing("syntax"))


def _room(name: str, folder: Path, remedy: str = "") -> Point:
    there = next(each for each in (folder, *folder.parents) if each.exists())
    free = shutil.disk_usage(there).free
    text = f"{folder}, {f'{size(bytes_in(folder))} used, ' if folder.exists() else ''}{size(free)} free"
    if not os.access(there, os.W_OK):
        return Point(name, State.BAD, f"{folder} cannot be written", f"Let yourself write to {there}.")
    if free < _TOO_FEW_BYTES:
        return Point(name, State.BAD, text, f"Make room on that disk{f': {remedy}' if remedy else ''}.")
    return Point(name, State.NOTE if free < _FEW_BYTES else State.OK, text)


def _isolation(config: Config, repository: Repository) -> Iterator[Point]:
    if config.run.allow_leaky_gates:
        text = "[run] allow_leaky_gates: gates may test something else than the work, such as your checkout"
        yield Point("isolation", State.NOTE, text, "Leave it out once each gate works in its workspace alone.")
        return
    with suppress(NofaceError):  # that of a sandbox that cannot be had, or of the state, has its own line
        bubblewrap = bubblewrap_for(config)
        sandbox, setup, passed = sandbox_rules(config, bubblewrap), setup_rules(config), passed_patterns(config)
        with closing(Database.at(repository.state_dir / "state.db")) as database:
            proven, needs = Reader(database).fact("isolated"), networks_of(Reader(database).fact(NETWORKS))
        prints = {gate: fingerprint(gate, sandbox, setup, passed) for gate in gate_specs(config)}
        tests = [gate for gate in prints if gate.kind is GateKind.TEST and gate.hard]
        known = [gate.name for gate in tests if isolated(proven, gate, prints[gate])]
        left = [gate.name for gate in tests if gate.name not in known and gate.canary]
        hidden = bubblewrap is not None and bubblewrap.works
        text = "gates see neither your checkout nor workers' workspaces" if hidden else _IN_REACH
        text += f"; proven on broken sources: {', '.join(known)}" if known else ""
        text += f"; the next run proves it for {', '.join(left)}" if left else ""
        shared = [gate.name for gate in prints if shares(needing(gate, needs, prints[gate]), sandbox)]
        text += f"; on this machine's network: {', '.join(shared)}" if hidden and shared else ""
        yield Point("isolation", State.OK if hidden else State.NOTE, text)


_IN_REACH = "without the sandbox, gates can reach your checkout, workers' workspaces and this machine's network"


def named(
    config: Config, repository: Repository | None, root: Path, elsewhere: Collection[str] = ()
) -> tuple[Point, ...]:
    """Say what is wrong with what the configuration names. Models have lines of their own, as `elsewhere` has."""
    findings = [each for each in config_findings(config, repository, root) if each.what not in elsewhere]
    checks = [
        point_of(each, _AREAS.get(each.where.partition(" ")[0], "config"))
        for each in findings
        if not each.where.startswith("model ")
    ]
    if not any(each.where.startswith("gate ") for each in findings):
        checks.append(Point("gates", State.OK, ", ".join(gate.name for gate in config.gates)))
    return tuple(checks)


_AREAS = {"gate": "gates", "step": "ladder"}
"""What a line is called, by what the place of its finding begins with."""


def _backlog(config: Config, repository: Repository) -> Iterator[Point]:
    path = repository.state_dir / "state.db"
    try:
        with closing(Database.at(path)) as database:
            merged = tuple(Reader(database).merged())
        backlog = backlog_of(config, repository.root, merged)
    except NofaceError as error:
        if TRACKERS[config.tracker.kind].remote and not path.exists():
            fix = "To see them before: noface run --dry-run"
            yield Point("backlog", State.NOTE, "the first run reads the issues", fix)
        else:
            yield Point("backlog", State.BAD, error.message, error.hint, error.exit_code)
        return
    yield from (point_of(fault_finding(fault), "backlog") for fault in backlog.faults)
    yield Point("backlog", State.OK, count(len(backlog.issues), "issue"))
