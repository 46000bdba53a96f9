"""What each kind of command sees in the sandbox: a worker its slot and its agent's login, a gate its slot alone."""

import os
import pwd
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import noface
from noface.agents.base import RunPlace
from noface.attempt.copied_setup import GATE_CACHES, MADE, SETUP_CACHES, start_caches
from noface.attempt.environment import LANDING_SLOT, AttemptEnvironment, slot_name
from noface.data import table
from noface.errors import GitError
from noface.gates.inventory import WRITTEN
from noface.git.ignored_places import ignored_places
from noface.git.private_git_dir import with_private_config
from noface.git.removal import remove
from noface.git.repository import Repository
from noface.git.submodules import submodules
from noface.git.workspace import Slot, slot_path
from noface.model.access import Permissions, Settings
from noface.model.gate import GateSpec
from noface.model.worker_run import PLAIN_AGENTS, ModelSpec
from noface.process.command import LOG_BYTES_MAX, Command
from noface.process.environment import TEMPORARY, Variables, boxed, gate_environment, package_folders, without_places
from noface.process.files import is_folder, read_regular
from noface.process.home_places import below, led_out, programs_in
from noface.process.sandbox import Box
from noface.process.sandbox_home import AgentHome, Home, HomeRule, home_rules
from noface.secrets.environment import fits

_POINTER_BYTES_MAX = 8192


def gate_variables(env: AttemptEnvironment, env_pass: tuple[str, ...], token: str, *, leaky: bool = False) -> Variables:
    """Return the environment of a gate or setup. It leads into a checkout of the person's only if it is `leaky`."""
    variables = gate_environment(env_pass)
    roots = () if leaky else checkouts(env.plumbing.repository, home_of(dict(variables)))
    if roots:
        variables = without_places(variables, roots, environments(dict(variables), roots), env_pass)
    return (*variables, *env.markers(token))


def allotted(env: AttemptEnvironment, workspace: Path, env_pass: tuple[str, ...], *, boxed: bool) -> Variables:
    """Return the variables that keep a command in a workspace apart from others, but for what `env_pass` names.

    Without a /tmp of its own it has an empty TMPDIR.
    """
    if env.allotments is None:
        return ()
    given = env.allotments.variables(workspace.parent.name)
    if not boxed or env.sandbox.kind == "none":
        given |= dict.fromkeys(TEMPORARY, _fresh(str(workspace), "tmp"))
    own = {name for name in given if name in os.environ and not name.startswith("NOFACE_") and fits(name, env_pass)}
    return tuple((name, value) for name, value in given.items() if name not in own)


def home_of(env: dict[str, str]) -> str:
    """Return the home that HOME names; the user's own where HOME names no folder."""
    named = os.path.realpath(env.get("HOME", "")) if env.get("HOME", "").startswith("/") else ""
    return named if named and Path(named).is_dir() else own_home()


def own_home() -> str:
    return os.path.realpath(pwd.getpwuid(os.geteuid()).pw_dir)


def checkouts(repository: Repository, home: str) -> tuple[str, ...]:
    """Return the working trees of the repository that can be hidden: those that do not hold the home itself."""
    return tuple(root for root in all_checkouts(repository) if not below(home, (root,)))


def environments(env: Mapping[str, str], roots: tuple[str, ...]) -> tuple[str, ...]:
    folders = [folder for folder in env.get("PATH", "").split(":") if below(folder, roots)]
    return tuple(dict.fromkeys(prefix for folder in folders if (prefix := _environment(folder))))


def all_checkouts(repository: Repository) -> tuple[str, ...]:
    pointers = (read_regular(each, _POINTER_BYTES_MAX) for each in repository.common_dir.glob("worktrees/*/gitdir"))
    linked = (str(Path(os.fsdecode(path).strip()).parent) for path in pointers if path)
    return tuple(root for root in (str(repository.root), *linked) if Path(root).is_dir())


def _environment(folder: str) -> str:
    parent = Path(folder).parent
    return str(parent) if (parent / "pyvenv.cfg").exists() else ""


