"""The pages of the board: from the documents of the looking verbs to HTML, each figure as they have it.

Whatever a template puts out is escaped, and cleaned of what drives a terminal: agents wrote much of it.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup

from noface.cli.session import ReadSession
from noface.errors import UsageError
from noface.extras.board.deciding import VERBS, displayed, possible
from noface.extras.board.night_html import body, environment
from noface.extras.board.reviews import LineReview, attempt_diff, kept_review
from noface.report.night import read_night
from noface.store.overview import NewestAttempt
from noface.store.records import AttemptRow, IssueRow
from noface.ui.blocked import BlockedDocument, blocked_document
from noface.ui.issues import find_issue
from noface.ui.logs import LogFile, excerpt, existing, gate_files, gate_names, last_lines, log_lines, removed
from noface.ui.show import show_document
from noface.ui.since import since_when
from noface.ui.status import Status, status_now
from noface.ui.text import clean

COLUMNS = (
    ("Needs you", ("approval", "blocked", "held")),
    ("At work", ("running", "landing", "review")),
    ("To do", ("ready", "waiting", "epic")),
    ("Done", ("merged", "skipped")),
)
"""The columns, and the states that share each. Work that passed and cannot land is held, and needs a person."""
STATES = tuple(state for _, states in COLUMNS for state in states)
_CARDS_MAX = 60
_LINES_SHOWN = 2
_LOG_LINES_MAX = 3_000
_DIFF_ROWS_MAX = 6_000
TABS = ("story", "diff", "log", "prompt")


class BoardQuery(NamedTuple):
    """What a person wants to see of the board: only states, only what a text finds, all cards of a state."""

    find: str = ""
    state: str = ""
    problems: bool = False
    everything: str = ""


class Card(NamedTuple):
    """An issue on the board."""

    issue: IssueRow
    state: str
    needs: str
    since: float | None
    last: str


class CardStack(NamedTuple):
    """The cards of a state, or those of something that a person has to do: as many as the page has room for."""

    heading: str
    state: str
    total: int
    cards: tuple[Card, ...]


class Pages:
    """Makes pages. `base` is the folder of the session, `title` names the repository; one thread asks at a time."""

    def __init__(self, title: str, *, read_only: bool = False) -> None:
        self._fixed = {"title": title, "read_only": read_only, "VERBS": VERBS, "TABS": TABS}

    def render(self, template: str, base: str, **values: object) -> str:
        more = {"base": base, "now": time.time(), "message": "", "hint": "", "done": "", "here": "", **self._fixed}
        return environment().get_template(template).render(**{**more, **values})

    def board(self, state: ReadSession, base: str, wanted: BoardQuery, done: str = "") -> str:
        """Return the board."""
        document = status_now(state.reader, time.time())
        held = state.reader.held()
        blocked = blocked_document(state.reader.waiting_for_a_person(), held)
        stacks = self._stacks(state, document, blocked, wanted)
        columns = [(name, [each for each in stacks if each.state in states]) for name, states in COLUMNS]
        query = {"find": wanted.find, "state": wanted.state, "all": wanted.everything}
        query["only"] = "problems" * wanted.problems
        here = urlencode({key: value for key, value in query.items() if value})
        return self.render(
            "board.html",
            base,
            document=document,
            columns=[(name, each) for name, each in columns if each],
            wanted=wanted,
            here=f"{base}/?{here}" if here else f"{base}/",
            needing=len(blocked.blocked),
            counts={each: document.counts[each] for each in STATES if each in document.counts},
            states=[each for each in STATES if each in document.counts or (each == "held" and held)],
            spent=state.reader.costs()[0],
            done=done,
        )

    @staticmethod
    def _stacks(state: ReadSession, document: Status, blocked: BlockedDocument, wanted: BoardQuery) -> list[CardStack]:
        """Return the cards by state; what needs a person by their task, in the order of `noface blocked`."""
        needs = {each.id: each.detail for each in blocked.blocked}
        held = frozenset(each.id for each in blocked.blocked if each.status == "held")
        tasks = {issue_id: task.task for task in blocked.tasks for issue_id in task.ids}
        chosen: dict[str, list[tuple[IssueRow, str]]] = {task.task: [] for task in blocked.tasks}
        words = wanted.find.lower().split()
        for issue in document.issues:
            place = "held" if issue.id in held else issue.status
            if (wanted.state and place != wanted.state) or (wanted.problems and issue.id not in tasks):
                continue
            text = f"{issue.id} {issue.title} {issue.reason} {issue.model or ''}".lower() if words else ""
            if all(word in text for word in words):
                chosen.setdefault(tasks.get(issue.id, place), []).append((issue, place))
        for place in ("merged", "skipped"):  # what was done last is looked at first
            chosen.get(place, []).reverse()
        listed = {
            heading: issues if wanted.everything == issues[0][1] else issues[:_CARDS_MAX]
            for heading, issues in chosen.items()
            if issues
        }
        newest = state.reader.newest_attempts()
        return [
            CardStack(
                heading,
                issues[0][1],
                len(chosen[heading]),
                tuple(_card(issue, place, needs, newest.get(issue.id)) for issue, place in issues),
            )
            for heading, issues in listed.items()
        ]

    def report(self, state: ReadSession, base: str, since: str) -> str:
        now = time.time()
        at = since_when(since or "run", now, state.reader.night_began())
        night = read_night(state.reader, at, now, state.location.root)
        text = Markup(body(night, f"{base}/issue"))  # noqa: S704 - its own template has escaped what is in it
        return self.render("report.html", base, body=text, since=since)

    def issue(self, state: ReadSession, base: str, issue_id: str, tab: str, number: int | None, **more: Any) -> str:
        """Return the page of an issue. Raises UsageError if there is none, or no such attempt."""
        row = find_issue(state.reader, issue_id)
        attempts = state.reader.attempts(row.id)
        attempt = next((each for each in reversed(attempts) if number in (None, each.number)), None)
        if number is not None and attempt is None:
            raise UsageError(f"issue {row.id} has no attempt {number}")
        values: dict[str, object] = {
            "row": row,
            "tab": tab,
            "attempt": attempt,
            "numbers": [a.number for a in attempts],
        }
        values["document"] = document = show_document(state.reader, row)
        values |= {"seen": displayed(state.reader, row.id), "verbs": possible(row) if state.exists else ()}
        if tab == "story":
            values |= {"issue": state.issue(row)}
        behind = str(more.pop("behind", ""))
        values |= _beside(needing(state), row.id, behind)
        values |= {"last": _last_of(attempts, row), "note": "", "commenting": None, "gates": (), "gate": ""}
        if attempt is not None and tab != "story":
            values |= _TABS[tab](state, attempt, more.get("gate", ""))
        address = {"id": row.id, "tab": tab, "n": number or "", "behind": behind}
        here = f"{base}/issue?{urlencode({key: value for key, value in address.items() if value})}"
        return self.render("issue.html", base, heading=document.issue.title, here=here, **{**values, **more})


def _card(issue: IssueRow, place: str, needs: Mapping[str, str], newest: NewestAttempt | None) -> Card:
    need = needs.get(issue.id, "")
    if newest is None or newest.outcome is not None or issue.status != "running":
        return Card(issue, place, need, None, "")
    folder = Path(newest.directory)
    written = ((each.stat().st_mtime_ns, each.stem) for each in (folder / "gates").glob("*.out"))
    gate = max(written, default=(0, ""))[1]
    last = f"gates: {gate}" if gate else "".join(last_lines(folder, newest.model, 1))
    return Card(issue, place, need, newest.started_at, clean(last))


def needing(state: ReadSession) -> list[IssueRow]:
    waiting, held = state.reader.waiting_for_a_person(), state.reader.held()
    rows = {each.id: each for each in (*waiting, *held)}
    return [rows[each] for task in blocked_document(waiting, held).tasks for each in task.ids]


def following(ordered: Sequence[IssueRow], issue_id: str) -> IssueRow | None:
    at = next((at for at, each in enumerate(ordered) if each.id == issue_id), None)
    return None if at is None or len(ordered) == 1 else ordered[(at + 1) % len(ordered)]


def _beside(ordered: Sequence[IssueRow], issue_id: str, behind: str) -> dict[str, object]:
    ids = [each.id for each in ordered]
    if issue_id not in ids:
        at = ids.index(behind) if behind in ids else 0
        return {"before": None, "next": next(iter(ordered[at:]), None), "place": ""}
    at = ids.index(issue_id)
    place = f"{at + 1} of {len(ids)} that need you" if ids[1:] else ""
    return {"before": ordered[at - 1] if at else None, "next": following(ordered, issue_id), "place": place}


def _last_of(attempts: list[AttemptRow], row: IssueRow) -> tuple[str, ...]:
    if not attempts or row.status not in ("running", "blocked", "approval"):
        return ()
    return last_lines(Path(attempts[-1].directory), attempts[-1].model, _LINES_SHOWN * 6)


def _of_log(state: ReadSession, attempt: AttemptRow, gate: str) -> dict[str, object]:
    del state
    folder = Path(attempt.directory)
    files = gate_files(folder, gate) if gate else existing(folder / "agent.log", folder / "agent.err")
    logs = [(each.file, each.left_out, _log_text(each, attempt)) for each in _excerpts(files, folder)]
    return {"logs": logs, "gates": gate_names(folder), "gate": gate, "gone": removed(folder)}


def _log_text(log: LogFile, attempt: AttemptRow) -> str:
    if log.file != "agent.log":
        return log.text
    lines = log_lines(log.text, Path(attempt.directory), attempt.model, {})
    cut = len(lines) - _LOG_LINES_MAX
    return "\n".join([f"… {cut} lines before", *lines[-_LOG_LINES_MAX:]] if cut > 0 else lines)


def _excerpts(files: Iterable[Path], folder: Path) -> list[LogFile]:
    return [excerpt(path, folder) for path in files]


def _of_prompt(state: ReadSession, attempt: AttemptRow, gate: str) -> dict[str, object]:
    del state, gate
    folder = Path(attempt.directory)
    files = existing(folder / "prompt.md")
    return {
        "logs": [(each.file, each.left_out, each.text) for each in _excerpts(files, folder)],
        "gone": removed(folder),
    }


def _of_diff(state: ReadSession, attempt: AttemptRow, gate: str) -> dict[str, object]:
    del gate
    review, files = kept_review(state.reader, attempt.issue_id), attempt_diff(attempt)
    rows, parts = 0, []
    for file in files:
        if rows < _DIFF_ROWS_MAX:
            parts.append(replace(file, rows=file.rows[: _DIFF_ROWS_MAX - rows]))
        rows += len(file.rows)
    ours = review if (review.attempt, review.commit) == (attempt.number, attempt.commit_id) else LineReview()
    remarks = {each.at: each for each in ours.comments}
    moved = review if review.comments and not ours.comments else None
    cut = max(rows - _DIFF_ROWS_MAX, 0)
    return {"files": parts, "remarks": remarks, "moved": moved, "cut": cut, "gone": removed(Path(attempt.directory))}


_TABS = {"diff": _of_diff, "log": _of_log, "prompt": _of_prompt}
