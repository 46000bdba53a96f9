"""`noface init`: look at the repository and write a noface.toml to start with."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.verb import VerbResult, answers
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.probes.github import Place
    from noface.config.sections import Config
    from noface.detection.detected import DetectedGate, DetectedSetup, Detection, Surroundings
    from noface.git.repository import Repository
    from noface.ui.init_github import Ready

_ISSUES = "issues"
_AGENT = "claude"
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:(?:a|b|rc|\.post)\d+)?$")


@answers("What noface detected, as JSON.")
def init(
    force: bool = typer.Option(False, "--force", help="Renew the noface.toml that is there; what is yours stays."),
    main: str = typer.Option("", "--main", help="The branch that work lands on; by default the one checked out."),
    github: bool = typer.Option(False, "--github", help="Issues come from GitHub, work becomes pull requests."),
    create_label: bool = typer.Option(False, "--create-label", help="With --github: make the issues' label there."),
    agent: str = typer.Option("", "--agent", metavar="NAME", help="The agent that works: claude, codex, gemini, …"),
    worker: str = typer.Option("", "--worker", metavar="CMD", help="A command that works, in place of an agent."),
) -> VerbResult:
    """Write a commented noface.toml and make a folder for issues.

    What the file proposes is detected in the repository. Nothing is sent anywhere; --github looks whether GitHub is
    ready, and --create-label alone writes there.
    """
    from noface.cli.config import replace_file
    from noface.cli.probes.github import GithubNeeds, make_label, place_of
    from noface.config.load import FILE_NAMES, parse
    from noface.config.presets import models_of
    from noface.data.trackers import DEFAULT_LABEL
    from noface.detection.detect import detect, render
    from noface.git.repository import discover
    from noface.ui.init_github import github_lines
    from noface.ui.text import hanging

    if create_label and not github:
        raise UsageError("--create-label makes a label on GitHub", "Give it together with --github.")
    models = _models(agent, worker)
    repository = discover(Path.cwd(), main)
    present = [repository.root / name for name in FILE_NAMES if (repository.root / name).exists()]
    if present and not force:
        raise _is_there(present[0], github=github)
    place = place_of(repository, GithubNeeds()) if github else None
    labelled = place is not None and create_label and make_label(place.location, DEFAULT_LABEL)
    target = present[0] if present else repository.root / FILE_NAMES[0]
    detection = detect(repository.root, _surroundings(repository))
    text = render(detection, repository.main_name, github=github, models=models, worker=worker)
    backup = _backup(target) if present else None
    if backup is not None:
        but = (*(("tracker", "landing") if github else ()), *(("models", "retry") if agent or worker else ()))
        text = _kept(text, target, but)
    replace_file(target, text)
    issues = repository.root / _ISSUES
    made = not issues.exists() and place is None
    if made:
        issues.mkdir(exist_ok=True)
    ready = _github(repository, place, labelled=labelled) if place is not None else None

    def lines(_: object, width: int) -> Iterator[str]:
        config = parse(text, target.name)
        program = agent or (_AGENT if config.retry.default_model in models_of(_AGENT) else "")
        first, *rest = _lines(target, config, detection, made=made, width=width, agent=program)
        yield first
        if backup is not None:
            stayed = f"Your models, gates and other settings stayed in it; the file as it was is {backup.name}."
            yield from hanging(stayed, width)
        yield from (*rest, *_ignored(repository, target, width))
        if ready is None:
            yield from (*_next_steps(target, detection), *_on_github(repository, width))
        else:
            yield from (*github_lines(ready, width), *_next_steps(target, detection, ready))

    return VerbResult(_document(target, repository.main_name, detection, ready), lines)


def _models(agent: str, worker: str) -> tuple[str, ...]:
    """Return the models of the agent that is named. Raise UsageError if there is none of that name."""
    from noface.config.presets import AGENT_NAMES, models_of

    if agent and worker:
        raise UsageError("--agent and --worker name two workers", "Give one; [[retry.ladder]] can have both later.")
    known = [name for name in AGENT_NAMES if models_of(name)]
    if agent and agent not in known:
        raise UsageError(
            f'no agent "{agent}" has models that are ready to use',
            f"Name one of {', '.join(known)}, or give a command: --worker './agent.sh {{prompt_file}}'.",
        )
    return models_of(agent or _AGENT)


def _backup(target: Path) -> Path:
    """Copy the file that is there to a name that is free."""
    from itertools import count

    from noface.cli.config import replace_file
    from noface.config.load import read

    names = (target.with_name(f"{target.name}.bak{number or ''}") for number in count())
    free = next(path for path in names if not path.exists())
    replace_file(free, read(target))
    return free


def _kept(text: str, target: Path, but: tuple[str, ...]) -> str:
    """Return the new text with what is the person's own in the old one, if both together are valid."""
    from noface.config.edit import with_own
    from noface.config.load import parse, read
    from noface.errors import ConfigError

    both = with_own(text, read(target), but=but)
    try:
        parse(both, target.name)
    except ConfigError:
        return text
    return both


def _is_there(path: Path, *, github: bool) -> UsageError:
    if github:
        return UsageError(
            f"{path.name} is there already: {path}",
            "Switch it over: noface config set tracker.kind github, noface config set landing.how pull-request; see"
            " it with noface doctor. Or replace it: noface init --github --force.",
        )
    return UsageError(
        f"{path.name} is there already: {path}",
        "Check it with `noface config check`, or replace it: `noface init --force`.",
    )