def outside_modules(env: AttemptEnvironment) -> frozenset[str]:
    """Return the names of modules of the standard library, of environments on PATH, and of those that setup makes."""
    slot = slot_path(env.plumbing.repository, env.slots_dir, slot_name("gate", LANDING_SLOT))
    prefixes = [*environments(dict(gate_environment()), ("/",)), *(str(slot / path) for path in env.setup.keep)]
    entries = (each for prefix in prefixes for folder in package_folders(Path(prefix)) for each in folder.iterdir())
    modules = (each for each in entries if each.suffix in (".py", ".so") or (each / "__init__.py").exists())
    return frozenset({*(each.name.partition(".")[0] for each in modules), *sys.stdlib_module_names})


_NO_RULES: Mapping[str, HomeRule] = {}
_ANOTHERS_SLOTS = re.compile(r".+-[0-9a-f]{10}")


def agent_box(
    env: AttemptEnvironment, model: ModelSpec, place: RunPlace, variables: Variables
) -> tuple[Box | None, Variables]:
    """Return the box of a worker or an advisor, and its environment there.

    What may only read gets the workspace read-only.
    """
    if not (env.sandbox.bubblewrap and model.boxed):
        identity = env.plumbing.repository.identity
        return None, with_private_config(variables, Path(place.directory), identity, Path(place.workspace))
    inside = dict(boxed(variables, (name for name, _ in model.env)))
    agent, person = env.agents[model.agent], home_of(inside)
    rules: dict[str, HomeRule] = {}
    outside: list[Home] = []
    personal = model.settings is Settings.USER or not agent.chooses_settings
    for number, each in enumerate(agent.homes):
        folder = each.place(person, inside)
        if below(folder, (person,)) and folder != person:
            rules |= each.rules(os.path.relpath(folder, person), personal=personal)
        elif os.path.isdir(folder):
            fresh, session = _fresh(place.workspace, f"home-{number}"), f"{place.directory}/home-{number}"
            outside.append(Home(folder, fresh, rules=each.rules("", personal=personal), session=session))
    reads_only = model.permissions is Permissions.READ_ONLY
    caches = f"{'asked' if reads_only else 'model'}-{model.name}"
    programs = programs_in(model.command, person, begins=True)
    own = _composed(env, place.workspace, inside, caches, programs, rules, f"{place.directory}/home")
    beyond = env.sandbox.write if writes_beyond(model) else ()
    workspace = (place.workspace,)
    hidden = (*_hidden(env, person), *_apart(env))
    given = [path for path in (place.prompt_file, place.order_file, place.schema_file) if os.path.exists(path)]
    box = Box(
        program=env.sandbox.bubblewrap,
        homes=(*own, *outside),
        tmp=_fresh(place.workspace, "tmp"),
        writable=(*(() if reads_only else workspace), place.directory, *beyond),
        visible=(*_visible(env, inside, hidden, agent.program(model)), *env.sandbox.write, *given),
        workspace=place.workspace,
        address=env.seen(place.workspace),
        hidden=hidden,
        network=model.network,
        connector=env.sandbox.connector,
    )
    return box, tuple(inside.items())


def writes_beyond(model: ModelSpec) -> bool:
    """True if `[sandbox] write` holds for it: a command is the person's own, and has no permissions to keep."""
    return model.agent in PLAIN_AGENTS or model.permissions is Permissions.FULL


