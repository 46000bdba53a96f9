"""`noface status`: where every issue stands, and the page of it, what needs a person first.

Scripts read the document: add keys, never rename. Imports little, and the records are named tuples, which are quicker
to make than dataclasses: a look must cost little more than a start.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from noface.model.description import Minimum, OneOf, Timestamp
from noface.model.listed import HostState, IssueFault, UnsteadyTest, Window
from noface.model.taxonomy import Cause
from noface.store.overview import Away, Gap, ModelWait, Overview
from noface.store.records import IssueRow, RunRow
from noface.ui.page import advised, paint, painted
from noface.ui.text import cells, clean, count, fit, hanging, moment, money, pad

_STATUS = "noface.model.taxonomy.IssueStatus"

NOT_DONE = "skipped, not done"
"""What stands for an issue that was left undone where others ask whether they may start."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_SETTLED = ("merged", "skipped")
IN_REVIEW = "in review"
"""What stands for an issue whose pull request is open where others ask whether they may start."""
OFF_MAIN = "not on main any more"
"""What stands for an issue that has landed and was taken back, or landed elsewhere."""
_STUCK = {
    "blocked": "is blocked",
    OFF_MAIN: f"is {OFF_MAIN}",
    "approval": "waits for approval",
    NOT_DONE: f"is {NOT_DONE}",
    IN_REVIEW: f"is {IN_REVIEW}",
}
"""What keeps those waiting who depend on it, by its standing, as it is said of it."""


class Status(NamedTuple):
    """Where every issue stands."""

    issues: Annotated[tuple[IssueRow, ...], "The issues, in the order they are worked on."]
    counts: Annotated[
        dict[Annotated[str, OneOf(_STATUS)], Annotated[int, Minimum(1), "How many."]],
        "How many issues have each status; a status that none has is left out.",
    ]
    run: Annotated[RunRow | None, "The newest run; null before the first."]
    faults: Annotated[tuple[IssueFault, ...], "The issues that cannot be run as written."] = ()
    gaps: Annotated[tuple[Gap, ...], "What workers of the newest run reported as missing."] = ()
    waits: Annotated[tuple[ModelWait, ...], "The models whose provider is waited for."] = ()
    unsteady: Annotated[tuple[UnsteadyTest, ...], "The tests that fail now and then on main."] = ()
    tracker_away: Annotated[Away | None, "A tracker that did not answer the newest run; null if it did."] = None
    since: Annotated[float | None, Timestamp, "With --since: from when on it tells; else null."] = None
    unchanged: Annotated[int, "With --since: how many issues are left out, since nothing happened to them."] = 0
    left_out: Annotated[tuple[IssueFault, ...], "The issues that are not worked on, such as strangers', and why."] = ()
    quotas: Annotated[tuple[Window, ...], "The windows of logins' quotas at their providers, as was told last."] = ()
    hosts: Annotated[tuple[HostState, ...], "The hosts of the newest run, as they were seen last."] = ()
    notify_away: Annotated[tuple[Away, ...], "The services of [notify] that take no messages."] = ()


def counted(status: str) -> str:
    return IN_REVIEW if status == "review" else status


def standings(rows: Iterable[IssueRow]) -> dict[str, str]:
    return {row.id: _standing(row) for row in rows}


def _standing(row: IssueRow) -> str:
    if row.status == "review":
        return IN_REVIEW
    if row.edited:
        return "ready"
    if row.cause == "taken_back":
        return OFF_MAIN
    return NOT_DONE if row.status == "skipped" and not row.satisfied else row.status


def effective_status(row: IssueRow, statuses: Mapping[str, str]) -> tuple[str, str]:
    """Return an issue's status and reason; what it depends on is looked at, too.

    `statuses` are those of `standings`. What the work turned out to need counts as what the issue names itself.
    """
    if row.edited:
        return "ready", edited_since(row)
    if row.status not in ("ready", "waiting") or not (row.depends_on or row.needs):
        return row.status, row.reason
    needed = dict.fromkeys((*row.depends_on, *row.needs))
    open_ones = [name for name in needed if statuses.get(name) not in _SETTLED]
    if not open_ones:
        over = row.status == "waiting" and row.until is None
        return ("ready", "what it waited for is merged") if over else (row.status, row.reason)
    stuck = [f"{name} {_STUCK[standing]}" for name in open_ones if (standing := statuses.get(name, "")) in _STUCK]
    reason = f"waits for {', '.join(open_ones)} to be merged"
    return "waiting", f"{reason}; {', '.join(stuck)}" if stuck else reason


def edited_since(row: IssueRow) -> str:
    return f"edited since it was {row.status}; the next run goes on with it"


