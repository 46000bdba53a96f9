"""`noface status`: where every issue stands, and the page of it, what needs a person first.

Scripts read the document: add keys, never rename. Imports little, and the records are named tuples, which are quicker
to make than dataclasses: a look must cost little more than a start.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

from noface.model.description import Minimum, OneOf, Timestamp
from noface.model.unsteady import UnsteadyTest
from noface.store.overview import Gap, HostState, ModelWait, Overview, Quota, Room, SilentService, TrackerAway
from noface.store.records import IssueRow, RunRow
from noface.ui.page import advised, paint, painted
from noface.ui.text import at_home, cells, clean, count, fit, hanging, moment, money, pad, size
from noface.ui.unsteady import unsteady_lines

if TYPE_CHECKING:
    from noface.model.issue import IssueFault

_KIND = "noface.model.taxonomy.FailureKind"
_STATUS = "noface.model.taxonomy.IssueStatus"

NOT_DONE = "skipped, not done"
"""What stands for an issue that was left undone where others ask whether they may start."""

_SETTLED = ("merged", "skipped")
IN_REVIEW = "in review"
"""What stands for an issue whose pull request is open where others ask whether they may start."""
_STUCK = {
    "blocked": "is blocked",
    "approval": "waits for approval",
    NOT_DONE: f"is {NOT_DONE}",
    IN_REVIEW: f"is {IN_REVIEW}",
}
"""What keeps those waiting who depend on it, by its standing, as it is said of it."""


class LastFailure(NamedTuple):
    """How its last attempt failed; null where it did not."""

    kind: Annotated[str, OneOf(_KIND), "Why."]
    message: Annotated[str, "What went wrong."]


class ListedIssue(NamedTuple):
    """An issue."""

    id: Annotated[str, "Its id."]
    title: Annotated[str, "Its title."]
    status: Annotated[str, OneOf(_STATUS), "Where it stands."]
    attempts: Annotated[int, "The attempts that count against its limit, since it was last given back."]
    all_attempts: Annotated[int, "All attempts that were made, whether they count or not."]
    model: Annotated[str | None, "The entry of [models] that worked on it last."]
    last_failure: LastFailure | None
    branch: Annotated[str | None, "The branch with its best work."]
    merged_commit: Annotated[str | None, "The commit of main that holds it."]
    cost_usd: Annotated[float | None, "What it has cost, in dollars; null where nobody said."]
    reason: Annotated[str, "Why it stands there; may be empty."]
    until: Annotated[float | None, Timestamp, "While it waits for a time: until when."]
    priority: Annotated[int, "0 is most urgent."]
    satisfied: Annotated[bool, "Skipped since main holds already what it asks for."]
    parent: Annotated[str | None, "The issue it is a part of."]
    parts: Annotated[tuple[str, ...], "The ids of its parts, where it was divided."]
    pull_request: Annotated[str | None, "The address of its newest pull request."] = None
    happened_at: Annotated[float | None, Timestamp, "With --since: the last time that something happened to it."] = None


class ListedFault(NamedTuple):
    """An issue file that cannot be run as written."""

    source: Annotated[str, "The file."]
    problem: Annotated[str, "What is wrong."]
    hint: Annotated[str, "What to do about it; may be empty."]


class LatestRun(NamedTuple):
    """The newest run; null before the first."""

    id: Annotated[str, "Its id."]
    pid: Annotated[int, Minimum(1), "Its process."]
    started_at: Annotated[float, Timestamp, "When it began."]
    ended_at: Annotated[float | None, Timestamp, "When it ended; null while it works, or where it was killed."]
    exit_code: Annotated[int | None, "Its exit code; null likewise."]
    why: Annotated[str, "Why it ended."]
    running: Annotated[bool, "Whether it is at work now."]
    paused_at: Annotated[float | None, Timestamp, "Since when it is paused; null if it is not."] = None


class Status(NamedTuple):
    """Where every issue stands."""

    issues: Annotated[tuple[ListedIssue, ...], "The issues, in the order they are worked on."]
    counts: Annotated[
        dict[Annotated[str, OneOf(_STATUS)], Annotated[int, Minimum(1), "How many."]],
        "How many issues have each status; a status that none has is left out.",
    ]
    faults: Annotated[tuple[ListedFault, ...], "The issues that cannot be run as written."]
    gaps: Annotated[tuple[Gap, ...], "What workers of the newest run reported as missing."]
    run: LatestRun | None
    waits: Annotated[tuple[ModelWait, ...], "The models whose provider is waited for."]
    unsteady: Annotated[tuple[UnsteadyTest, ...], "The tests that fail now and then on main."] = ()
    tracker_away: TrackerAway | None = None
    disk: Room | None = None
    since: Annotated[float | None, Timestamp, "With --since: from when on it tells; else null."] = None
    unchanged: Annotated[int, "With --since: how many issues are left out, since nothing happened to them."] = 0
    left_out: Annotated[tuple[ListedFault, ...], "The issues that are not worked on, such as strangers', and why."] = ()
    quotas: Annotated[tuple[Quota, ...], "The windows of logins' quotas at their providers, as was told last."] = ()
    hosts: Annotated[tuple[HostState, ...], "The hosts of the newest run, as they were seen last."] = ()
    notify_away: Annotated[tuple[SilentService, ...], "The services of [notify] that take no messages."] = ()


def counted(status: str) -> str:
    """Return what is said of a number of issues with a status: 2 blocked, 1 in review."""
    return IN_REVIEW if status == "review" else status


def standings(rows: Iterable[IssueRow]) -> dict[str, str]:
    """Return each issue's status by id.

    NOT_DONE stands for those that were skipped without main holding what they ask for, IN_REVIEW for review.
    """
    return {row.id: _standing(row) for row in rows}


def _standing(row: IssueRow) -> str:
    if row.status == "review":
        return IN_REVIEW
    if row.edited:
        return "ready"
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
    """Say how an issue stands that was blocked or skipped, and that a person has edited since."""
    return f"edited since it was {row.status}; the next run goes on with it"


def progress(parts: Sequence[tuple[str, bool]]) -> str:
    """Return how far an epic is, by the status and `satisfied` of its parts; "" if it has none."""
    if not parts:
        return ""
    done = sum(status == "merged" or (status == "skipped" and satisfied) for status, satisfied in parts)
    return f"{done} of {count(len(parts), 'part')} merged"


def listed_issues(rows: Sequence[IssueRow], made: Mapping[str, int] | None = None) -> tuple[ListedIssue, ...]:
    """Return the issues of the document; those that wait for another one stand as waiting.

    `made` says how many attempts were made of each, if more were than are charged.
    """
    statuses = standings(rows)
    made = made or {}
    parts: dict[str, list[str]] = {}
    for row in rows:
        if row.parent is not None:
            parts.setdefault(row.parent, []).append(row.id)
    return tuple(
        _listed(row, *effective_status(row, statuses), tuple(parts.get(row.id, ())), made.get(row.id, row.attempts))
        for row in rows
    )


def status_document(
    rows: Sequence[IssueRow],
    faults: Sequence[ListedFault],
    run: LatestRun | None,
    gaps: Sequence[Gap] = (),
    waits: Sequence[ModelWait] = (),
    unsteady: Sequence[UnsteadyTest] = (),
    made: Mapping[str, int] | None = None,
    pulls: Mapping[str, str] | None = None,
    behind: Mapping[str, str] | None = None,
) -> Status:
    """Return the document of `noface status`. `gaps` are what workers of the newest run reported (L2).

    `waits` are the models that wait for a provider, `pulls` the addresses of pull requests. `behind` says why issues
    start after others, by id.
    """
    issues = tuple(_with_wait(issue, waits) for issue in listed_issues(rows, made))
    if run is None or not run.running:
        issues = tuple(_cut_off(issue) for issue in issues)
    elif behind:
        issues = tuple(i._replace(reason=behind[i.id]) if i.status == "ready" and i.id in behind else i for i in issues)
    if pulls:
        issues = tuple(issue._replace(pull_request=pulls.get(issue.id)) for issue in issues)
    counts = dict(Counter(issue.status for issue in issues))
    return Status(issues, counts, tuple(faults), tuple(gaps), run, tuple(waits), tuple(unsteady))


def latest_run(rows: Overview) -> LatestRun | None:
    """Return the newest run, with what this machine tells: whether it lives."""
    row = rows.last_run()
    run = run_of(row, alive=row is not None and row.ended_at is None and _runs(row.pid))
    return run._replace(paused_at=rows.paused()) if run is not None and run.running else run


def status_now(rows: Overview, now: float) -> Status:
    """Return the document of what is recorded, with what this machine tells: whether the run lives, the disk's room."""
    run = latest_run(rows)
    gaps = rows.gaps(run.id) if run is not None else []
    faults = [ListedFault(fault.source, fault.problem, fault.hint) for fault in rows.faults()]
    of_models = rows.model_waits(now), rows.unsteady(), rows.attempts_made(), rows.pull_urls(), rows.behind()
    document = status_document(rows.listed(), faults, run, gaps, *of_models)
    left_out = (ListedFault(fault.source, fault.problem, fault.hint) for fault in rows.left_out())
    return document._replace(
        left_out=tuple(left_out),
        tracker_away=rows.tracker_away(),
        disk=_with_free(rows.workspaces()),
        hosts=rows.hosts(),
        quotas=rows.quotas(now),
        notify_away=rows.notify_away(),
    )


