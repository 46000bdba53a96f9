"""`noface logs ID [N]`: what an attempt's worker and gates wrote, or write."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import any_issue, gate
from noface.cli.verb import ConfigFile, VerbResult, answers
from noface.errors import UsageError
from noface.model.attempt import LEFT_OUT_FILE

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.store.records import AttemptRow


@answers("The files' text as JSON.")
def logs(
    issue_id: str = typer.Argument(..., metavar="ID", help="The issue.", autocompletion=any_issue),
    number: int | None = typer.Argument(None, metavar="[N]", help="The attempt; by default the newest."),
    gate: str | None = typer.Option(
        None, "--gate", "-g", help="What this gate wrote, instead of the worker.", autocompletion=gate
    ),
    prompt: bool = typer.Option(False, "--prompt", help="What the worker was told."),
    diff: bool = typer.Option(False, "--diff", help="What the worker changed."),
    undone: bool = typer.Option(False, "--undone", help="What noface left out of the change, as a patch."),
    follow: bool = typer.Option(False, "--follow", "-f", help="Follow attempts and gates until nothing runs."),
    raw: bool = typer.Option(False, "--raw", help="The whole files byte for byte, escape sequences and all."),
    as_json: bool = False,
    config: ConfigFile = None,
) -> VerbResult | None:
    """Show what the worker wrote in an attempt. Long logs are shortened; --raw prints all of it."""
    stored = prompt or diff or undone
    if bool(gate) + prompt + diff + undone > 1 or (as_json and raw) or (follow and (stored or as_json)):
        raise UsageError(
            "--gate, --prompt, --diff and --undone show different things",
            "Give one of them; --follow only with --gate or --raw.",
        )
    from noface.cli.session import open_session
    from noface.ui.issues import find_attempt, find_issue

    session = open_session(config)
    row = find_issue(session.reader, issue_id)
    if follow:
        _follow(session, row.id, number, gate or "", config, raw=raw)
        return None
    chosen = find_attempt(session.reader.attempts(row.id), row.id, number)
    files = _files(chosen, gate, prompt=prompt, diff=diff, undone=undone)
    if raw:
        for path in files:
            with path.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return None
    return _answer(chosen, files, _models(session.location.root, config))


def _follow(
    session: "ReadSession", issue_id: str, number: int | None, gate: str, config: Path | None, *, raw: bool
) -> None:
    from functools import partial

    from noface.ui.follow import Follower, noface_at_work
    from noface.ui.issues import find_attempt
    from noface.ui.logs import agent_of

    attempts = session.reader.attempts(issue_id)
    if number is not None or not (attempts or noface_at_work(session.reader)):
        find_attempt(attempts, issue_id, number)
    models = _models(session.location.root, config)
    known = partial(agent_of, models=models)
    Follower(session.reader, known, issue_id, number, gate=gate, raw=raw).run()


def _models(root: Path, config: Path | None) -> Mapping[str, object]:
    from noface.config.load import load_tables
    from noface.config.presets import with_presets
    from noface.errors import ConfigError

    try:
        models = load_tables(root, config).get("models", {})
    except ConfigError:
        models = {}
    return with_presets(models if isinstance(models, dict) else {})


def _files(attempt: "AttemptRow", gate: str | None, *, prompt: bool, diff: bool, undone: bool) -> list[Path]:
    from noface.ui.logs import existing, gate_files, gate_names, removed

    directory = Path(attempt.directory)
    if gate:
        what, files = f"log of a gate {gate}", gate_files(directory, gate)
    elif prompt:
        what, files = "prompt", existing(directory / "prompt.md")
    elif diff:
        what, files = "change", existing(directory / "diff.patch")
    elif undone:
        what, files = "undone change of a file", existing(directory / LEFT_OUT_FILE)
    else:
        what, files = "output of the worker", existing(directory / "agent.log", directory / "agent.err")
    if files:
        return files
    where = f"attempt {attempt.number} of issue {attempt.issue_id}"
    if gone := removed(directory):
        raise UsageError(f"the files of {where} {gone}", "Its report is kept: noface show has what came of it.")
    if not directory.is_dir() or [path.name for path in directory.iterdir()] == ["report.json"]:
        raise UsageError(f"the files of {where} are gone", "`noface tools clean` removes them once an issue is merged.")
    names = gate_names(directory) if gate else []
    hint = f"Gates with logs: {', '.join(names)}." if names else f"Its files: ls {directory}"
    raise UsageError(f"there is no {what} in {where}", hint)


def _answer(attempt: "AttemptRow", files: list[Path], models: Mapping[str, object]) -> VerbResult:
    from noface.errors import NofaceError
    from noface.ui.logs import excerpt, log_lines
    from noface.ui.page import paint

    directory = Path(attempt.directory)
    try:
        excerpts = tuple(excerpt(path, directory) for path in files)
    except OSError as error:
        raise NofaceError(f"cannot read {error.filename}: {error.strerror}", "Check its permissions.") from error

    def lines(*_: object) -> Iterator[str]:
        if not any(each.text for each in excerpts):
            yield paint("It wrote nothing.", "quiet")
            return
        for each in excerpts:
            if len(excerpts) > 1:
                yield paint(f"── {each.file}", "quiet")
            streamed = each.file == "agent.log"  # if it is a stream of JSON, what that says
            yield from log_lines(each.text, directory, attempt.model, models) if streamed else each.text.splitlines()

    head = {"id": attempt.issue_id, "attempt": attempt.number, "model": attempt.model}
    return VerbResult({**head, "logs": excerpts}, lines)
