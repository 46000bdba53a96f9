"""What `noface doctor` finds of each model: its program, that one's version, a login, a price, and a probe.

Of a login only the names of variables and files are known, never what is in them. What is not seen may still be there
(a keyring, a provider of one's own): then the sight is not `certain`, and only a probe shows it.
"""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from noface.agents.base import AGENTS, WORKER
from noface.attempt.environment import AttemptEnvironment
from noface.cli.one_question import answer_of
from noface.cli.policy_records import policy
from noface.cli.wiring import attempt_environment, bubblewrap_for
from noface.config.prices import prices_as_of
from noface.config.sections import Config
from noface.data import table
from noface.engine.readiness import is_estimated, is_unpriced, program_finding
from noface.git.repository import Repository
from noface.model.codec import view
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import EndedBy, ModelSpec
from noface.process.environment import agent_environment
from noface.process.files import read_bounded
from noface.process.supervise import Canceller, Command, Launcher
from noface.secrets.logins import key_fix, keys_of
from noface.ui.doctor import ModelFinding, Point, Probe, State, point_of
from noface.ui.text import money

VERSION_SECONDS_MAX = 5.0
PROBE_SECONDS_MAX = 60.0
_PROMPT = "Reply with OK, and do nothing else.\n"
_OUTPUT_BYTES_MAX = 1_000_000
_READ_BYTES_MAX = 8_000
_ANSWER_CHARS_MAX = 200
_AT_ONCE = 4
_CANNOT_START = (126, 127)
_NO_VERSION = ("", "")
_VERSION = re.compile(r"\d{1,6}(?:\.\d{1,10}){1,4}")
_LOGIN = "login"


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
    """Return what is seen of a model's login in `env`; `keychain`: the system keeps logins in a place of its own."""
    known = table("agents").get(agent, {}).get("login")
    if known is None:
        return Login(needed=False)
    folder = Path(env.get(known.get("folder_variable", "")) or home / known.get("folder", ""))
    files = tuple(folder / file for file in known["files"])
    certain = not (keychain and known.get("keychain"))
    names, fix = known.get("keys", ()), known.get("fix", "")
    if known.get("by_provider"):  # the provider that the model's name begins with, or that its family belongs to
        if model.partition("/")[0] in table("providers")["local"]["before_the_slash"]:
            return Login(needed=False)
        names = keys_of(model)
        certain, fix = bool(names), key_fix(model, known.get("command", ""))
    if env.get(ignored := known.get("ignores", "")):
        fix += f" ({agent} does not look at {ignored})"
    if "uncertain_with" in known and (folder / known["uncertain_with"]).is_file():
        certain = False
    there = (file for file in files if file.is_file())
    shown = (f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file) for file in there)
    return Login((*(name for name in names if env.get(name)), *shown), certain, fix=fix)


def uses(config: Config) -> dict[str, tuple[str, ...]]:
    """Return what each model is used for: rungs of the ladder, roles."""
    by_model: dict[str, list[str]] = {}
    for number, name in enumerate(config.retry.models, 1):
        by_model.setdefault(name, []).append(f"step {number}")
    for role, model in config.roles.models.items():
        if model is not None:
            by_model.setdefault(model, []).append(role)
    return {name: tuple(purposes) for name, purposes in by_model.items()}


