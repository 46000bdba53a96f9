"""What `noface doctor` finds of each model: its program, that one's version, a login, a price, and a probe.

Of a login only the names of variables and files are known, never what is in them. What is not seen may still be there
(a keyring, a provider of one's own): then the sight is not `certain`, and only a probe shows it.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from noface.agents.base import AGENTS, WORKER
from noface.attempt.environment import AttemptEnvironment
from noface.cli.one_question import answer_of
from noface.cli.policy_records import policy, today
from noface.cli.probes.versions import VERSION, version_problems
from noface.cli.wiring import attempt_environment, bubblewrap_for
from noface.config.prices import age_of_prices, prices_are_old, prices_as_of
from noface.config.sections import Config
from noface.data import table
from noface.engine.readiness import is_estimated, is_unpriced, program_finding
from noface.git.repository import Repository
from noface.model.access import RoleAccess
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import EndedBy, ModelSpec
from noface.process.clock import Clock
from noface.process.environment import agent_environment
from noface.process.files import read_bounded
from noface.process.supervise import Canceller, Command, Launcher
from noface.secrets.logins import key_fix, keys_of
from noface.ui.doctor import ModelFinding, Point, Price, Probe, RoleGrant, State, point_of


@dataclass(frozen=True, slots=True)
class Login:
    """What was seen of an agent's login. `certain` False: it may be where nobody can look.

    `needed` False: there is none to have. `fix` is what to do where nothing was seen.
    """

    seen: tuple[str, ...] = ()
    certain: bool = True
    needed: bool = True
    fix: str = ""


def login_of(agent: str, model: str, env: Mapping[str, str], home: Path, *, keychain: bool = False) -> Login:
    """Return what is seen of the login that a model needs. `env` is the environment its agent would get.

    `keychain`: the system keeps logins in a place of its own, as macOS does.
    """
    known = table("agents").get(agent, {}).get("login")
    if known is None:
        return Login(needed=False)
    folder = Path(env.get(known.get("folder_variable", "")) or home / known.get("folder", ""))
    files = tuple(folder / file for file in known["files"])
    if known.get("by_provider"):
        return _by_provider(model, env, home, files, known.get("command", ""))
    ignored = known.get("ignores", "")
    fix = known["fix"] + (f" ({agent} does not look at {ignored})" if env.get(ignored) else "")
    elsewhere = "uncertain_with" in known and (folder / known["uncertain_with"]).is_file()
    certain = not elsewhere and not (keychain and known.get("keychain"))
    return Login(_seen(env, known["keys"], home, files), certain, fix=fix)


def _by_provider(model: str, env: Mapping[str, str], home: Path, files: tuple[Path, ...], command: str) -> Login:
    """Look for the key of the provider that a model's name begins with, or that its family belongs to."""
    if model.partition("/")[0] in table("providers")["local"]["before_the_slash"]:
        return Login(needed=False)
    names = keys_of(model)
    return Login(_seen(env, names, home, files), certain=bool(names), fix=key_fix(model, command))


def _seen(env: Mapping[str, str], names: Iterable[str], home: Path, files: tuple[Path, ...]) -> tuple[str, ...]:
    logins = [name for name in names if env.get(name)]
    there = [file for file in files if file.is_file()]
    return (*logins, *(f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file) for file in there))


VERSION_SECONDS_MAX = 5.0
_OUTPUT_BYTES_MAX = 1_000_000
_READ_BYTES_MAX = 8_000
_AT_ONCE = 4
_CANNOT_START = (126, 127)
_NO_VERSION = ("", "")
LOGIN = "login"
"""The name of the problem that no login was seen."""


def uses(config: Config) -> dict[str, tuple[str, ...]]:
    """Return what each model is used for: rungs of the ladder, roles."""
    by_model: dict[str, list[str]] = {}
    for number, name in enumerate(config.retry.models, 1):
        by_model.setdefault(name, []).append(f"step {number}")
    for role, model in config.roles.models.items():
        if model is not None:
            by_model.setdefault(model, []).append(role)
    return {name: tuple(purposes) for name, purposes in by_model.items()}


