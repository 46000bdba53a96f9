"""What can stand where a command takes a value, for the shell's Tab: nothing is written, and nothing complained of."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

import typer

Candidate: TypeAlias = tuple[str, str]
"""A value, and what a person reads beside it."""
Candidates: TypeAlias = Callable[[typer.Context, str], list[Candidate]]

_BUSY_SECONDS = 0.2
"""How long to wait for a run that is writing."""
_TITLE_CHARS_MAX = 48
_UNSAFE = re.compile(r"[^\w .,()/+@=-]")


def _offered(candidates: Candidates) -> Candidates:
    """Return candidates as shells may have them: zsh evaluates what it is answered, and a title is anybody's text."""

    @wraps(candidates)
    def offered(context: typer.Context, incomplete: str) -> list[Candidate]:
        try:
            found = candidates(context, incomplete)
        except Exception:  # noqa: BLE001 - a person is in the middle of a line
            return []
        return [(value, _UNSAFE.sub(" ", about)) for value, about in found if not re.search(r"[\s\\\"'`$]", value)]

    return offered


def _issues_that(*statuses: str, without: tuple[str, ...] = ()) -> Candidates:
    """Return what names the issues in one of `statuses`, or if none is given those that are not `without`."""

    @_offered
    def candidates(context: typer.Context, incomplete: str) -> list[Candidate]:
        del incomplete
        given = _given(context, "issue_ids", "issue", "depends_on")
        return [
            (name, f"{title[:_TITLE_CHARS_MAX]} ({status})")
            for name, title, status in _names(context)
            if (status in statuses if statuses else status not in without) and name not in given
        ]

    return candidates


any_issue = _issues_that()
open_issue = _issues_that(without=("merged", "epic"))
proposed_issue = _issues_that("approval", "blocked")


@_offered
def model_name(context: typer.Context, incomplete: str) -> list[Candidate]:
    """Name the models of noface.toml, then the built-in ones."""
    del incomplete
    from noface.config.presets import with_presets

    own = _table(_tables(context).get("models"))
    known = with_presets(own)
    given = _given(context, "model")
    ordered = [*own, *(name for name in known if name not in own)]
    about = {name: f"{_table(known[name]).get('agent', '')} {_table(known[name]).get('model', '')}" for name in ordered}
    return [(name, text) for name, text in about.items() if name not in given]


@_offered
def failure_kind(context: typer.Context, incomplete: str) -> list[Candidate]:
    """Name the kinds of failures, also behind the commas of a list."""
    from noface.data import table
    from noface.model.taxonomy import FailureKind

    before, comma, _ = incomplete.rpartition(",")
    given = {*before.upper().split(","), *_given(context, "kinds", "kind")}
    kinds = table("kinds")
    return [(before + comma + name, str(kinds[name]["what"])) for name in FailureKind.__members__ if name not in given]


@_offered
def gate(context: typer.Context, incomplete: str) -> list[Candidate]:
    del incomplete
    gates = _tables(context).get("gates")
    named = [each for each in gates if isinstance(each, dict)] if isinstance(gates, list) else []
    own = [(str(each.get("name", "")), str(each.get("command", ""))) for each in named]
    return [*own, ("accept", "the issue's own commands")]


def _given(context: typer.Context, *names: str) -> set[str]:
    values = (context.params.get(name) for name in names)
    return {str(item) for value in values if isinstance(value, (list, tuple)) for item in value}


def _names(context: typer.Context) -> Iterator[tuple[str, str, str]]:
    """Yield id, title and status of the issues that the state has, then of those that no run has seen yet."""
    from noface.cli.fast_path import fingerprint, read_only
    from noface.data.trackers import tracker_settings
    from noface.git.locate import locate
    from noface.store.overview import Overview
    from noface.trackers.base import open_tracker

    location, tables = locate(Path.cwd()), _tables(context)
    path = location.state_dir / "state.db"
    known = Overview(read_only(path, _BUSY_SECONDS)) if path.is_file() else None
    names = known.names() if known is not None else []
    yield from names
    settings = tracker_settings(tables)
    if settings is None or (known is not None and known.fact("fingerprint") == fingerprint(location, tables)):
        return
    ids, merged = {name for name, _, _ in names}, [name for name, _, status in names if status == "merged"]
    for issue in open_tracker(settings, location.root, location.state_dir).backlog(merged).issues:
        if issue.id not in ids:
            yield issue.id, issue.title, "ready"


def _tables(context: typer.Context) -> Mapping[str, Any]:
    from noface.config.load import load_tables
    from noface.errors import NofaceError
    from noface.git.locate import locate

    named = context.params.get("config")
    try:
        return load_tables(Path.cwd() if named else locate(Path.cwd()).root, Path(named) if named else None)
    except NofaceError:
        return {}


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
