"""What can be known before a run without running anything; `run` refuses by it, `doctor` and `config check` show it."""

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from noface.agents.base import AGENTS
from noface.attempt.worker.agent_run import missing_program
from noface.data import table
from noface.errors import EXIT_ATTENTION, EXIT_DONE
from noface.git.filtered import unfetched
from noface.git.plumbing import Plumbing
from noface.git.submodules import submodules
from noface.model.finding import Finding
from noface.model.gate import GateKind, GateSpec
from noface.model.quoting import some
from noface.model.worker_run import ModelSpec, as_role
from noface.recovery.retry_policy import Policy

_SHOWN_MAX = 3


_INSTALLERS = {
    "~": (
        ".local/bin", "bin", ".npm-global/bin", ".npm/bin", ".nvm/versions/node/*/bin", ".volta/bin", ".asdf/shims",
        ".local/share/mise/shims", ".local/share/pnpm", ".bun/bin", ".deno/bin", ".yarn/bin", ".claude/local",
        ".opencode/bin", ".cargo/bin", "go/bin", ".pyenv/shims",
    ),
    "/": ("usr/local/bin", "opt/homebrew/bin", "home/linuxbrew/.linuxbrew/bin", "snap/bin", "opt/*/bin"),
}  # fmt: skip
"""Where npm, pipx, uv and the agents' own installers put programs; cron and systemd know few of these folders."""


def installed_at(program: str) -> Path | None:
    """Return where an installer has put a program that is not on PATH, None if it is in none of their folders."""
    places = ((Path(root).expanduser(), f"{folder}/{program}") for root in _INSTALLERS for folder in _INSTALLERS[root])
    found = (path for root, pattern in places for path in sorted(root.glob(pattern)))
    return next((path for path in found if path.is_file() and os.access(path, os.X_OK)), None)


def _onto_path(there: Path) -> str:
    return f"Start noface with PATH={quote(str(there.parent))}:$PATH; a crontab or a systemd unit has a line for it."


def program_finding(spec: ModelSpec) -> Finding | None:
    """Return what is wrong with a model's program or script; None if it is there, or is looked for in the slot."""
    where = f"model {spec.name}"
    if spec.agent == "scripted":
        if Path(spec.command).is_file():
            return None
        what = f"its script is not there: {spec.command or '(none named)'}"
        return Finding(where, what, f"Set [models.{spec.name}] command to an existing TOML file.")
    program = AGENTS[spec.agent].program(spec)
    if not missing_program(program):
        return None
    if "/" not in program:
        if there := installed_at(program):
            return Finding(where, f"{program} is at {there}, which is not on PATH", _onto_path(there))
        own = f"Correct [models.{spec.name}] command, or put it on PATH."
        fix = f"Install it: {table('agents')[spec.agent]['install']}" if program == spec.agent else own
        return Finding(where, f"the program {program} is not on PATH", fix)
    if Path(program).is_absolute():
        return Finding(where, f"{program} is not there, or is no program", f"Correct [models.{spec.name}] command.")
    return None


def model_findings(
    specs: Mapping[str, ModelSpec], names: Iterable[str], spare: Collection[str] = ()
) -> tuple[Finding, ...]:
    result = []
    for name in dict.fromkeys(names):
        if finding := program_finding(specs[name]):
            left_out = replace(finding, what=f"{finding.what}; its steps are left out", exit_code=EXIT_ATTENTION)
            result.append(left_out if name in spare else finding)
    return tuple(result)


def spare_models(policy: Policy) -> frozenset[str]:
    return frozenset(policy.models) - {policy.ladder[0].model} - set(replace(policy, ladder=()).models)


def startable(policy: Policy, specs: Mapping[str, ModelSpec]) -> Policy:
    lost = {name for name in spare_models(policy) if program_finding(specs[name]) is not None}
    return replace(policy, ladder=tuple(rung for rung in policy.ladder if rung.model not in lost)) if lost else policy


