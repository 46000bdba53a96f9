"""What `noface doctor` looks at besides models: the machine noface runs on, and the project it would work on."""

import os
import platform
import shutil
from collections.abc import Collection
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from noface import __version__
from noface.attempt.environment import SandboxRules, fingerprint
from noface.attempt.isolation import home_of
from noface.cli.findings import backlog_of, config_findings, fault_finding
from noface.cli.wiring import bubblewrap_for, gate_specs, passed_patterns, sandbox_rules, setup_rules, slots_dir
from noface.config.sections import Config
from noface.data.trackers import TRACKERS
from noface.engine.gate_networks import NETWORKS, needing, networks_of, shares
from noface.engine.isolation_checks import isolated
from noface.errors import NofaceError, UsageError
from noface.git.command import Git
from noface.git.repository import Repository, check_version
from noface.model.gate import GateKind, GateSpec
from noface.model.network import Network
from noface.process.connections import available
from noface.process.environment import gate_environment
from noface.process.files import bytes_in
from noface.process.home_places import needed
from noface.process.home_settings import rebuilt_paths
from noface.process.installation import installation
from noface.process.sandbox import find_bubblewrap
from noface.process.supervise import Containment, Launcher
from noface.store.check import damage_of
from noface.store.database import Database
from noface.store.reader import Reader
from noface.ui.doctor import Point, State, point_of
from noface.ui.text import clean, count, size

_FEW_BYTES, _TOO_FEW_BYTES = 1_000_000_000, 100_000_000


def machine(config: Config | None = None) -> tuple[Point, ...]:
    """Look at the machine: programs, kernel, libraries, what `config` makes of them. Changes nothing."""
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    return (
        Point("noface", State.OK, f"{__version__} with Python {platform.python_version()} on {system}"),
        _git(),
        _processes(),
        _sandbox(config),
        _extra("syntax", "tree_sitter", "languages beyond Python, JSON and TOML are not parsed before the gates"),
    )


def project(config: Config, repository: Repository, elsewhere: Collection[str] = ()) -> tuple[Point, ...]:
    """Look at what a run of this project needs: room on the disk, what the configuration names, the backlog.

    `elsewhere` are the texts of other lines, which need no second one.
    """
    return (
        _room("state", repository.state_dir),
        *_damaged(repository.state_dir / "state.db"),
        _room("workspaces", slots_dir(config, repository), "noface tools clean removes them; a run makes its own"),
        *named(config, repository, repository.root, elsewhere),
        *_backlog(config, repository),
        *_isolation(config, repository),
        *_networks(config, repository),
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
    Containment.GROUP: (
        State.NOTE,
        "this system has no subreaper: a process that detaches itself is found by its environment, if at all",
    ),
}


def _processes() -> Point:
    try:
        with Launcher() as launcher:
            state, text = _HELD_BY[launcher.containment()]
    except NofaceError as error:
        return Point("processes", State.BAD, error.message, error.hint)
    return Point("processes", state, text)


def _sandbox(config: Config | None) -> Point:
    """Say what agents and gates run in, and what that does not stop."""
    kind = config.sandbox.kind if config is not None else "auto"
    if config is not None and config.sandbox.wrap:
        return Point("sandbox", State.OK, f"[sandbox] wrap: {' '.join(config.sandbox.wrap)[:_WRAP_CHARS_MAX]}")
    bubblewrap = find_bubblewrap(shutil.which("bwrap"))
    if kind == "none":
        return Point("sandbox", State.NOTE, f'none ([sandbox] kind = "none"): {_RIGHTS}')
    if not bubblewrap.works:
        if kind == "bubblewrap" and config is not None:
            try:
                bubblewrap_for(config)
            except UsageError as error:
                return Point("sandbox", State.BAD, error.message, error.hint, error.exit_code)
        return Point("sandbox", State.NOTE, f"none: {bubblewrap.problem}; {_RIGHTS}", bubblewrap.remedy)
    program = f"bubblewrap {bubblewrap.version} ({bubblewrap.program})"
    places, _ = needed(home := home_of(dict(os.environ)), dict(gate_environment()))
    text = f"{program}: writes only to the workspace; of your home it shows {_listed(places, home)}"
    more = "outside your home what you can read, and an allowed network, are not stopped"
    return Point("sandbox", State.OK, f"{text}; {more}")


