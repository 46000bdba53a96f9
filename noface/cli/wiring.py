"""The only composition root: turns the configuration into records, and makes the parts of a run."""

import hashlib
import os
import shutil
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

from noface.attempt.allotment import Allotments
from noface.attempt.changes import why_held_back
from noface.attempt.environment import AttemptEnvironment, SandboxRules, Setup
from noface.cli.policy_records import model_specs, policy
from noface.config.sections import Config
from noface.data.trackers import TRACKERS
from noface.engine.context import RunSettings
from noface.engine.prompt_context import load_templates
from noface.engine.readiness import startable
from noface.errors import UsageError
from noface.gates.run import project_rules
from noface.git.plumbing import Plumbing
from noface.git.repository import Repository
from noface.git.snapshot import SlotLimits
from noface.git.workspace import slot_path
from noface.integrity.diff.rules import DiffLimits
from noface.integrity.rubbish import RubbishRules
from noface.knowledge.hints import HintRule
from noface.model.codec import view
from noface.model.commit_message import CommitMessages
from noface.model.gate import GateKind, GateSpec
from noface.model.quota import Reserve
from noface.process.clock import Clock
from noface.process.sandbox import CONNECTORS, Bubblewrap, find_bubblewrap
from noface.process.supervise import Launcher
from noface.remote.tracker_sync import RemoteIssues
from noface.trackers.base import IssueTracker, RemoteTracker, open_tracker
from noface.ui.since import until_when


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the command line of `noface run` says on top of the configuration."""

    workers: int | None = None
    model: str | None = None
    max_iterations: int | None = None
    max_cost: float | None = None
    issues: tuple[str, ...] = ()
    once: bool = False
    allow_red: bool = False
    max_tokens: int | None = None
    until: str = ""
    watch: bool = False


def gate_specs(config: Config) -> tuple[GateSpec, ...]:
    """Return the configured gates."""
    return tuple(
        view(
            GateSpec,
            gate,
            kind=GateKind(gate.kind),
            timeout_s=gate.timeout,
            report=gate.report or None,
            retries=gate.retries or 0,
            boxed=(gate.sandbox or config.sandbox.kind) != "none",
            network=config.sandbox.network,
            leaky=config.run.allow_leaky_gates,
            again=1 if gate.retries is None and gate.kind == "test" and gate.hard else 0,
        )
        for gate in config.gates
    )


def settings(config: Config, repository: Repository, options: RunOptions) -> RunSettings:
    """Return what a run does and where it stops."""
    tracker = open_tracker(config.tracker_settings, repository.root, repository.state_dir)
    tracked = (*tracker.protected, *([f"{config.prompts.dir}/**"] if config.prompts.dir else []))
    models = model_specs(config, repository.root)
    seconds_max, until = _time_limit(config, options)
    return RunSettings(
        config=config,
        models=models,
        gates=gate_specs(config),
        policy=startable(policy(config, options.model), models),
        protected=(*config.protect.patterns, *tracked),
        hints=tuple(HintRule(**hint.model_dump()) for hint in config.failure_hints),
        workers=(workers := options.workers or config.run.workers),
        slots=max(workers, 1) + config.executor.slots,
        cost_usd_max=options.max_cost if options.max_cost is not None else config.run.max_cost_usd,
        tokens_max=options.max_tokens if options.max_tokens is not None else config.run.max_tokens,
        seconds_max=seconds_max,
        until=until,
        attempts_max=options.max_iterations,
        only_new=options.allow_red or config.run.baseline == "only-new",
        only_issues=options.issues,
        once=options.once,
        watch=options.watch,
        templates=load_templates(repository.root / config.prompts.dir if config.prompts.dir else None),
        attempts_dir=str(repository.state_dir / "attempts"),
        reserve=Reserve(
            config.budget.reserve,
            config.budget.overage if isinstance(config.budget.overage, float) else 0.0,
            ask=config.budget.overage == "ask",
        ),
    )


def _time_limit(config: Config, options: RunOptions) -> tuple[float | None, str]:
    """Return for how long a run starts work, and the time of the clock if that is its end. Raises UsageError."""
    hours = config.run.max_hours * 3600 if config.run.max_hours is not None else None
    if not options.until:
        return hours, ""
    now = time.time()
    left = until_when(options.until, now) - now
    return (hours, "") if hours is not None and hours < left else (left, options.until)


def remote_issues(config: Config, tracker: IssueTracker) -> RemoteIssues | None:
    chosen = config.tracker_settings
    if not TRACKERS[chosen.kind].remote:
        return None
    name = f"{chosen.kind} {chosen.url} {chosen.repository}"
    return RemoteIssues(cast("RemoteTracker", tracker), name)


def slots_dir(config: Config, repository: Repository) -> Path:
    """Return the folder of the workspaces: outside the repository, one per repository (docs/design.md, State)."""
    digest = hashlib.sha256(os.fsencode(repository.common_dir)).hexdigest()[:10]
    name = f"{repository.root.name}-{digest}"
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(config.run.slots_dir or f"{cache}/noface").expanduser() / name


def allotments(repository: Repository) -> Allotments:
    return Allotments(str(repository.common_dir), repository.root.name)


def bubblewrap_for(config: Config) -> Bubblewrap | None:
    """Return bubblewrap if a sandbox is wanted, else None. Raises UsageError if it is named and does not work."""
    boxes = (*(gate.sandbox for gate in config.gates), *(model.sandbox for model in config.models.values()))
    kinds = {config.sandbox.kind, *boxes}
    if config.sandbox.wrap or not kinds & {"auto", "bubblewrap"}:
        return None
    bubblewrap = find_bubblewrap(shutil.which("bwrap"))
    if not bubblewrap.works and "bubblewrap" in kinds:
        raise UsageError(f'[sandbox] kind = "bubblewrap": {bubblewrap.problem}.', bubblewrap.remedy)
    return bubblewrap


def sandbox_rules(config: Config, bubblewrap: Bubblewrap | None) -> SandboxRules:
    """Return `[sandbox]` for this machine."""
    chosen, certificates = config.sandbox, config.executor.certificates
    show, write, hide = (
        tuple(os.path.realpath(Path(path).expanduser()) for path in paths)
        for paths in (chosen.show, chosen.write, (*chosen.hide, *((certificates,) if certificates else ())))
    )
    show = tuple(dict.fromkeys((*(str(Path(path).expanduser()).rstrip("/") for path in chosen.show), *show)))
    rules = SandboxRules(show=show, write=write, hide=hide, wrap=tuple(chosen.wrap), services=chosen.services)
    if bubblewrap is None:
        return rules
    if not bubblewrap.works:
        return replace(rules, problem=bubblewrap.problem)
    connector = next((program for name in CONNECTORS if (program := shutil.which(name))), "")
    return replace(rules, bubblewrap=bubblewrap.program, version=bubblewrap.version, connector=connector)


def _address(config: Config, repository: Repository, bubblewrap: Bubblewrap | None) -> str:
    """Return where the sandbox shows each workspace, so that what setup made for one is right in all.

    "" if a command sees a workspace where it lies: outside the sandbox, or where an engine of containers mounts it.
    """
    kinds = {config.sandbox.kind, *(gate.sandbox for gate in config.gates)}
    kinds |= {model.sandbox for model in config.models.values()}
    outside = any((kind or config.sandbox.kind) == "none" for kind in kinds)
    engines = any(service.startswith("/") for service in config.sandbox.services)
    if bubblewrap is None or not bubblewrap.works or outside or engines:
        return ""
    return str(slot_path(repository, slots_dir(config, repository), "workspace"))


def setup_rules(config: Config) -> Setup:
    """Return `[project] setup` and what belongs to it."""
    project = config.project
    return Setup(
        project.setup,
        project.setup_inputs,
        project.keep,
        project.setup_timeout,
        project.setup_env_pass,
        config.sandbox.kind != "none",
        config.sandbox.for_others,
    )


def passed_patterns(config: Config) -> tuple[str, ...]:
    return tuple(sorted({name for gate in config.gates for name in gate.env_pass} | {*config.project.setup_env_pass}))


def attempt_environment(
    config: Config, repository: Repository, launcher: Launcher, bubblewrap: Bubblewrap | None = None
) -> AttemptEnvironment:
    """Return what attempts work with. `bubblewrap` comes from `bubblewrap_for`."""
    from noface.agents.base import AGENTS

    env = AttemptEnvironment(
        plumbing=Plumbing(repository),
        launcher=launcher,
        clock=Clock(),
        agents=AGENTS,
        slots_dir=slots_dir(config, repository),
        setup=setup_rules(config),
        limits=SlotLimits(wanted=RubbishRules(files=config.limits.wanted)),
        state_marker=str(repository.state_dir),
        diff_limits=DiffLimits(
            config.limits.max_changed_files, config.limits.max_changed_lines, config.limits.test_keys
        ),
        sandbox=sandbox_rules(config, bubblewrap),
        address=_address(config, repository, bubblewrap),
        messages=CommitMessages(config.landing.message, f"{repository.identity.name} <{repository.identity.email}>"),
        passed=passed_patterns(config),
        gate_rules=project_rules(config.gate_rules),
    )
    env.plumbing.refs.vet = partial(why_held_back, env)
    return env