def _github(repository: "Repository", place: "Place", *, labelled: bool) -> "Ready":
    from noface.cli.probes.github import GithubNeeds, github_checks
    from noface.data.trackers import DEFAULT_LABEL
    from noface.ui.init_github import Ready

    checks = github_checks(repository, GithubNeeds(label=DEFAULT_LABEL))
    return Ready(place.location.repository, place.location.host, DEFAULT_LABEL, checks, labelled)


def _on_github(repository: "Repository", width: int) -> list[str]:
    """Return the line that tells of --github if the remote is there."""
    from noface.cli.probes.github import GithubNeeds, place_of
    from noface.forge.location import is_enterprise_server
    from noface.ui.text import hanging

    try:
        place = place_of(repository, GithubNeeds())
    except UsageError:
        return []
    if is_enterprise_server(place.location.host):
        return []  # any other host could be one
    text = f"Issues and pull requests of {place.location.repository} on GitHub: noface init --github --force"
    return ["", *hanging(text, width)]


def _surroundings(repository: "Repository") -> "Surroundings":
    import shutil

    from noface.detection.detected import Surroundings
    from noface.git.command import Git

    tag = Git.sealed(str(repository.common_dir)).run("describe", "--tags", "--abbrev=0", repository.main)
    version = _VERSION.search(tag.text) if tag.code == 0 else None
    has = lambda program: shutil.which(program) is not None  # noqa: E731
    return Surroundings(has, version[0] if version else "", _version_of)


def _version_of(program: str) -> str:
    """Return what a program says of its version; asked outside the project, whose files could change the answer."""
    import subprocess

    words = [program, "version" if program == "go" else "--version"]
    try:
        return subprocess.run(words, cwd="/", capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""


def _document(target: Path, main: str, detection: "Detection", ready: "Ready | None") -> dict[str, object]:
    from noface.ui.init_github import github_document

    return {
        "file": str(target),
        "main": main,
        "gates": [
            {"name": g.name, "command": g.command, "kind": g.kind, "why": g.why, "set": detection.usable(g)}
            for g in detection.gates
        ],
        "setups": [
            {"command": s.command, "inputs": s.inputs, "keep": s.keep, "why": s.why, "set": detection.usable(s)}
            for s in detection.setups
        ],
        "notes": list(detection.notes),
        "github": github_document(ready) if ready is not None else None,
    }


def _lines(target: Path, config: "Config", detection: "Detection", *, made: bool, width: int, agent: str) -> list[str]:
    import shutil

    from noface.ui.page import paint
    from noface.ui.text import clean, hanging

    goes = "becomes pull requests for" if config.landing.by_pull_request else "lands on"
    lines = [paint(f"Wrote {target.name}", "title") + f" for work that {goes} {config.project.main}."]
    if made:
        lines.append(f"Made {_ISSUES}/ for the issues.")
    lines += ["", "Gates found:" if detection.gates else "No gates found; without one noface does not run."]
    stayed = {gate.name: gate.command for gate in config.gates}
    for gate in detection.gates:
        why = f"{gate.kind}: {gate.why}{_in_comment(detection, gate)}"
        if (own := stayed.get(gate.name, gate.command)) != gate.command:
            why += f"; yours stayed: {clean(own)}"
        lines += [f"  {clean(gate.command)}", *hanging(why, width, "      ")]
    for setup in detection.setups:
        why = " ".join(setup.why.split()) + _in_comment(detection, setup)
        lines += ["", "Setup of a fresh checkout:", f"  {clean(setup.command)}", *hanging(why, width, "      ")]
    for note in detection.notes:
        lines += ["", *hanging(note, width)]
    if agent and shutil.which(agent) is None:
        lines += [
            "",
            *hanging(
                f"The worker, the program `{agent}`, is not on PATH: install it, or name another one: "
                "noface init --force --agent NAME, or --worker CMD.",
                width,
            ),
        ]
    return lines


def _ignored(repository: "Repository", target: Path, width: int) -> list[str]:
    """Say that git ignores what was made, as it does where a project lists what it does not ignore."""
    from noface.git.command import Git
    from noface.ui.text import hanging

    made = f"{target.name}\0{_ISSUES}/\0"
    asked = Git.user(str(repository.root)).run("check-ignore", "-z", "--stdin", stdin=made)
    if not asked.parts:
        return []
    text = f"git ignores {' and '.join(asked.parts)}: a run works all the same; git add -f commits them."
    return ["", *hanging(text, width)]


def _next_steps(target: Path, detection: "Detection", ready: "Ready | None" = None) -> list[str]:
    tested = any(gate.kind == "test" and detection.usable(gate) for gate in detection.gates)
    lacks = "" if tested else f" and say there how your project is {'tested' if detection.gates else 'checked'}"
    steps = [
        f"Look over {target.name}{lacks}",
        ready.issue_step if ready is not None else 'noface issues add "What should be done"',
        "noface run --dry-run, then noface run",
    ]
    return ["", "Next:", *(f"  {number}. {step}" for number, step in enumerate(steps, 1))]


def _in_comment(detection: "Detection", each: "DetectedGate | DetectedSetup") -> str:
    return "" if detection.usable(each) else " (in a comment: see below)"
