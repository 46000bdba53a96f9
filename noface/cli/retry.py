"""`noface retry`: a person gives issues back to the loop, with fresh counters; `noface skip`: leaves them undone."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import failure_kind, model_name, retried_issue, skippable_issue
from noface.cli.verb import ConfigFile, VerbResult, answers
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.store.records import IssueRow

ATTEMPTS_MAX = 50
_KIND_HELP = "All that are blocked for these kinds of failures, such as AUTH."
_KINDS_HINT = "Those of the blocked issues: noface blocked --json; all there are: noface policy"


@answers("The retried issues as JSON.")
def retry(
    issue_ids: list[str] = typer.Argument(None, metavar="[ID...]", help="The issues.", autocompletion=retried_issue),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know; it goes into its prompt."),
    model: str | None = typer.Option(
        None, "--model", "-m", help="Begin with this model of noface.toml.", autocompletion=model_name
    ),
    attempts: int | None = typer.Option(None, "--attempts", help=f"Number of attempts to allow, 1 to {ATTEMPTS_MAX}."),
    everything: bool = typer.Option(False, "--all", help="All that are blocked, or wait for a provider."),
    kinds: list[str] = typer.Option([], "--kind", metavar="KIND,...", help=_KIND_HELP, autocompletion=failure_kind),
    dry_run: bool = typer.Option(False, "--dry-run", help="Tell which issues these are; change nothing."),
    config: ConfigFile = None,
) -> VerbResult:
    """Try issues again, blocked and skipped ones too. Their attempt counters start again, their best work is kept.

    Providers that they wait for are asked at once, by one attempt each.
    """
    import time

    from noface.cli.session import open_session
    from noface.store import decisions

    if attempts is not None and not 1 <= attempts <= ATTEMPTS_MAX:
        raise UsageError(f"--attempts takes 1 to {ATTEMPTS_MAX}, not {attempts}", "Nothing was changed.")
    wanted = _Wanted(tuple(issue_ids or ()), _known_kinds(kinds), everything)
    session = _begun(open_session(config), "retry")
    if model is not None:
        _require_model(session.location.root, config, model)
    change = _Change(decisions.sound_note(note), model, attempts, dry_run)
    given: dict[str, IssueRow] = {}
    with session.database.transaction():
        for row in _chosen(session, wanted):
            problem = decisions.no_retrying(row) or decisions.gone(row) or decisions.taken_back(session.reader, row)
            if problem is not None:
                raise problem
            if not dry_run:
                more = (change.note, "retried by a person", model, attempts)
                decisions.give_back(session.journal, session.reader, time.time(), row, *more)
            given[row.id] = row
    return _answer(list(given.values()), change)


@answers("The skipped issues as JSON.")
def skip(
    issue_ids: list[str] = typer.Argument(
        ..., metavar="ID...", help="The issues to leave undone.", autocompletion=skippable_issue
    ),
    config: ConfigFile = None,
) -> VerbResult:
    """Leave issues undone: all of these, or none. `noface retry` takes them up again."""
    import time

    from noface.cli.session import open_session
    from noface.store import decisions
    from noface.ui.issues import find_issue
    from noface.ui.text import hanging

    session = _begun(open_session(config), "skip")
    with session.database.transaction():
        rows = {row.id: row for row in (find_issue(session.reader, name) for name in issue_ids)}
        for row in rows.values():
            problem = decisions.no_skipping(row) or decisions.gone(row)
            if problem is not None:
                raise problem
            decisions.skip(time.time(), session.journal, row)
    skipped = [{"id": row.id, "title": row.title, "status": "skipped", "was": row.status} for row in rows.values()]
    return VerbResult(
        {"skip": skipped},
        lambda _, width: [
            line for row in rows.values() for line in hanging(f"{row.title}: skipped", width, f"{row.id}  ")
        ],
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which issues a person names: by their ids, all that are blocked, or those blocked for one of `kinds`."""

    ids: tuple[str, ...]
    kinds: tuple[str, ...]
    everything: bool

    def __post_init__(self) -> None:
        ways = [bool(self.ids), self.everything, bool(self.kinds)]
        if sum(ways) == 1:
            return
        hint = "See the blocked issues: noface blocked"
        if not any(ways):
            raise UsageError("name the issues to retry, or use --all or --kind", hint)
        raise UsageError("name the issues to retry, or use --all, or --kind: one of them", hint)


@dataclass(frozen=True, slots=True)
class _Change:
    """What becomes of the issues. `model` and `attempts` hold for them until they are given back again."""

    note: str
    model: str | None
    attempts: int | None
    dry_run: bool


def _begun(session: "ReadSession", verb: str) -> "ReadSession":
    if not session.exists:
        raise UsageError(f"nothing has run yet, so there is nothing to {verb}", "Start with: noface run")
    return session


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


def _chosen(session: "ReadSession", wanted: _Wanted) -> "list[IssueRow]":
    from noface.store import decisions
    from noface.ui.issues import find_issue

    if wanted.ids:
        return [find_issue(session.reader, name) for name in wanted.ids]
    rows = [row for row in session.reader.issues() if row.present]
    blocked = [row for row in rows if row.status == "blocked"]
    if wanted.everything:
        waiting = [row for row in rows if row.status == "waiting"]
        return [*blocked, *(row for row in waiting if decisions.met_providers(session.reader, row))]
    chosen = [row for row in blocked if _kind(row) in wanted.kinds]
    if not chosen:
        there_are = ", ".join(dict.fromkeys(_kind(row) for row in blocked))
        hint = f"Those that are blocked ended with: {there_are}" if blocked else "Nothing is blocked."
        raise UsageError(f"no issue is blocked for {' or '.join(wanted.kinds)}", hint)
    return chosen


def _kind(row: "IssueRow") -> str:
    return row.block.kind if row.block is not None else "UNKNOWN"


def _answer(rows: "Sequence[IssueRow]", change: _Change) -> VerbResult:
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
    document = {"retry": listed, "dry_run": change.dry_run}
    return VerbResult(document, lambda _, width: _lines(rows, change, width) if rows else ["Nothing is blocked."])


def _lines(rows: "Sequence[IssueRow]", change: _Change, width: int) -> list[str]:
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
        hint = "All of them, with the built-in ones: noface config show"
        raise UsageError(f"noface.toml has no model {model[:80]}; {did_you_mean(model[:80], known)}", hint)
