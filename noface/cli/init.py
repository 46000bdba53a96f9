"""`noface init`: look at the repository and write a noface.toml to start with."""

import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.verb import VerbResult, answers
from noface.errors import EXIT_ATTENTION, EXIT_DONE, ConfigError, UsageError

if TYPE_CHECKING:
    from noface.config.sections import Config
    from noface.detection.detected import Detection, Surroundings
    from noface.git.repository import Repository

_ISSUES = "issues"
_AGENT = "claude"
_LANDING = "\n[landing]\nmessage = "
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:(?:a|b|rc|\.post)\d+)?$")


@answers("What noface detected, as JSON.")
def init(
    force: bool = typer.Option(False, "--force", help="Renew the noface.toml that is there; what is yours stays."),
    main: str = typer.Option("", "--main", help="The branch that work lands on; by default the one checked out."),
    github: bool = typer.Option(False, "--github", help="Issues come from GitHub, work becomes pull requests."),
    create_label: bool = typer.Option(False, "--create-label", help="With --github: make the issues' label there."),
    agent: str = typer.Option("", "--agent", metavar="NAME", help="The agent that works: claude, codex, gemini, …"),
    worker: str = typer.Option("", "--worker", metavar="CMD", help="A command that works, in place of an agent."),
    ask: str = typer.Option(
        "", "--ask", metavar="MODEL", help="Have a model read CI and propose gates; main proves them."
    ),
) -> VerbResult:
    """Write a commented noface.toml and make a folder for issues.

    What the file proposes is detected in the repository. Nothing is sent anywhere but by --ask; --github looks whether
    GitHub is ready, and --create-label alone writes there.
    """
    from noface.cli.config import replace_file
    from noface.cli.probes.github import github_checks, make_label, place_of
    from noface.config.edit import with_value
    from noface.config.load import FILE_NAMES, parse
    from noface.detection.render import render
    from noface.git.repository import discover
    from noface.ui.init import Made, Ready, init_page

    if create_label and not github:
        raise UsageError("--create-label makes a label on GitHub", "Give it together with --github.")
    models = _models(agent, worker)
    repository = discover(Path.cwd(), main)
    present = [repository.root / name for name in FILE_NAMES if (repository.root / name).exists()]
    if present and not force:
        name = present[0].name
        hint = f"Check it with `noface config check`, or replace it: `noface init {'--github ' * github}--force`."
        switch = "noface config set tracker.kind github landing.how pull-request"
        hint = f"Switch it over: {switch}; see it with noface doctor. {hint}" if github else hint
        raise UsageError(f"{name} is there already: {present[0]}", hint)
    place = place_of(repository, parse("", "noface.toml")) if github else None
    target = present[0] if present else repository.root / FILE_NAMES[0]
    but = (*(("tracker", "landing") if github else ()), *(("models", "retry") if agent or worker else ()))

    form = _form_of_messages(repository)

    def text_of(detection: "Detection") -> str:
        text = render(detection, repository.main_name, github=github, models=models, worker=worker)
        if form:
            text = with_value(text, ("landing", "message"), form)
            text = text.replace(
                _LANDING, f"# The form of main's own commits; id, title, summary, labels, author.{_LANDING}"
            )
        return _kept(text, target, but) if present else text

    detection, asked = _detected(repository, target, ask, text_of)
    text = text_of(detection)
    config = parse(text, target.name)
    ready = None
    if place is not None:
        label = config.tracker.label
        made_label = create_label and make_label(place, label)
        ready = Ready(place.repository, place.host, label, tuple(github_checks(repository, config)), made_label)
    backup = _backup(target).name if present else ""
    replace_file(target, text)
    issues = _ISSUES if not (repository.root / _ISSUES).exists() and place is None else ""
    if issues:
        (repository.root / issues).mkdir(exist_ok=True)
    made = Made(
        str(target),
        repository.main_name,
        "becomes pull requests for" if config.landing.by_pull_request else "lands on",
        detection,
        {gate.name: gate.command for gate in config.gates},
        backup,
        issues,
        ready,
        tuple(_remarks(config, agent, ask)),
        asked,
    )
    proves = not ask or any(not gate.refused for gate in detection.gates)
    return VerbResult(made, init_page, EXIT_DONE if proves else EXIT_ATTENTION)


def _detected(
    repository: "Repository", target: Path, ask: str, text_of: "Callable[[Detection], str]"
) -> "tuple[Detection, dict[str, object] | None]":
    from noface.config.load import load, parse
    from noface.detection.detect import detect

    detection = detect(repository.root, _surroundings(repository))
    if not ask:
        return detection, None
    from noface.cli.init_ask import asked_of, proven

    own = load(repository.root) if target.exists() else parse("", target.name)
    proposal, cost = asked_of(repository, own, ask, detection)
    proposal = proven(repository, proposal, detection, lambda each: parse(text_of(each), target.name))
    return proposal, {"model": ask, "cost_usd": cost}


def _form_of_messages(repository: "Repository") -> str:
    from noface.git.landings import own_messages
    from noface.git.plumbing import Plumbing
    from noface.model.commit_message import fitting

    plumbing = Plumbing(repository)
    return fitting(own_messages(plumbing, repository.main)) if plumbing.resolve(repository.main) else ""


def _models(agent: str, worker: str) -> tuple[str, ...]:
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
    from noface.cli.config import replace_file
    from noface.config.load import read

    names = (target.with_name(f"{target.name}.bak{number or ''}") for number in count())
    free = next(path for path in names if not path.exists())
    replace_file(free, read(target))
    return free


def _kept(text: str, target: Path, but: tuple[str, ...]) -> str:
    from noface.config.edit import with_own
    from noface.config.load import parse, read

    both = with_own(text, read(target), but=but)
    try:
        parse(both, target.name)
    except ConfigError:
        return text
    return both


def _remarks(config: "Config", agent: str, ask: str) -> Iterator[str]:
    import shutil

    from noface.config.presets import AGENT_NAMES, models_of

    program = agent or (_AGENT if config.retry.default_model in models_of(_AGENT) else "")
    if program and shutil.which(program) is None:
        yield (
            f"The worker, the program `{program}`, is not on PATH: install it, or name another one: "
            "noface init --force --agent NAME, or --worker CMD."
        )
    there = next((name for name in AGENT_NAMES if models_of(name) and shutil.which(name)), "")
    if there and not ask:
        yield f"To have {there} read your CI and propose gates: noface init --force --ask {models_of(there)[0]}"


def _surroundings(repository: "Repository") -> "Surroundings":
    import shutil

    from noface.detection.detected import Surroundings
    from noface.git.command import Git

    tag = Git.sealed(str(repository.common_dir)).run("describe", "--tags", "--abbrev=0", repository.main)
    version = _VERSION.search(tag.text) if tag.code == 0 else None
    has = lambda program: shutil.which(program) is not None  # noqa: E731
    return Surroundings(has, version[0] if version else "")
