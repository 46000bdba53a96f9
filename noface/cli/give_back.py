"""`noface unblock` and `retry`: a person gives issues back to the loop, with fresh counters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import failure_kind, model_name, retried_issue, shut_issue
from noface.cli.verb import ConfigFile, VerbResult, answers
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.store.records import IssueRow


ATTEMPTS_MAX = 50
_KIND_HELP = "All that are blocked for these kinds of failures, such as AUTH."


@answers("The unblocked issues as JSON.")
def unblock(
    issue_ids: list[str] = typer.Argument(None, metavar="[ID...]", help="The issues.", autocompletion=shut_issue),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know; it goes into its prompt."),
    model: str | None = typer.Option(
        None, "--model", "-m", help="Begin with this model of noface.toml.", autocompletion=model_name
    ),
    attempts: int | None = typer.Option(None, "--attempts", help=f"Number of attempts to allow, 1 to {ATTEMPTS_MAX}."),
    everything: bool = typer.Option(False, "--all", help="All blocked issues."),
    kinds: list[str] = typer.Option([], "--kind", metavar="KIND,...", help=_KIND_HELP, autocompletion=failure_kind),
    dry_run: bool = typer.Option(False, "--dry-run", help="Tell which issues these are; change nothing."),
    config: ConfigFile = None,
) -> VerbResult:
    """Unblock blocked or skipped issues. Their attempt counters start again."""
    from noface.cli.session import open_session
    from noface.store.decisions import no_unblocking, sound_note

    if attempts is not None and not 1 <= attempts <= ATTEMPTS_MAX:
        raise UsageError(f"--attempts takes 1 to {ATTEMPTS_MAX}, not {attempts}", "Nothing was changed.")
    wanted = _Wanted("unblock", tuple(issue_ids or ()), _known_kinds(kinds), everything)
    session = open_session(config)
    if model is not None:
        _require_model(session.location.root, config, model)
    change = _Change(sound_note(note), "unblocked by a person", model, attempts, dry_run)
    return _answer(wanted, give_back(session, wanted, no_unblocking, change), change)


@answers("The retried issues as JSON.")
def retry(
    issue_ids: list[str] = typer.Argument(None, metavar="[ID...]", help="The issues.", autocompletion=retried_issue),
    everything: bool = typer.Option(False, "--all", help="All that are blocked, or wait for a provider."),
    kinds: list[str] = typer.Option([], "--kind", metavar="KIND,...", help=_KIND_HELP, autocompletion=failure_kind),
    dry_run: bool = typer.Option(False, "--dry-run", help="Tell which issues these are; change nothing."),
    config: ConfigFile = None,
) -> VerbResult:
    """Try issues again, now. Their attempt counters start again, their best work is kept.

    Providers that they wait for are asked at once, by one attempt each.
    """
    from noface.cli.session import open_session
    from noface.store.decisions import no_retrying

    wanted = _Wanted("retry", tuple(issue_ids or ()), _known_kinds(kinds), everything)
    change = _Change("", "retried by a person", dry_run=dry_run)
    return _answer(wanted, give_back(open_session(config), wanted, no_retrying, change), change)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which issues a person names: by their ids, all that are blocked, or those blocked for one of `kinds`."""

    verb: str
    ids: tuple[str, ...]
    kinds: tuple[str, ...]
    everything: bool

    def __post_init__(self) -> None:
        ways = [bool(self.ids), self.everything, bool(self.kinds)]
        if sum(ways) == 1:
            return
        hint = "See the blocked issues: noface blocked"
        if not any(ways):
            raise UsageError(f"name the issues to {self.verb}, or use --all or --kind", hint)
        raise UsageError(f"name the issues to {self.verb}, or use --all, or --kind: one of them", hint)


@dataclass(frozen=True, slots=True)
class _Change:
    """What becomes of the issues. `model` and `attempts` hold for them until they are given back again."""

    note: str
    why: str
    model: str | None = None
    attempts: int | None = None
    dry_run: bool = False