def progress(parts: Sequence[tuple[str, bool]]) -> str:
    if not parts:
        return ""
    done = sum(status == "merged" or (status == "skipped" and satisfied) for status, satisfied in parts)
    return f"{done} of {count(len(parts), 'part')} merged"


def as_they_stand(rows: Sequence[IssueRow]) -> Iterator[IssueRow]:
    statuses = standings(rows)
    for row in rows:
        status, reason = effective_status(row, statuses)
        yield row if (status, reason) == (row.status, row.reason) else row._replace(status=status, reason=reason)


def status_document(
    rows: Sequence[IssueRow],
    run: RunRow | None,
    waits: Sequence[ModelWait] = (),
    made: Mapping[str, int] = _NOTHING,
    pulls: Mapping[str, str] = _NOTHING,
    **more: Any,
) -> Status:
    """Return the document of `noface status`; `made` are attempts and `pulls` addresses of pull requests by id."""
    running = run is not None and run.running
    issues = []
    for row in as_they_stand(rows):
        issue = row._replace(all_attempts=made.get(row.id, row.attempts), pull_url=pulls.get(row.id))
        if not running and row.status == "running":
            why = f"{row.reason} was cut off; it goes on with the next run"
            issue = issue._replace(status="ready", reason=why)
        issues.append(issue)
    return Status(tuple(issues), counts_of(issues), run=run, waits=tuple(waits), **more)


def counts_of(issues: Iterable[IssueRow]) -> dict[str, int]:
    return dict(Counter(issue.status for issue in issues))


def latest_run(rows: Overview) -> RunRow | None:
    row = rows.last_run()
    if row is None or row.ended_at is not None:
        return row
    from noface.process.lock import runs

    return row._replace(running=True, paused_at=rows.paused()) if runs(row.pid) else row


def status_now(rows: Overview, now: float) -> Status:
    """Return the document of what is recorded, with what this machine tells: whether the run lives."""
    run = latest_run(rows)
    return status_document(
        rows.listed(),
        run,
        rows.model_waits(now),
        rows.attempts_made(),
        rows.pull_urls(),
        faults=rows.faults(),
        gaps=tuple(rows.gaps(run.id)) if run is not None else (),
        unsteady=tuple(rows.unsteady()),
        left_out=rows.left_out(),
        tracker_away=rows.tracker_away(),
        hosts=rows.hosts(),
        quotas=rows.quotas(now),
        notify_away=rows.notify_away(),
    )


def happened_since(document: Status, at: float, happened: Mapping[str, float]) -> Status:
    """Return what is told of the issues that something `happened` to since `at`: first what landed, in that order."""
    issues = [issue._replace(happened_at=happened[issue.id]) for issue in document.issues if issue.id in happened]
    landed = sorted((each for each in issues if each.status == "merged"), key=lambda each: each.happened_at or 0.0)
    issues = [*landed, *(each for each in issues if each.status != "merged")]
    left_out = len(document.issues) - len(issues)
    return document._replace(issues=tuple(issues), counts=counts_of(issues), since=at, unchanged=left_out)


def fault_lines(faults: Sequence[IssueFault], width: int) -> Iterator[str]:
    for fault in faults:
        yield from advised(f"{fault.source}: {fault.problem}", fault.hint, width)


_ID_CELLS_MAX = 16
_STATUS_CELLS = 8
_INDENT = 2
_LEVELS_MAX = 4


Parts = Mapping[str, tuple[IssueRow, ...]]
"""The parts of the issues that were divided, by id."""


def family(issues: Sequence[IssueRow]) -> tuple[tuple[IssueRow, ...], Parts]:
    known = {issue.id for issue in issues}
    parts: dict[str, tuple[IssueRow, ...]] = {}
    for issue in issues:
        if issue.parent in known:
            parts[issue.parent] = (*parts.get(issue.parent, ()), issue)
    return tuple(issue for issue in issues if issue.parent not in known), parts


def _issue_lines(issue: IssueRow, related: Parts, now: float, width: int, id_cells: int, level: int) -> Iterator[str]:
    parts = related.get(issue.id, ())
    indent = " " * _INDENT * (level + 1)
    name = issue.id if cells(issue.id) > id_cells else pad(issue.id, id_cells)
    start = f"{indent}{name}  "
    taken = cells(start)
    if level:  # the group's heading tells the status of those that stand by themselves
        start += f"{paint(pad(issue.status, _STATUS_CELLS), issue.status)}  "
        taken += _STATUS_CELLS + 2
    facts = _facts(issue, parts, now)
    room = max(width - taken - (cells(facts) + 2 if facts else 0), 16)
    title = clean(issue.title) or "(no title)"
    yield f"{start}{pad(title, room)}  {paint(facts, 'quiet')}" if facts else start + fit(title, room)
    reason = _reason(issue, now)
    if reason:
        yield from painted(hanging(reason, width, " " * (cells(indent) + id_cells + 2), rows_max=2), "quiet")
    if parts and level < _LEVELS_MAX:
        part_cells = min(max(cells(part.id) for part in parts), _ID_CELLS_MAX)
        for part in parts:
            yield from _issue_lines(part, related, now, width, part_cells, level + 1)