def _with_free(room: Room | None) -> Room | None:
    import os

    try:
        system = os.statvfs(room.folder) if room is not None else None
    except OSError:
        return None
    return room._replace(free=system.f_bavail * system.f_frsize) if room is not None and system else None


def _runs(pid: int) -> bool:
    from noface.process.lock import runs

    return runs(pid)


def happened_since(document: Status, at: float, happened: Mapping[str, float]) -> Status:
    """Return what is told of the issues that something `happened` to since `at`: first what landed, in that order."""
    issues = [issue._replace(happened_at=happened[issue.id]) for issue in document.issues if issue.id in happened]
    landed = sorted((each for each in issues if each.status == "merged"), key=lambda each: each.happened_at or 0.0)
    issues = [*landed, *(each for each in issues if each.status != "merged")]
    counts = dict(Counter(issue.status for issue in issues))
    left_out = len(document.issues) - len(issues)
    return document._replace(issues=tuple(issues), counts=counts, since=at, unchanged=left_out)


def _with_wait(issue: ListedIssue, waits: Sequence[ModelWait]) -> ListedIssue:
    """Return an issue that waits for a provider with the time until which all wait for that: it may have grown."""
    if issue.status != "waiting" or issue.until is None:
        return issue
    later = [wait for wait in waits if wait.model == issue.model and wait.until > issue.until]
    return issue._replace(until=later[0].until) if later else issue