def _known_kinds(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds of failures that are named, in any case. Raises UsageError for one that there is not."""
    from noface.config.problems import did_you_mean
    from noface.data import table

    names = [name.strip().upper().replace("-", "_") for text in texts for name in text.split(",") if name.strip()]
    known = tuple(table("kinds"))
    for name in names:
        if name not in known:
            raise UsageError(f"there is no kind of failure {name[:80]}; {did_you_mean(name[:80], known)}", _KINDS_HINT)
    if texts and not names:
        raise UsageError("--kind takes the name of a kind of failure", _KINDS_HINT)
    return tuple(dict.fromkeys(names))


_KINDS_HINT = "Those of the blocked issues: noface blocked --json; all there are: noface policy"


Refusal = Callable[["IssueRow"], UsageError | None]


def give_back(session: "ReadSession", wanted: _Wanted, refusal: Refusal, change: _Change) -> "list[IssueRow]":
    """Give all the issues that are meant back to the loop, or none of them; return their rows as they were.

    Raises UsageError if nothing has been run yet, an id is unknown, an issue's file is gone, or `refusal` finds a
    reason. A noface that is running takes them up with its next tick.
    """
    import time

    from noface.store import decisions

    if not session.exists:
        raise UsageError(f"nothing has run yet, so there is nothing to {wanted.verb}", "Start with: noface run")
    given: dict[str, IssueRow] = {}
    with session.database.transaction():
        for row in _chosen(session, wanted):
            problem = refusal(row) or decisions.gone(row) or decisions.taken_back(session.reader, row)
            if problem is not None:
                raise problem
            if not change.dry_run:
                more = (change.note, change.why, change.model, change.attempts)
                decisions.give_back(session.journal, session.reader, time.time(), row, *more)
            given[row.id] = row
    return list(given.values())


def _chosen(session: "ReadSession", wanted: _Wanted) -> "list[IssueRow]":
    from noface.store import decisions
    from noface.ui.issues import find_issue

    if wanted.ids:
        return [find_issue(session.reader, name) for name in wanted.ids]
    rows = [row for row in session.reader.issues() if row.present]
    blocked = [row for row in rows if row.status == "blocked"]
    if wanted.everything:
        waiting = [row for row in rows if row.status == "waiting"] if wanted.verb == "retry" else []
        return [*blocked, *(row for row in waiting if decisions.met_providers(session.reader, row))]
    chosen = [row for row in blocked if _kind(row) in wanted.kinds]
    if not chosen:
        there_are = ", ".join(dict.fromkeys(_kind(row) for row in blocked))
        hint = f"Those that are blocked ended with: {there_are}" if blocked else "Nothing is blocked."
        raise UsageError(f"no issue is blocked for {' or '.join(wanted.kinds)}", hint)
    return chosen


def _kind(row: "IssueRow") -> str:
    return row.block.kind if row.block is not None else "UNKNOWN"


def _answer(wanted: _Wanted, rows: "Sequence[IssueRow]", change: _Change) -> VerbResult:
    own = {"model": change.model, "attempts": change.attempts}
    listed = [
        {
            "id": row.id,
            "title": row.title,
            "status": row.status if change.dry_run else "ready",
            "was": row.status,
            "kind": _kind(row) if row.status == "blocked" else None,
            **{key: value for key, value in own.items() if value is not None},
        }
        for row in rows
    ]
    document = {wanted.verb: listed, "dry_run": change.dry_run}
    return VerbResult(document, lambda _, width: _lines(rows, change, width) if rows else ["Nothing is blocked."])


def _lines(rows: "Sequence[IssueRow]", change: _Change, width: int) -> list[str]:
    """Return what a person reads after giving issues back."""
    from noface.ui.text import count, hanging

    is_ready, was_before = ("would be ready", "is") if change.dry_run else ("ready", "was")
    own = [f"with {change.model}"] if change.model is not None else []
    own += [f"up to {count(change.attempts, 'attempt')}"] if change.attempts is not None else []
    lines: list[str] = []
    for row in rows:
        was = f"; it {was_before} {row.status}" if row.status not in ("ready", "waiting") else ""
        kind = f" for {_kind(row)}" if row.status == "blocked" else ""
        lines += hanging(f"{row.title}: {', '.join([is_ready, *own])}{was}{kind}", width, f"{row.id}  ")
    return [*lines, "Nothing was changed." if change.dry_run else "The counters start again. Next: noface run"]


def _require_model(root: Path, config: Path | None, model: str) -> None:
    from noface.config.load import load
    from noface.config.problems import did_you_mean

    known = load(root, config).models
    if model not in known:
        raise UsageError(f"noface.toml has no model {model[:80]}; {did_you_mean(model[:80], known)}", _MODELS_HINT)


_MODELS_HINT = "All of them, with the built-in ones: noface config show"
