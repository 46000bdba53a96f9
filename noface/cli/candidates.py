"""What can stand where a command takes a value, for the shell's Tab: nothing is complained of."""

import re
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

import typer

Candidate: TypeAlias = tuple[str, str]
"""A value, and what a person reads beside it."""
Candidates: TypeAlias = Callable[[typer.Context, str], list[Candidate]]

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


def _issues_in(*statuses: str) -> Candidates:

    @_offered
    def candidates(context: typer.Context, incomplete: str) -> list[Candidate]:
        del incomplete
        from noface.cli.fast_path import overview

        named = context.params.get("config")
        return [
            (name, f"{title[:_TITLE_CHARS_MAX]} ({status})")
            for name, title, status in overview(Path.cwd(), Path(named) if named else None).names()
            if not statuses or status in statuses
        ]

    return candidates


any_issue = _issues_in()
proposed_issue = _issues_in("approval", "blocked")


@_offered
def model_name(context: typer.Context, incomplete: str) -> list[Candidate]:
    """Name the models of noface.toml, then the built-in ones."""
    del incomplete
    from noface.config.presets import with_presets

    own = _table(_tables(context).get("models"))
    known = with_presets(own)
    ordered = [*own, *(name for name in known if name not in own)]
    return [
        (name, f"{_table(known[name]).get('agent', '')} {_table(known[name]).get('model', '')}") for name in ordered
    ]


@_offered
def gate(context: typer.Context, incomplete: str) -> list[Candidate]:
    del incomplete
    gates = _tables(context).get("gates")
    named = [each for each in gates if isinstance(each, dict)] if isinstance(gates, list) else []
    own = [(str(each.get("name", "")), str(each.get("command", ""))) for each in named]
    return [*own, ("accept", "the issue's own commands")]


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