def box_findings(
    specs: Mapping[str, ModelSpec], workers: Iterable[str], roles: Mapping[str, str | None], box: str
) -> tuple[Finding, ...]:
    """Return the models and roles that nobody keeps from writing; `box` makes the sandbox, "" if there is none."""
    asked = {role: as_role(specs[name]) for role, name in roles.items() if name is not None and name in specs}
    runs = [(f"model {name}", f"[models.{name}] permissions", specs[name]) for name in dict.fromkeys(workers)]
    runs += [(f"{role} {spec.name}", "", spec) for role, spec in asked.items()]
    return tuple(
        Finding(
            where,
            f'only noface\'s own sandbox can hold {spec.agent} to "{spec.permissions}", and it runs in none',
            "See to it that the sandbox works and is on (docs/safety.md), or name another agent's model"
            + (f', or set {key} = "full".' if key else "."),
        )
        for where, key, spec in runs
        if spec.permissions in table("agents")[spec.agent].get("permissions_boxed", ()) and not (box and spec.boxed)
    )


def checkout_findings(plumbing: Plumbing, main: str) -> tuple[Finding, ...]:
    """Return what workspaces lack of what main names: submodules, and files that a filter makes."""
    inner = submodules(plumbing.repository, main)
    behind = tuple(f"{one.path} at {one.commit[:12]}" for one in inner if one.git_dir is not None and not one.whole)
    absent = tuple(one.path for one in inner if one.git_dir is None)
    fetch = "Fetch what main names: `git submodule update --init --recursive`."
    result = []
    if behind:
        result.append(Finding("submodules", f"not on this machine: {some(behind, _SHOWN_MAX)}", fetch))
    if absent:
        what = f"empty in workspaces, as in your checkout: {some(absent, _SHOWN_MAX)}"
        result.append(Finding("submodules", what, fetch, EXIT_DONE))
    left: list[str] = []
    places = [(main, None, ""), *((one.commit, one, f"{one.path}/") for one in inner if one.whole)]
    for commit, within, above in places:
        left += [f"{above}{path}" for path in unfetched(plumbing, commit, within)]
    if left:
        what = f"your checkout lacks the contents of {some(tuple(left), _SHOWN_MAX)}"
        fix = "Fetch them: `git lfs pull`. If nobody needs them here: `git lfs uninstall --local`."
        result.append(Finding("git-lfs", what, fix))
    return tuple(result)


def is_unpriced(spec: ModelSpec) -> bool:
    return is_estimated(spec) and spec.usd_per_mtok_in is None


def is_estimated(spec: ModelSpec) -> bool:
    return not table("agents")[spec.agent].get("tells_cost", True)


def price_findings(
    specs: Mapping[str, ModelSpec], names: Iterable[str], run_usd: float | None, issue_usd: float | None
) -> tuple[Finding, ...]:
    """Return a note for each model that no limit in dollars holds, though there is one: nobody knows its price."""
    result = []
    for spec in (specs[name] for name in dict.fromkeys(names)):
        limits = (("[run]", run_usd), ("[retry]", issue_usd), (f"[models.{spec.name}]", spec.max_cost_usd))
        keys = [f"{section} max_cost_usd" for section, usd in limits if usd is not None]
        if keys and is_unpriced(spec):
            what = f"{' and '.join(keys)} cannot hold it: {spec.agent} tells only tokens, and nobody knows its price"
            fix = f"Set [models.{spec.name}] usd_per_mtok_in and usd_per_mtok_out, or a limit of tokens."
            result.append(Finding(f"model {spec.name}", what, fix, EXIT_DONE))
    return tuple(result)


def gate_findings(
    gates: Sequence[GateSpec], setup: str, in_main: Callable[[str], bool] | None = None
) -> tuple[Finding, ...]:
    """Return the gates that cannot start: their program is not on PATH, or not a file of main (`in_main`)."""
    result = []
    made = bool(setup)
    for gate in gates:
        program = AGENTS["command"].program(ModelSpec(gate.name, "command", command=gate.command))
        if "/" not in program and missing_program(program):
            there = installed_at(program)
            what = f"{program} is at {there}, which" if there else f"the program {program}"
            what, fix = f"{what} is not on PATH", _onto_path(there) if there else f"Install {program}."
            result.append(Finding(f"gate {gate.name}", what, fix, EXIT_ATTENTION))
        elif "/" in program and not Path(program).is_absolute() and not made and in_main and not in_main(program):
            what = f"main has no file {program}, and there is no [project] setup"
            fix = "Have [project] setup make it in each workspace, or commit it."
            result.append(Finding(f"gate {gate.name}", what, fix, EXIT_ATTENTION))
        made = made or gate.kind is GateKind.BUILD
    return tuple(result)
