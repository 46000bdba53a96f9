"""`noface retry`: a person gives issues back to the loop, with fresh counters; `noface skip`: leaves them undone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import any_issue, model_name
from noface.cli.verb import ConfigFile, VerbResult, answers, meant
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.store.records import IssueRow

ATTEMPTS_MAX = 50
_KIND_HELP = "All that are blocked for these kinds of failures, such as AUTH."


@answers("The retried issues as JSON.")
def retry(
    issue_ids: list[str] = typer.Argument(None, metavar="[ID...]", help="The issues.", autocompletion=any_issue),
    note: str = typer.Option("", "--note", "-n", help="What the next worker should know; it goes into its prompt."),
    model: str | None = typer.Option(
        None, "--model", "-m", help="Begin with this model of noface.toml.", autocompletion=model_name
    ),
    attempts: int | None = typer.Option(None, "--attempts", help=f"Number of attempts to allow, 1 to {ATTEMPTS_MAX}."),
    everything: bool = typer.Option(False, "--all", help="All that are blocked, or wait for a provider."),
    kinds: list[str] = typer.Option([], "--kind", metavar="KIND,...", help=_KIND_HELP),
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
    if sum((bool(issue_ids), everything, bool(kinds))) != 1:
        hint = "See the blocked issues: noface blocked"
        raise UsageError("name the issues to retry, or use --all, or --kind: one of them", hint)
    session = _begun(open_session(config), "retry")
    if model is not None:
        from noface.config.load import load
        from noface.config.problems import unknown_model

        if model not in (known := load(session.location.root, config).models):
            raise unknown_model(model, known)
    note = decisions.sound_note(note)
    given: dict[str, IssueRow] = {}
    with session.database.transaction():
        for row in _chosen(session, issue_ids, kinds, everything=everything):
            problem = decisions.no_retrying(row) or decisions.gone(row) or decisions.taken_back(session.reader, row)
            if problem is not None:
                raise problem
            more = (note, "retried by a person", model, attempts)
            decisions.give_back(session.journal, session.questions, session.reader, time.time(), row, *more)
            given[row.id] = row
    return _answer(list(given.values()), model, attempts)


@answers("The skipped issues as JSON.")
def skip(
    issue_ids: list[str] = typer.Argument(
        ..., metavar="ID...", help="The issues to leave undone.", autocompletion=any_issue
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


def _begun(session: "ReadSession", verb: str) -> "ReadSession":
    if not session.exists:
        raise UsageError(f"nothing has run yet, so there is nothing to {verb}", "Start with: noface run")
    return session


def _chosen(session: "ReadSession", ids: Sequence[str], kinds: Sequence[str], *, everything: bool) -> "list[IssueRow]":
    from noface.data import table
    from noface.store import decisions
    from noface.ui.issues import find_issue

    if ids:
        return [find_issue(session.reader, name) for name in ids]
    names = [name for text in kinds for name in text.split(",") if name.strip()]
    wanted = [meant(name, table("kinds"), "kind of failure", "kinds") for name in names]
    rows = [row for row in session.reader.issues() if row.present]
    blocked = [row for row in rows if row.status == "blocked"]
    if everything:
        waiting = [row for row in rows if row.status == "waiting"]
        return [*blocked, *(row for row in waiting if decisions.met_providers(session.reader, row))]
    chosen = [row for row in blocked if _kind(row) in wanted]
    if not chosen:
        there_are = ", ".join(dict.fromkeys(_kind(row) for row in blocked))
        hint = f"Those that are blocked ended with: {there_are}" if blocked else "Nothing is blocked."
        raise UsageError(f"no issue is blocked for {' or '.join(wanted)}", hint)
    return chosen


def _kind(row: "IssueRow") -> str:
    return row.block.kind if row.block is not None else "UNKNOWN"


def _answer(rows: "Sequence[IssueRow]", model: str | None, attempts: int | None) -> VerbResult:
    from noface.ui.text import count, hanging

    own = {key: value for key, value in (("model", model), ("attempts", attempts)) if value is not None}
    listed = [
        {
            "id": row.id,
            "title": row.title,
            "status": "ready",
            "was": row.status,
            "kind": _kind(row) if row.status == "blocked" else None,
            **own,
        }
        for row in rows
    ]

    def lines(_: object, width: int) -> list[str]:
        if not rows:
            return ["Nothing is blocked."]
        wanted = [f"with {model}"] if model is not None else []
        wanted += [f"up to {count(attempts, 'attempt')}"] if attempts is not None else []
        told: list[str] = []
        for row in rows:
            was = f"; it was {row.status}" if row.status not in ("ready", "waiting") else ""
            why = f": {row.reason}" if row.cause == "taken_back" else f" for {_kind(row)}"
            kind = why if row.status == "blocked" else ""
            told += hanging(f"{row.title}: {', '.join(['ready', *wanted])}{was}{kind}", width, f"{row.id}  ")
        return [*told, "The counters start again. Next: noface run"]

    return VerbResult({"retry": listed}, lines)
