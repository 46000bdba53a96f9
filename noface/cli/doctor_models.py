"""What `noface doctor` finds of each model without asking it: its program, that one's version, a login, a price."""

import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from noface.agents.registry import AGENTS
from noface.cli.logins import Login, login_of
from noface.config.sections import Config
from noface.data import table
from noface.engine.agent_run import missing_program
from noface.model.worker_run import EndedBy, ModelSpec
from noface.process.environment import agent_environment
from noface.process.files import read_bounded
from noface.process.supervise import Command, Launcher
from noface.ui.doctor import Finding, ModelFinding, State

VERSION_SECONDS_MAX = 5.0
_OUTPUT_BYTES_MAX = 1_000_000
_READ_BYTES_MAX = 8_000
_AT_ONCE = 4
_VERSION = re.compile(r"\d{1,6}(?:\.\d{1,10}){1,4}")
_CANNOT_START = (126, 127)
LOGIN = "login"
"""The name of the problem that no login was seen."""


@dataclass(frozen=True, slots=True)
class Version:
    """What a program said of its version; `problem` where it could not say anything."""

    text: str = ""
    problem: str = ""


def uses(config: Config) -> dict[str, tuple[str, ...]]:
    """Return what each model is used for: rungs of the ladder, roles."""
    found: dict[str, list[str]] = {}
    for number, name in enumerate(config.retry.models, 1):
        found.setdefault(name, []).append(f"rung {number}")
    for role, name in config.roles.model_dump().items():
        if name is not None:
            found.setdefault(name, []).append(role)
    return {name: tuple(purposes) for name, purposes in found.items()}


def model_findings(
    specs: Mapping[str, ModelSpec], used: Mapping[str, tuple[str, ...]], launcher: Launcher
) -> tuple[ModelFinding, ...]:
    """Look at models: those in use first, in the order of their use."""
    order = [*(name for name in used if name in specs), *(name for name in specs if name not in used)]
    paths = {name: _path(specs[name]) for name in order}
    firsts = {path: specs[name] for name, path in reversed(paths.items()) if path}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        said = dict(zip(firsts, pool.map(lambda path: _version(path, firsts[path], launcher), firsts), strict=True))
    return tuple(_finding(specs[name], used.get(name, ()), paths[name], said.get(paths[name])) for name in order)


def environment_of(spec: ModelSpec) -> dict[str, str]:
    """Return the environment that a model's agent would get."""
    return dict(agent_environment(AGENTS[spec.agent].environment, spec, spec.env))


def login_seen(spec: ModelSpec) -> Login:
    """Return what is seen of a model's login."""
    env = environment_of(spec)
    home = Path(env.get("HOME") or Path.home())
    login = login_of(spec.agent, spec.model, env, home, keychain=sys.platform == "darwin")
    elsewhere = table("agents")[spec.agent].get("login", {}).get("uncertain_argument")
    uncertain = elsewhere is not None and any(elsewhere in argument for argument in spec.args)
    return replace(login, certain=False) if uncertain else login


def _path(spec: ModelSpec) -> str:
    """Return where a model's program is; "" where it has none, or a workspace has it."""
    program = AGENTS[spec.agent].program(spec)
    return shutil.which(program) or "" if program else ""


def _finding(spec: ModelSpec, used_by: tuple[str, ...], path: str, version: Version | None) -> ModelFinding:
    program, login = AGENTS[spec.agent].program(spec), login_seen(spec)
    return ModelFinding(
        spec.name,
        spec.agent,
        spec.model,
        spec.tier,
        used_by,
        program,
        path,
        version.text if version is not None else "",
        login.seen,
        login.needed,
        tuple(_problems(spec, program, path, version, login)),
    )


def _problems(spec: ModelSpec, program: str, path: str, version: Version | None, login: Login) -> list[Finding]:
    found = []
    if spec.agent == "scripted" and not Path(spec.command).is_file():
        fix = f"Set [models.{spec.name}] command to a TOML file."
        found.append(Finding("program", State.BAD, f"its script is not there: {spec.command}", fix))
    elif program and not path and "/" not in program:
        own = f"Correct [models.{spec.name}] command, or put it on PATH."
        fix = f"Install it: {table('agents')[spec.agent]['install']}" if program == spec.agent else own
        found.append(Finding("program", State.BAD, f"the program {program} is not on PATH", fix))
    elif Path(program).is_absolute() and missing_program(program):
        fix = f"Correct [models.{spec.name}] command."
        found.append(Finding("program", State.BAD, f"{program} is not there, or is no program", fix))
    if version is not None and version.problem:
        found.append(Finding("program", State.BAD, f"{path} does not start: {version.problem}", "Install it anew."))
    if login.needed and not login.seen:
        state = State.BAD if login.certain else State.NOTE
        hidden = "" if login.certain else ", though it may be where noface cannot look (`--probe` tells)"
        found.append(Finding(LOGIN, state, f"no login seen{hidden}", f"To log in: {login.fix}."))
    if not table("agents")[spec.agent].get("tells_cost", True) and spec.usd_per_mtok_in is None:
        fix = f"Set [models.{spec.name}] usd_per_mtok_in and usd_per_mtok_out."
        found.append(Finding("price", State.NOTE, f"nobody knows what it costs: {spec.agent} tells only tokens", fix))
    return found


def _version(path: str, spec: ModelSpec, launcher: Launcher) -> Version:
    """Ask a program for its version, in an empty folder and without anything to read."""
    if spec.agent == "command":
        return Version()  # nobody knows what it would do with the flag
    with tempfile.TemporaryDirectory(prefix="noface-doctor-", ignore_cleanup_errors=True) as folder:
        stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
        work = Path(folder, "empty")
        work.mkdir()
        ended = launcher.run(
            Command(
                argv=(path, "--version"),
                cwd=str(work),
                env=tuple(environment_of(spec).items()),
                stdin=None,
                stdout=str(stdout),
                stderr=str(stderr),
                timeout_s=VERSION_SECONDS_MAX,
                idle_timeout_s=None,
                log_max_bytes=_OUTPUT_BYTES_MAX,
            )
        )
        said = [read_bounded(log, 0, _READ_BYTES_MAX) if log.exists() else "" for log in (stdout, stderr)]
    match = _VERSION.search(said[0]) or _VERSION.search(said[1])
    if ended.error or (ended.ended_by is EndedBy.ITSELF and ended.exit_code in _CANNOT_START):
        first = next((line.strip() for text in reversed(said) for line in text.splitlines() if line.strip()), "")
        return Version(problem=ended.error or first or f"exit code {ended.exit_code}")
    return Version(match[0] if match else "")