def _listed(places: tuple[str, ...], home: str) -> str:
    """Name toolchains and settings of the home that boxes show."""
    rebuilt = [path for path in rebuilt_paths() if Path(home, path).is_file()]
    named = ", ".join(f"~/{path}" for path in places[:_PLACES_MAX]) or "no toolchain"
    more = f" and {len(places) - _PLACES_MAX} more" if len(places) > _PLACES_MAX else ""
    settings = f"; harmless keys of {', '.join(f'~/{path}' for path in rebuilt)}" if rebuilt else ""
    return f"{named}{more} (PATH and known toolchains){settings}; [sandbox] show names more"


_RIGHTS = "agents and gates can read and write whatever you can"
_WRAP_CHARS_MAX = 120
_PLACES_MAX = 12


def _extra(name: str, module: str, without: str) -> Point:
    if find_spec(module) is not None:
        return Point(name, State.OK, f"{module.replace('_', '-')} is installed")
    return Point(name, State.NOTE, f"{module.replace('_', '-')} is missing: {without}", installation().bringing(name))


def _room(name: str, folder: Path, remedy: str = "") -> Point:
    there = next(each for each in (folder, *folder.parents) if each.exists())
    free = shutil.disk_usage(there).free
    text = f"{folder}, {f'{size(bytes_in(folder))} used, ' if folder.exists() else ''}{size(free)} free"
    if not os.access(there, os.W_OK):
        return Point(name, State.BAD, f"{folder} cannot be written", f"Let yourself write to {there}.")
    if free < _TOO_FEW_BYTES:
        return Point(name, State.BAD, text, f"Make room on that disk{f': {remedy}' if remedy else ''}.")
    return Point(name, State.NOTE if free < _FEW_BYTES else State.OK, text)


_CHECKED_BYTES_MAX = 64 << 20


def _damaged(path: Path) -> tuple[Point, ...]:
    """Say how the database is damaged; `noface tools fsck` alone looks at a large one, which takes seconds."""
    if not path.exists() or path.stat().st_size > _CHECKED_BYTES_MAX:
        return ()
    try:
        with closing(Database.at(path)) as database:
            problems = damage_of(database)
    except NofaceError as error:
        return (Point("database", State.BAD, error.message, error.hint, error.exit_code),)
    text = f"{path} is damaged: {clean(problems[0])[:_DAMAGE_CHARS_MAX]}" if problems else ""
    return (Point("database", State.BAD, text, "What can be done: noface tools fsck"),) if problems else ()


_DAMAGE_CHARS_MAX = 160


def _isolation(config: Config, repository: Repository) -> tuple[Point, ...]:
    """Say whether the test gates are known to judge the workspace, and what they could reach beside it."""
    if config.run.allow_leaky_gates:
        text = "[run] allow_leaky_gates: gates may test something else than the work, such as your checkout"
        return (Point("isolation", State.NOTE, text, "Leave it out once each gate works in its workspace alone."),)
    try:
        bubblewrap = bubblewrap_for(config)
    except UsageError:
        return ()  # the sandbox that is wanted cannot be had, which is said in its own line
    proven = _fact(repository.state_dir / "state.db", "isolated")
    sandbox, setup, passed = sandbox_rules(config, bubblewrap), setup_rules(config), passed_patterns(config)
    gates = _gates(config, repository, sandbox)
    tests = [gate for gate in gates if gate.kind is GateKind.TEST and gate.hard]
    if not tests:
        return ()
    known = [gate.name for gate in tests if isolated(proven, gate, fingerprint(gate, sandbox, setup, passed))]
    left = [gate.name for gate in tests if gate.name not in known and gate.canary]
    hidden = bubblewrap is not None and bubblewrap.works
    text = "gates see neither your checkout nor workers' workspaces" if hidden else _IN_REACH
    text += f"; proven on broken sources: {', '.join(known)}" if known else ""
    text += f"; the next run proves it for {', '.join(left)}" if left else ""
    return (Point("isolation", State.OK if hidden else State.NOTE, text),)