def run_of(row: RunRow | None, *, alive: bool) -> LatestRun | None:
    """Return a run; `alive` tells whether its process still works. None if nothing has been run yet."""
    if row is None:
        return None
    running = row.ended_at is None and alive
    return LatestRun(row.id, row.pid, row.started_at, row.ended_at, row.exit_code, row.ended_why, running)


def _cut_off(issue: ListedIssue) -> ListedIssue:
    """Return an issue as it stands if nobody is at work: what was cut off is ready to go on."""
    if issue.status != "running":
        return issue
    return issue._replace(status="ready", reason=f"{issue.reason} was cut off; it goes on with the next run")


def _listed(row: IssueRow, status: str, reason: str, parts: tuple[str, ...], made: int) -> ListedIssue:
    return ListedIssue(
        id=row.id,
        title=row.title,
        status=status,
        attempts=row.attempts,
        all_attempts=made,
        model=row.model,
        last_failure=LastFailure(row.last_kind, row.last_message or "") if row.last_kind else None,
        branch=row.branch,
        merged_commit=row.merged_commit,
        cost_usd=row.cost_usd,
        reason=reason,
        until=row.until,
        priority=row.priority,
        satisfied=row.satisfied,
        parent=row.parent,
        parts=parts,
    )


def fault_lines(faults: "Sequence[ListedFault | IssueFault]", width: int) -> Iterator[str]:
    """Return the lines of faults or warnings: source, problem, and the hint below."""
    for fault in faults:
        yield from advised(f"{fault.source}: {fault.problem}", fault.hint, width)