def with_relations(findings: tuple[ModelFinding, ...], config: Config) -> tuple[ModelFinding, ...]:
    """Return the models in use with those that share their login, and those that work while their provider is away."""
    rules = policy(config)
    used = [each.name for each in findings if each.used_by]
    related = {*used, *(other for name in used for other in rules.stand_ins(name))}
    return tuple(
        replace(
            each,
            same_login=tuple(sorted(rules.same_login(each.name) & related)) if each.login_needed else (),
            stand_ins=rules.stand_ins(each.name),
            roles=_roles(each.name, config),
        )
        if each.used_by
        else each
        for each in findings
    )


def _roles(model: str, config: Config) -> tuple[RoleGrant, ...]:
    """Return what a model may use in each role that it has."""
    roles = config.roles
    access = RoleAccess(roles.tools, roles.permissions)
    return tuple(
        RoleGrant(
            role,
            tuple(tool.value for tool in access.tools_of(role)),
            access.permissions_of(role).value,
            own=role in roles.tools or role in roles.permissions,
        )
        for role, name in roles.models.items()
        if name == model
    )


def model_findings(
    specs: Mapping[str, ModelSpec], used: Mapping[str, tuple[str, ...]], launcher: Launcher
) -> tuple[ModelFinding, ...]:
    """Look at models: those in use first, in the order of their use."""
    order = [*(name for name in used if name in specs), *(name for name in specs if name not in used)]
    paths = {name: _path(specs[name]) for name in order}
    firsts = {path: specs[name] for name, path in reversed(paths.items()) if path}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        versions = dict(zip(firsts, pool.map(lambda path: _version(path, firsts[path], launcher), firsts), strict=True))
    node = _node(firsts.values(), launcher)
    return tuple(
        _finding(specs[name], used.get(name, ()), paths[name], versions.get(paths[name], _NO_VERSION), node)
        for name in order
    )


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


def _node(specs: Iterable[ModelSpec], launcher: Launcher) -> str:
    """Return the version of the Node on PATH; "" if there is none, or nothing that npm installs."""
    path = shutil.which("node")
    of_npm = [spec for spec in specs if table("agents")[spec.agent].get("install", "").startswith("npm ")]
    return _version(path, of_npm[0], launcher)[0] if path and of_npm else ""


def _finding(spec: ModelSpec, used_by: tuple[str, ...], path: str, version: tuple[str, str], node: str) -> ModelFinding:
    program, login = AGENTS[spec.agent].program(spec), login_seen(spec)
    return ModelFinding(
        spec,
        used_by,
        program,
        path,
        version[0],
        login.seen,
        login.needed,
        tuple(_problems(spec, path, version, login, node)),
        tested=table("agents")[spec.agent].get("tested", ""),
        price=price_of(spec),
    )


def _problems(spec: ModelSpec, path: str, version: tuple[str, str], login: Login, node: str) -> list[Point]:
    problems = []
    number, problem = version
    if (missing := program_finding(spec)) is not None:
        problems.append(point_of(missing, "program", missing.what))
    if problem:
        problems.append(Point("program", State.BAD, f"{path} does not start: {problem}", "Install it anew."))
    if path and Path(AGENTS[spec.agent].program(spec)).name == spec.agent:  # no wrapper of one's own
        problems += version_problems(spec.agent, number, path, node)
    if login.needed and not login.seen:
        state = State.BAD if login.certain else State.NOTE
        hidden = "" if login.certain else ", though it may be where noface cannot look (`--probe` tells)"
        problems.append(Point(LOGIN, state, f"no login seen{hidden}", f"To log in: {login.fix}."))
    if is_estimated(spec):
        problems += price_problems(spec, today(Clock()))
    return problems