def _gates(config: Config, repository: Repository, sandbox: SandboxRules) -> list[GateSpec]:
    """Return the gates with what main is known to need of the network."""
    known = networks_of(_fact(repository.state_dir / "state.db", NETWORKS))
    setup, passed = setup_rules(config), passed_patterns(config)
    return [needing(gate, known, fingerprint(gate, sandbox, setup, passed)) for gate in gate_specs(config)]


def _networks(config: Config, repository: Repository) -> tuple[Point, ...]:
    """Say which gates share the machine's network, where they may take another workspace's server for their own."""
    try:
        sandbox = sandbox_rules(config, bubblewrap_for(config))
    except UsageError:
        return ()
    gates = _gates(config, repository, sandbox)
    shared = [gate.name for gate in gates if shares(gate, sandbox)]
    led = [gate.name for gate in gates if gate.network is Network.OWN and gate.name not in shared]
    own = [gate.name for gate in gates if gate.name not in (*shared, *led)]
    text = "; ".join(
        (
            *([f"a loopback of its own has each of {', '.join(own)}"] if own else []),
            *([f"with the outside by {Path(sandbox.connector).name}: {', '.join(led)}"] if led else []),
            *([f"{', '.join(shared)} {'share' if shared[1:] else 'shares'} this machine's"] if shared else []),
            *([f"named services: {', '.join(sandbox.services)}"] if sandbox.services else []),
        )
    )
    if not shared:
        return (Point("network", State.OK, text),)
    effect = "is told and counts for nothing" if available() else "cannot be told: the system does not say who connects"
    fix = "" if sandbox.connector or not sandbox.bubblewrap else "Install pasta (Debian: apt install passt)."
    return (Point("network", State.NOTE, f"{text}: what passes by a server of somebody else there {effect}", fix),)


_IN_REACH = "without the sandbox, gates can reach your checkout and workers' workspaces"


def _fact(path: Path, name: str) -> str | None:
    """Return a remembered fact, None if there is no state yet, or none that can be read."""
    try:
        with closing(Database.at(path)) as database:
            return Reader(database).fact(name)
    except NofaceError:
        return None


def named(
    config: Config, repository: Repository | None, root: Path, elsewhere: Collection[str] = ()
) -> tuple[Point, ...]:
    """Say what is wrong with what the configuration names. Models have lines of their own.

    `elsewhere` are the texts of other lines, which need no second one.
    """
    findings = [each for each in config_findings(config, repository, root) if each.what not in elsewhere]
    checks = [
        point_of(each, _AREAS.get(each.where.partition(" ")[0], "config"))
        for each in findings
        if not each.where.startswith("model ")
    ]
    if not any(each.where.startswith("gate ") for each in findings):
        names = ", ".join(gate.name for gate in config.gates)
        checks.append(Point("gates", State.OK, names))
    return tuple(checks)


_AREAS = {"gate": "gates", "step": "ladder"}
"""What a line is called, by what the place of its finding begins with."""


def _backlog(config: Config, repository: Repository) -> tuple[Point, ...]:
    """Say how many issues there are, and which are faulty."""
    path = repository.state_dir / "state.db"
    try:
        with closing(Database.at(path)) as database:
            merged = tuple(Reader(database).merged())
        backlog = backlog_of(config, repository.root, merged)
    except NofaceError as error:
        if TRACKERS[config.tracker.kind].remote and not path.exists():
            return (
                Point(
                    "backlog", State.NOTE, "the first run reads the issues", "To see them before: noface run --dry-run"
                ),
            )
        return (Point("backlog", State.BAD, error.message, error.hint, error.exit_code),)
    sound = Point("backlog", State.OK, count(len(backlog.issues), "issue"))
    return (*(point_of(fault_finding(fault), "backlog") for fault in backlog.faults), sound)