_ID_CELLS_MAX = 16
_STATUS_CELLS = 8
_INDENT = 2
_LEVELS_MAX = 4


Parts = Mapping[str, tuple[ListedIssue, ...]]
"""The parts of the issues that were divided, by id."""


def family(issues: Sequence[ListedIssue]) -> tuple[tuple[ListedIssue, ...], Parts]:
    """Return the issues that stand by themselves, as a part does whose parent is gone, and the parts of others."""
    known = {issue.id for issue in issues}
    parts: dict[str, tuple[ListedIssue, ...]] = {}
    for issue in issues:
        if issue.parent in known:
            parts[issue.parent] = (*parts.get(issue.parent, ()), issue)
    return tuple(issue for issue in issues if issue.parent not in known), parts


def group_lines(issues: Sequence[ListedIssue], related: Parts, now: float, width: int) -> Iterator[str]:
    """Return the lines of a group's issues, which share the columns."""
    id_cells = min(max(cells(issue.id) for issue in issues), _ID_CELLS_MAX)
    for issue in issues:
        yield from _issue_lines(issue, related, now, width, id_cells, 0)


def _issue_lines(
    issue: ListedIssue, related: Parts, now: float, width: int, id_cells: int, level: int
) -> Iterator[str]:
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


def _facts(issue: ListedIssue, parts: Sequence[ListedIssue], now: float) -> str:
    """Return what stands at the right: when, how far the parts are, the landed commit, attempts, model, cost."""
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
    """Return how many attempts were made, and how many of them count; "" for none."""
    if not made:
        return ""
    return count(made, "attempt") if made == charged else f"{count(made, 'attempt')} ({charged} charged)"


def _reason(issue: ListedIssue, now: float) -> str:
    """Return what stands below an issue: why it is where it is. Nothing for fresh and merged ones, and for epics."""
    status, reason, failure, until = issue.status, str(issue.reason), issue.last_failure, issue.until
    if status == "blocked" and failure is not None:
        return f"{failure.kind}: {failure.message}" if failure.message else str(failure.kind)
    if status == "waiting" and until is not None:
        return f"{f'until {moment(until, now)}' if until > now else 'may go on now'}: {reason}"
    if status == "review" and issue.pull_request:
        return reviewed(reason, issue.pull_request)
    return "" if status in ("merged", "epic") else reason