def gate_box(
    env: AttemptEnvironment,
    slot: Slot,
    variables: Variables,
    folder: Path,
    gate: GateSpec | None = None,
    reports: Path | None = None,
) -> tuple[Box | None, Variables]:
    """Return the box of a gate, or without one of `[project] setup`, and its environment; git's settings in `folder`.

    A gate must judge the workspace: of the person's checkouts it sees only virtual environments whose programs are on
    PATH. Setup and a `leaky` gate see them. `reports` is the folder for its test runners' reports.
    """
    env_pass, wanted = (env.setup.env_pass, env.setup.boxed) if gate is None else (gate.env_pass, gate.boxed)
    variables = (*variables, *allotted(env, slot.path, env_pass, boxed=wanted))
    if not env.sandbox.bubblewrap or not wanted:
        return None, with_private_config(variables, folder, env.plumbing.repository.identity, slot.path)
    setup, command = gate is None, env.setup.command if gate is None else "" if gate.accept else gate.command
    inside = dict(boxed(variables))
    away = () if gate is None or gate.leaky else checkouts(env.plumbing.repository, home_of(inside))
    hidden = (*_hidden(env, home_of(inside)), *(away or _apart(env)))
    caches = GATE_CACHES if slot.name.startswith("gate-") else SETUP_CACHES
    box = Box(
        program=env.sandbox.bubblewrap,
        homes=_composed(env, str(slot.path), inside, caches, programs_in(command, home_of(inside)), setup=setup),
        tmp=_fresh(str(slot.path), "tmp"),
        writable=(str(slot.path), *env.sandbox.write, *((str(reports / WRITTEN),) if reports is not None else ())),
        visible=(*_visible(env, inside, hidden), *((str(reports),) if reports is not None else ())),
        workspace=str(slot.path),
        address=env.seen(str(slot.path)),
        hidden=hidden,
        network=env.setup.network if gate is None else gate.network,
        services=env.sandbox.services if gate is not None else (),
        connector=env.sandbox.connector,
    )
    return box, tuple(inside.items())


def wrapping(env: AttemptEnvironment, workspace: str, place: RunPlace | None = None) -> tuple[str, ...]:
    """Return `[sandbox] wrap` for a workspace; a gate or setup has no `place` of its own."""
    if not env.sandbox.wrap:
        return ()
    values = {
        "{workspace}": workspace,
        "{attempt}": place.log_folder if place is not None else workspace,
        "{session}": place.directory if place is not None else workspace,
        "{tmp}": _fresh(workspace, "tmp"),
    }
    return tuple(re.sub(r"\{\w+\}", lambda match: values.get(match[0], match[0]), word) for word in env.sandbox.wrap)


def shell_command(
    env: AttemptEnvironment,
    line: str,
    workspace: Path,
    logs: tuple[Path, Path],
    place: tuple[Box | None, Variables],
    *,
    timeout_s: float,
    boxed: bool,
    services: tuple[str, ...] = (),
) -> Command:
    """Return a line of shell as a gate or setup runs it; `place` is its box and its environment there."""
    for log in logs:
        log.unlink(missing_ok=True)  # what cannot be started writes none
    return Command(
        argv=("bash", "-c", line),
        cwd=str(workspace),
        env=place[1],
        stdin=None,
        stdout=str(logs[0]),
        stderr=str(logs[1]),
        timeout_s=timeout_s,
        idle_timeout_s=None,
        log_max_bytes=LOG_BYTES_MAX,
        box=place[0],
        wrap=wrapping(env, str(workspace)) if boxed else (),
        services=services,
    )


def session_environment(place_directory: str, env: Variables, homes: tuple[AgentHome, ...]) -> dict[str, str]:
    """Return the environment that leads noface to an agent's session files: in a box, with the attempt."""
    inside = dict(env)
    person, home = home_of(inside), f"{place_directory}/home"
    for number, each in enumerate(homes):
        if each.variable in inside and not below(each.place(person, inside), (person,)):
            inside[each.variable] = f"{place_directory}/home-{number}"
    moved = {name: value for name, value in inside.items() if value.startswith("/") and below(value, (person,))}
    return inside | {name: home + value.removeprefix(person) for name, value in moved.items()} | {"HOME": home}