def model_findings(
    specs: Mapping[str, ModelSpec], used: Mapping[str, tuple[str, ...]], config: Config | None, launcher: Launcher
) -> tuple[ModelFinding, ...]:
    """Look at models: those in use first, in the order of their use."""
    order = [*(name for name in used if name in specs), *(name for name in specs if name not in used)]
    programs = {name: AGENTS[specs[name].agent].program(specs[name]) for name in order}
    paths = {name: (shutil.which(program) or "") if program else "" for name, program in programs.items()}
    firsts = {path: specs[name] for name, path in reversed(paths.items()) if path}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        versions = dict(zip(firsts, pool.map(lambda path: _version(path, firsts[path], launcher), firsts), strict=True))
    findings = []
    for name in order:
        spec, path, login = specs[name], paths[name], login_seen(specs[name])
        version, problem = versions.get(path, _NO_VERSION)
        findings.append(
            view(
                ModelFinding,
                spec,
                used_by=used.get(name, ()),
                program=programs[name],
                path=path,
                version=version,
                login=login.seen,
                facts=tuple(_facts(spec, login, config, set(used) & specs.keys())) if config and name in used else (),
                problems=tuple(_problems(spec, path, version, problem, login)),
            )
        )
    return tuple(findings)


def login_seen(spec: ModelSpec) -> Login:
    env = dict(agent_environment(AGENTS[spec.agent].environment, spec, spec.env))
    home = Path(env.get("HOME") or Path.home())
    login = login_of(spec.agent, spec.model, env, home, keychain=sys.platform == "darwin")
    elsewhere = table("agents")[spec.agent].get("login", {}).get("uncertain_argument")
    uncertain = elsewhere is not None and any(elsewhere in argument for argument in spec.args)
    return replace(login, certain=False) if uncertain else login


def _facts(spec: ModelSpec, login: Login, config: Config, used: set[str]) -> Iterator[str]:
    rules = policy(config)
    related = {*used, *(other for name in used for other in rules.stand_ins(name))}
    if login.needed and (same := sorted(rules.same_login(spec.name) & related)):
        yield f"same login as {', '.join(same)}"
    if stand_ins := rules.stand_ins(spec.name):
        yield f"while it is away: {', '.join(stand_ins)}"
    if is_estimated(spec) and spec.usd_per_mtok_in is not None and spec.usd_per_mtok_out is not None:
        listed = "" if spec.own_prices else f" (list of {prices_as_of()})"
        yield f"priced at {money(spec.usd_per_mtok_in)} and {money(spec.usd_per_mtok_out)} a million tokens{listed}"


def _problems(spec: ModelSpec, path: str, version: str, problem: str, login: Login) -> Iterator[Point]:
    if (missing := program_finding(spec)) is not None:
        yield point_of(missing, "program", missing.what)
    if problem:
        yield Point("program", State.BAD, f"{path} does not start: {problem}", "Install it anew.")
    if path and Path(AGENTS[spec.agent].program(spec)).name == spec.agent:  # no wrapper of one's own
        yield from version_problems(spec.agent, version)
    if login.needed and not login.seen:
        state = State.BAD if login.certain else State.NOTE
        hidden = "" if login.certain else ", though it may be where noface cannot look (`--probe` tells)"
        yield Point(_LOGIN, state, f"no login seen{hidden}", f"To log in: {login.fix}.")
    if is_estimated(spec):
        yield from price_problems(spec)


def version_problems(agent: str, version: str) -> Iterator[Point]:
    """Yield what is worth knowing of a program's version: a newer one than was tested mostly works."""
    entry = table("agents").get(agent, {})
    if not version or "tested" not in entry:
        return
    tested, oldest = entry["tested"], entry.get("oldest")
    fix = f"If its runs fail where they should not, install the tested one: {entry['install_tested']}"
    if _numbers(version) > _numbers(tested):
        what = f"{agent} {version} is newer than {tested}, the newest that noface was tested with"
        yield Point("version", State.NOTE, what, fix)
    if oldest is not None and _numbers(version) < _numbers(oldest["version"]):
        what = f"{agent} {version} is older than {oldest['version']}: {oldest['reason']}"
        yield Point("version", State.NOTE, what, fix)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def price_problems(spec: ModelSpec) -> Iterator[Point]:
    if is_unpriced(spec):
        fix = f"Set [models.{spec.name}] usd_per_mtok_in and usd_per_mtok_out."
        yield Point("price", State.NOTE, f"nobody knows what it costs: {spec.agent} tells only tokens", fix)