def reviewed(reason: str, address: str) -> str:
    """Say how an issue in review stands, with the address of its pull request."""
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
    if (disk := document.disk) is not None:
        text = f"Workspaces: {size(disk.bytes)} in {at_home(disk.folder)}, {size(disk.free)} free"
        lines += painted(hanging(text, width), "quiet")
    for host in document.hosts if document.run is not None and document.run.running else ():
        yours = f"at most {count(host.slots, 'attempt')} at once" if host.up else f"is away: {host.why}"
        text = f"Host {host.host}, since {moment(host.since, now)}: {yours}"
        lines += painted(hanging(text, width), "quiet" if host.up else "careful")
    for quota in document.quotas:
        anew = f", anew {moment(quota.resets_at, now)}" if quota.resets_at is not None else ""
        text = (
            f"Quota of {quota.login}: {quota.used:.0%} of {quota.window} used{anew} (seen {moment(quota.seen_at, now)})"
        )
        lines += painted(hanging(text, width), "quiet")
    for wait in document.waits:
        text = f"A provider is waited for until {moment(wait.until, now)}: {wait.reason}"
        lines += painted(hanging(text, width), "careful")
    if (away := document.tracker_away) is not None:
        text = f"The tracker has not answered since {moment(away.since, now)}; its issues are as of then. {away.why}"
        lines += painted(hanging(text, width), "careful")
    for silent in document.notify_away:
        text = f"Messages wait since {moment(silent.since, now)}; noface notify test tries them. {silent.why}"
        lines += painted(hanging(text, width), "careful")
    by_status: dict[str, list[ListedIssue]] = {}
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
    lines += unsteady_lines(document.unsteady, now, width)
    if document.since is not None:
        lines += _fault_lines(document.faults, width)
        if document.unchanged:
            lines += ["", paint(f"{count(document.unchanged, 'issue')} without news: noface status", "quiet")]
    elif not document.issues and not document.faults and not document.left_out:
        lines += ["", 'The backlog is empty. Add an issue: noface issue add "What should be done"']
    return lines


def _summary(document: Status, order: Iterable[str], now: float, width: int) -> list[str]:
    counts, faults = document.counts, len(document.faults)
    parts = [(f"{counts[status]:,} {counted(status)}", status) for status in order if counts.get(status)]
    if faults:
        parts.append((f"{faults:,} faulty", "bad"))
    total = count(len(document.issues) + faults, "issue")
    if document.since is not None:
        total = f"Since {moment(document.since, now)}{'' if parts else ' nothing happened'}"
    if not parts:
        return [paint(total, "title")]
    lines, line, taken = [], paint(f"{total}:", "title"), cells(total) + 1
    for number, (text, role) in enumerate(parts, 1):
        comma = "," if number < len(parts) else ""
        if taken + cells(text) + 2 > width:
            lines.append(line)
            line, taken = " ", 1
        line += f" {paint(text, role)}{comma}"
        taken += cells(text) + 1 + len(comma)
    return [*lines, line]


def _run_lines(run: LatestRun | None, now: float, width: int) -> list[str]:
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
    if run.ended_at is None or run.why == "cut off":
        return hanging(f"The run of {since} was cut off; `noface run` goes on where it was.", width)
    text = f"Last run {since} to {moment(run.ended_at, now)}: {run.why or 'ended'}"
    return painted(hanging(text, width), "quiet")


def _group_lines(
    status: str, issues: Sequence[ListedIssue], related: Parts, now: float, width: int, *, everything: bool
) -> Iterator[str]:
    if not issues:
        return
    yield ""
    yield paint(_TITLES[status], status)
    listed = issues if everything else issues[:ROWS_MAX]
    yield from group_lines(listed, related, now, width)
    rest = len(issues) - len(listed)
    if rest:
        yield f"  … and {rest:,} more {status} (noface status --all)"


def _fault_lines(faults: Sequence[ListedFault], width: int) -> Iterator[str]:
    if faults:
        yield ""
        yield paint("faulty", "bad") + paint("  reported, not run; the rest goes on", "quiet")
        yield from fault_lines(faults, width)


def _gap_lines(gaps: Sequence[Gap], width: int) -> Iterator[str]:
    """Return where to read of what workers found missing (L2)."""
    if not gaps:
        return
    ids = list(dict.fromkeys(str(gap.id) for gap in gaps))
    named = [f"noface show {name}" for name in ids[:_GAP_ISSUES_SHOWN]]
    more = f", and {len(ids) - len(named)} more issues" if len(ids) > len(named) else ""
    yield ""
    text = f"{count(len(gaps), 'gap')} reported: {', '.join(named)}{more}"
    yield from painted(hanging(text, width, rest="  "), "careful")