def _facts(issue: IssueRow, parts: Sequence[IssueRow], now: float) -> str:
    merged = issue.status == "merged"
    kept = "already on main" if issue.satisfied else "not done"
    facts = [
        moment(issue.happened_at, now) if issue.happened_at is not None else "",
        progress([(part.status, part.satisfied) for part in parts]) if not merged else "",
        kept if issue.status == "skipped" else "",
        issue.merged_commit[:10] if merged and issue.merged_commit else "",
        tried(issue.all_attempts, issue.attempts),
        fit(clean(issue.model or ""), 20) if issue.all_attempts and not (merged or parts or issue.happened_at) else "",
        money(issue.cost_usd),
    ]
    return " · ".join(fact for fact in facts if fact)


def tried(made: int, charged: int) -> str:
    if not made:
        return ""
    return count(made, "attempt") if made == charged else f"{count(made, 'attempt')} ({charged} charged)"


def _reason(issue: IssueRow, now: float) -> str:
    status, reason, kind, until = issue.status, str(issue.reason), issue.last_kind, issue.until
    if status == "blocked" and kind and issue.cause != Cause.TAKEN_BACK:
        return f"{kind}: {issue.last_message}" if issue.last_message else kind
    if status == "waiting" and until is not None:
        return f"{f'until {moment(until, now)}' if until > now else 'may go on now'}: {reason}"
    if status == "review" and issue.pull_url:
        return reviewed(reason, issue.pull_url)
    return "" if status in ("merged", "epic") else reason


def reviewed(reason: str, address: str) -> str:
    return reason if address in reason else f"{reason} ({address})"


ROWS_MAX = 20
"""Rows of a group that are shown without --all."""
_GAP_ISSUES_SHOWN = 5

_TITLES = {
    "running": "running",
    "landing": "landing",
    "review": "in review: merge their pull requests, or ask for changes there",
    "approval": "waits for approval: see `noface blocked`",
    "blocked": "blocked: see `noface blocked`",
    "epic": "divided into parts",
    "waiting": "waiting",
    "ready": "ready",
    "skipped": "skipped",
    "merged": "merged",
}
"""The groups by status, in the order they are shown; faulty files come before what is merged."""


def status_page(document: Status, now: float, width: int, *, everything: bool) -> list[str]:
    """Return the lines of the page; `now` is epoch seconds."""
    order = _TITLES if document.since is None else {"merged": _TITLES["merged"], **_TITLES}
    everything = everything or document.since is not None
    lines = [*_summary(document, order, now, width), *_run_lines(document.run, now, width)]
    for text, role in _notes(document, now):
        lines += painted(hanging(text, width), role)
    by_status: dict[str, list[IssueRow]] = {}
    top, parts = family(document.issues)
    for issue in top:
        by_status.setdefault(issue.status, []).append(issue)
    for status in order:
        if status == "merged" and document.since is None:
            lines += _fault_lines(document.faults, width)
        lines += _group_lines(status, by_status.get(status, []), parts, now, width, everything=everything)
    if document.left_out and document.since is None:
        lines += ["", paint("left out", "careful") + paint("  not worked on", "quiet")]
        lines += fault_lines(document.left_out, width)
    lines += _gap_lines(document.gaps, width)
    lines += _unsteady_lines(document.unsteady, now, width)
    if document.since is not None:
        lines += _fault_lines(document.faults, width)
        if document.unchanged:
            lines += ["", paint(f"{count(document.unchanged, 'issue')} without news: noface status", "quiet")]
    elif not document.issues and not document.faults and not document.left_out:
        lines += ["", 'The backlog is empty. Add an issue: noface issues add "What should be done"']
    return lines