def _version(path: str, spec: ModelSpec, launcher: Launcher) -> tuple[str, str]:
    if spec.agent == "command":
        return _NO_VERSION  # nobody knows what it would do with the flag
    with tempfile.TemporaryDirectory(prefix="noface-doctor-", ignore_cleanup_errors=True) as folder:
        logs = Path(folder, "stdout"), Path(folder, "stderr")
        Path(folder, "empty").mkdir()
        command = Command(
            argv=(path, "--version"),
            cwd=f"{folder}/empty",
            env=agent_environment(AGENTS[spec.agent].environment, spec, spec.env),
            stdin=None,
            stdout=str(logs[0]),
            stderr=str(logs[1]),
            timeout_s=VERSION_SECONDS_MAX,
            idle_timeout_s=None,
            log_max_bytes=_OUTPUT_BYTES_MAX,
        )
        ended = launcher.run(command)
        outputs = [read_bounded(log, 0, _READ_BYTES_MAX) if log.exists() else "" for log in logs]
    if ended.error or (ended.ended_by is EndedBy.ITSELF and ended.exit_code in _CANNOT_START):
        first = next((line.strip() for text in reversed(outputs) for line in text.splitlines() if line.strip()), "")
        return "", ended.error or first or f"exit code {ended.exit_code}"
    match = _VERSION.search(outputs[0]) or _VERSION.search(outputs[1])
    return match[0] if match else "", ""


def probed(
    findings: tuple[ModelFinding, ...],
    specs: Mapping[str, ModelSpec],
    config: Config,
    repository: Repository,
    launcher: Launcher,
) -> tuple[ModelFinding, ...]:
    """Return the findings with what came of asking each of the models, for a minute. Raises KeyboardInterrupt."""
    cancel = Canceller()
    env = attempt_environment(config, repository, launcher, bubblewrap_for(config))
    with ExitStack() as stack:
        stack.callback(env.plumbing.close)
        pool = stack.enter_context(ThreadPoolExecutor(_AT_ONCE))
        asked = {name: pool.submit(_asked, spec, env, cancel) for name, spec in specs.items()}
        try:
            answers = {name: future.result() for name, future in asked.items()}
        except BaseException:
            cancel.cancel(urgent=True)
            raise
    return tuple(
        _with_probe(each, specs[each.name], answers[each.name]) if each.name in answers else each for each in findings
    )


def _with_probe(finding: ModelFinding, spec: ModelSpec, probe: Probe) -> ModelFinding:
    """Return what is known of a model once it was asked: an answer shows that nothing was missing."""
    rest = tuple(problem for problem in finding.problems if problem.name != _LOGIN)
    if not probe.kind:
        return replace(finding, problems=rest, probe=probe)
    kind, fix = FailureKind(probe.kind), ""
    if kind is FailureKind.AUTH and (login := login_seen(spec)).fix:
        fix = f"{f'{login.seen[0]} was not accepted. ' if login.seen else ''}To log in: {login.fix}."
    elif kind is FailureKind.MISCONFIGURED:
        fix = f"Correct [models.{spec.name}]."
    elif kind.category is Category.TRANSIENT:
        fix = "Try again later."
    problem = Point("probe", State.BAD, f"{probe.kind}: {probe.message}", fix)
    return replace(finding, problems=(*rest, problem), probe=probe)


def _asked(spec: ModelSpec, env: AttemptEnvironment, cancel: Canceller) -> Probe:
    run = answer_of(spec, _PROMPT, WORKER, env, cancel, PROBE_SECONDS_MAX)
    kind, message = (run.error.kind.value, run.error.message) if run.error is not None else ("", "")
    answer = "" if kind else run.answer.strip()[:_ANSWER_CHARS_MAX]
    return Probe(kind, message, round(run.seconds, 1), run.usage.cost_usd, answer)