def price_problems(spec: ModelSpec, day: date) -> Iterable[Point]:
    """Yield what is wrong with the price by which the cost of a model's runs is estimated."""
    fix = f"Set [models.{spec.name}] usd_per_mtok_in and usd_per_mtok_out"
    if is_unpriced(spec):
        yield Point("price", State.NOTE, f"nobody knows what it costs: {spec.agent} tells only tokens", f"{fix}.")
    elif not spec.own_prices and prices_are_old(day):
        what = f"its cost is estimated from list prices {age_of_prices(day)}"
        yield Point("price", State.NOTE, what, f"{fix}, or update noface.")


def price_of(spec: ModelSpec) -> Price | None:
    """Return the price by which a model's runs are estimated if its agent tells no cost, or they are cut off."""
    if spec.usd_per_mtok_in is None or spec.usd_per_mtok_out is None:
        return None
    as_of = "" if spec.own_prices else str(prices_as_of())
    return Price(spec.usd_per_mtok_in, spec.usd_per_mtok_out, as_of, estimates=is_estimated(spec))


def _version(path: str, spec: ModelSpec, launcher: Launcher) -> tuple[str, str]:
    """Ask a program for its version, in an empty folder; return that, and why it could not say anything, or ""."""
    if spec.agent == "command":
        return _NO_VERSION  # nobody knows what it would do with the flag
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
        outputs = [read_bounded(log, 0, _READ_BYTES_MAX) if log.exists() else "" for log in (stdout, stderr)]
    match = VERSION.search(outputs[0]) or VERSION.search(outputs[1])
    if ended.error or (ended.ended_by is EndedBy.ITSELF and ended.exit_code in _CANNOT_START):
        first = next((line.strip() for text in reversed(outputs) for line in text.splitlines() if line.strip()), "")
        return "", ended.error or first or f"exit code {ended.exit_code}"
    return match[0] if match else "", ""


PROBE_SECONDS_MAX = 60.0
_PROMPT = "Reply with OK, and do nothing else.\n"


def probe(
    specs: Mapping[str, ModelSpec], config: Config, repository: Repository, launcher: Launcher
) -> dict[str, Probe]:
    """Ask each model, each in an empty folder of its own, for a minute at most. Raises KeyboardInterrupt."""
    cancel = Canceller()
    env = attempt_environment(config, repository, launcher, {}, bubblewrap_for(config))
    with ExitStack() as stack:
        stack.callback(env.plumbing.close)
        pool = stack.enter_context(ThreadPoolExecutor(_AT_ONCE))
        asked = {name: pool.submit(_asked, spec, env, cancel) for name, spec in specs.items()}
        try:
            return {name: future.result() for name, future in asked.items()}
        except BaseException:
            cancel.cancel(urgent=True)
            raise


def with_probe(finding: ModelFinding, spec: ModelSpec, probe: Probe) -> ModelFinding:
    """Return what is known of a model once it was asked: an answer shows that nothing was missing."""
    rest = tuple(problem for problem in finding.problems if problem.name != LOGIN)
    if probe.usable:
        return replace(finding, problems=rest, probe=probe)
    problem = Point("probe", State.BAD, f"{probe.kind}: {probe.message}", _probe_fix(probe, spec))
    return replace(finding, problems=(*rest, problem), probe=probe)


def _asked(spec: ModelSpec, env: AttemptEnvironment, cancel: Canceller) -> Probe:
    run = answer_of(spec, _PROMPT, WORKER, env, cancel, PROBE_SECONDS_MAX)
    usage, error = run.usage, run.error
    if error is None:
        return Probe("", "", run.seconds, usage.cost_usd, run.answer.strip())
    return Probe(error.kind.value, error.message, run.seconds, usage.cost_usd)


def _probe_fix(probe: Probe, spec: ModelSpec) -> str:
    kind = FailureKind(probe.kind)
    if kind is FailureKind.AUTH:
        login = login_seen(spec)
        refused = f"{login.seen[0]} was not accepted. " if login.seen else ""
        return f"{refused}To log in: {login.fix}." if login.fix else ""
    if kind is FailureKind.MISCONFIGURED:
        return f"Correct [models.{spec.name}]."
    return "Try again later." if kind.category is Category.TRANSIENT else ""