def _composed(
    env: AttemptEnvironment,
    workspace: str,
    inside: dict[str, str],
    caches: str,
    programs: tuple[str, ...],
    rules: Mapping[str, HomeRule] = _NO_RULES,
    session: str = "",
    *,
    setup: bool = False,
) -> tuple[Home, ...]:
    """Return the home of a box, none if the home is the root folder; and the user's own, where HOME names another."""
    path, own = home_of(inside), own_home()
    homes = []
    roots = all_checkouts(env.plumbing.repository)
    if own not in (path, "/") and not below(own, (path,)) and is_folder(own):
        theirs = home_rules(own, inside, (), roots)
        lent = {place: rule for place, rule in theirs.items() if rule is not HomeRule.PRIVATE} | _person_shows(env, own)
        homes.append(Home(own, _fresh(workspace, "home-own"), rules=lent))
    if path == "/":
        return tuple(homes)
    made = f"{workspace}.{MADE}"
    if env.setup.command:
        start_caches(env, workspace, caches)
    home = Home(
        path=path,
        fresh=_fresh(workspace, MADE if setup else "home"),
        caches=f"{workspace}.caches-{caches}",
        rules=home_rules(path, inside, programs, roots) | dict(rules) | _person_shows(env, path),
        made=made if env.setup.command and not setup and is_folder(made) else "",
        session=session,
    )
    return (*homes, home)


def _person_shows(env: AttemptEnvironment, home: str) -> dict[str, HomeRule]:
    paths = (path for path in env.sandbox.show if below(path, (home,)) and path != home)
    return {os.path.relpath(path, home): HomeRule.READ for path in paths}


def _fresh(workspace: str, kind: str) -> str:
    folder = Path(f"{workspace}.{kind}")
    try:
        remove(folder)
    except GitError:  # what a container left there as root
        return tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent)
    folder.mkdir(parents=True)
    return str(folder)


def _visible(
    env: AttemptEnvironment, variables: dict[str, str], hidden: tuple[str, ...], program: str = ""
) -> tuple[str, ...]:
    """Return the paths that a box needs out of private or hidden folders; `program` is the agent's."""
    repository, home = env.plumbing.repository, home_of(variables)
    checkout = not below(str(repository.root), hidden)
    folders = [*variables.get("PATH", "").split(":"), os.path.dirname(program)]
    programs = []
    for folder in (folder for folder in folders if folder.startswith("/")):  # each with the installation around it
        top, installed, _ = folder.partition("/node_modules/")
        programs.append(top if installed else _environment(folder) or folder)
    python = (sys.prefix, sys.base_prefix, str(Path(noface.__file__).parent))
    private, homes, roots = table("sandbox_places")["private"]["folders"], (home, own_home()), all_checkouts(repository)
    outside = (path for path in env.sandbox.show if not below(path, homes) or below(path, roots))
    root = (str(repository.root),) if checkout and not below(home, (str(repository.root),)) else ()
    needed = [path for path in (*root, home, *programs, *python) if below(path, private)]
    at_home = [path for path in (*root, *python) if below(path, homes) and (path in root or not below(path, roots))]
    kept = (f"{repository.root}/{path.strip('/')}" for path in env.setup.keep if checkout)
    inner = [*environments(variables, (str(repository.root),)), *kept]
    objects = (str(one.objects) for one in submodules(repository, env.plumbing.main()) if one.whole)
    return (*needed, *at_home, *inner, str(repository.own_objects), str(repository.objects), *objects, *outside)


def _hidden(env: AttemptEnvironment, home: str) -> tuple[str, ...]:
    """Return what no box shows: git dir and state, all slots, what secret links lead to, `[sandbox] hide`."""
    repository = env.plumbing.repository
    slots = [str(env.slots_dir)]
    if env.slots_dir.parent.is_dir():
        slots += [str(other) for other in env.slots_dir.parent.iterdir() if _ANOTHERS_SLOTS.fullmatch(other.name)]
    linked = (path for each in dict.fromkeys((home, own_home())) for path in led_out(each))
    return (str(repository.common_dir), *slots, *linked, *env.sandbox.hide)


def _apart(env: AttemptEnvironment) -> tuple[str, ...]:
    return tuple(path for root in all_checkouts(env.plumbing.repository) for path in ignored_places(root))