def _notes(document: Status, now: float) -> Iterator[tuple[str, str]]:
    for host in document.hosts if document.run is not None and document.run.running else ():
        yours = f"at most {count(host.slots, 'attempt')} at once" if host.up else f"is away: {host.why}"
        yield f"Host {host.host}, since {moment(host.since, now)}: {yours}", "quiet" if host.up else "careful"
    for quota in document.quotas:
        anew = f", anew {moment(quota.resets_at, now)}" if quota.resets_at is not None else ""
        used = f"Quota of {quota.login}: {quota.used:.0%} of {quota.name} used{anew}"
        yield f"{used} (seen {moment(quota.seen_at, now)})", "quiet"
    for wait in document.waits:
        yield f"A provider is waited for until {moment(wait.until, now)}: {wait.reason}", "careful"
    if (away := document.tracker_away) is not None:
        since = f"The tracker has not answered since {moment(away.since, now)}; its issues are as of then."
        yield f"{since} {away.why}", "careful"
    for silent in document.notify_away:
        since = f"Messages wait since {moment(silent.since, now)}; noface tools notify test tries them."
        yield f"{since} {silent.why}", "careful"


def _summary(document: Status, order: Iterable[str], now: float, width: int) -> list[str]:
    counts, faults = document.counts, len(document.faults)
    parts = [f"{counts[status]:,} {counted(status)}" for status in order if counts.get(status)]
    parts += [f"{faults:,} faulty"] if faults else []
    total = count(len(document.issues) + faults, "issue")
    if document.since is not None:
        total = f"Since {moment(document.since, now)}{'' if parts else ' nothing happened'}"
    whole = ", ".join(part.replace(" ", "~") for part in parts)  # a number stays beside its word
    rows = hanging(f"{total}: {whole}" if parts else total, width, rest="  ")
    return painted((row.replace("~", " ") for row in rows), "title")


def _run_lines(run: RunRow | None, now: float, width: int) -> list[str]:
    if run is None:
        return [paint("Nothing has been run yet: noface run", "quiet")]
    since = moment(run.started_at, now)
    if run.running:
        lines = [paint(f"noface is running since {since} (pid {run.pid})", "active")]
        if run.paused_at is not None:
            lines += painted(
                hanging(f"It is paused since {moment(run.paused_at, now)}: noface resume", width), "careful"
            )
        return lines
    if run.ended_at is None or run.ended_why == "cut off":
        return hanging(f"The run of {since} was cut off; `noface run` goes on where it was.", width)
    text = f"Last run {since} to {moment(run.ended_at, now)}: {run.ended_why or 'ended'}"
    return painted(hanging(text, width), "quiet")


def _group_lines(
    status: str, issues: Sequence[IssueRow], related: Parts, now: float, width: int, *, everything: bool
) -> Iterator[str]:
    if not issues:
        return
    yield ""
    yield paint(_TITLES[status], status)
    listed = issues if everything else issues[:ROWS_MAX]
    id_cells = min(max(cells(issue.id) for issue in issues), _ID_CELLS_MAX)
    for issue in listed:
        yield from _issue_lines(issue, related, now, width, id_cells, 0)
    rest = len(issues) - len(listed)
    if rest:
        yield f"  … and {rest:,} more {status} (noface status --all)"


def _fault_lines(faults: Sequence[IssueFault], width: int) -> Iterator[str]:
    if faults:
        yield ""
        yield paint("faulty", "bad") + paint("  reported, not run; the rest goes on", "quiet")
        yield from fault_lines(faults, width)


def _gap_lines(gaps: Sequence[Gap], width: int) -> Iterator[str]:
    if not gaps:
        return
    ids = list(dict.fromkeys(str(gap.id) for gap in gaps))
    named = [f"noface show {name}" for name in ids[:_GAP_ISSUES_SHOWN]]
    more = f", and {len(ids) - len(named)} more issues" if len(ids) > len(named) else ""
    yield ""
    text = f"{count(len(gaps), 'gap')} reported: {', '.join(named)}{more}"
    yield from painted(hanging(text, width, rest="  "), "careful")


_UNSTEADY_SHOWN = 5


def _unsteady_lines(tests: Sequence[UnsteadyTest], now: float, width: int) -> list[str]:
    if not tests:
        return []
    lines = ["", paint(f"{count(len(tests), 'unsteady test')} on main, which {'counts' if len(tests) == 1 else 'count'}"
                       " for nobody", "careful")]  # fmt: skip
    for row in tests[:_UNSTEADY_SHOWN]:
        name = clean(row.test) or "the whole gate"
        failed = f"failed in {row.failed} of {count(row.runs, 'run')}, last {moment(row.at, now)}"
        lines += hanging(f"{name} (gate {clean(row.gate)}): {failed}", width, "  ", "    ")
    if len(tests) > _UNSTEADY_SHOWN:
        lines.append(f"  … and {len(tests) - _UNSTEADY_SHOWN} more: --json has all")
    return lines
