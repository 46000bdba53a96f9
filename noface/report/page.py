"""The page of a night in a terminal: each chapter a few lines, and below it the command that goes on from there."""

from collections.abc import Generator, Iterator, Sequence

from noface.model.listed import Window
from noface.report.night import CostShare, Night
from noface.ui.blocked import BlockedIssue
from noface.ui.landed import LandedIssue
from noface.ui.page import paint, painted
from noface.ui.status import reviewed
from noface.ui.text import cells, clean, count, duration, hanging, moment, money, pad

_COMMANDS_MAX = 3
_LOOKS_MAX = 10
_LANDED_MAX = 40
_STRETCHED_MIN = 10
_UNKNOWN, _GREEN = "–", "all green"


def night_page(night: Night, width: int) -> list[str]:
    chapters = (_head, _looks, _needs, _landed, _costs)
    return [line for chapter in chapters for line in chapter(night, width)]


def amount(dollars: float | None) -> str:
    return money(dollars) or _UNKNOWN


def headline(night: Night) -> str:
    whole = night.sum
    verb = "needs" if whole.need_you == 1 else "need"
    others = {f"{verb} you": whole.need_you, "in review": whole.in_review, "left for the next run": whole.going_on}
    return ", ".join([f"{whole.landed:,} landed", *(f"{many:,} {what}" for what, many in others.items() if many)])


def run_words(night: Night) -> str:
    """Say whether the newest run is at work, or why it ended; "" before the first."""
    run = night.run
    if run is None:
        return ""
    if run.running:
        return f"noface is running since {moment(run.started_at, night.at)} (pid {run.pid})."
    why = run.ended_why or "its run was cut off"
    return f"{why[:1].upper()}{why[1:]}."


def summary(night: Night) -> str:
    """Return in a sentence what the night took."""
    whole = night.sum
    if not whole.attempts:
        return "Nothing was worked on"
    text = f"{count(whole.attempts, 'attempt')} at {count(whole.issues, 'issue')} in {duration(whole.elapsed)}"
    text += f", {money(whole.cost_usd)}" if whole.cost_usd is not None else ""
    unknown = f"; of {count(whole.unpriced, 'attempt')} nobody knows the price" if whole.unpriced else ""
    guessed = f"; {count(whole.estimated, 'attempt')} priced from tokens" if whole.estimated else ""
    return f"{text}{guessed}{unknown}"


def _head(night: Night, width: int) -> Iterator[str]:
    since = f"Since {moment(night.since, night.at)}"
    yield from painted(hanging(f"{since}: {headline(night)}", width), "title")
    yield from painted(hanging(f"{summary(night)}. {run_words(night)}", width), "quiet")


def _title(text: str, width: int, more: str = "") -> Iterator[str]:
    yield ""
    if cells(f"{text}  {more}") <= width:
        yield paint(text, "title") + (paint(f"  {more}", "quiet") if more else "")
    else:
        yield from (*painted(hanging(text, width), "title"), *painted(hanging(more, width, "  "), "quiet"))


def _looks(night: Night, width: int) -> Iterator[str]:
    by_id = {each.id: each for each in night.landed}
    looks = [by_id[name] for name in night.look_at if name in by_id]
    if not looks:
        return
    yield from _title("Look at these first", width, "they landed; the riskiest on top")
    for each in looks[:_LOOKS_MAX]:
        indent = yield from _named(each.id, each.title, width)
        yield from painted(hanging("; ".join(each.reasons), width, indent), "careful")
        yield from painted(hanging(each.note, width, indent, rows_max=2), "quiet")
        yield from (f"{indent}{command}" for command in (each.bring_back, look_command(each)) if command)
    if len(looks) > _LOOKS_MAX:
        yield f"  … and {len(looks) - _LOOKS_MAX:,} more, on top of what landed"


def look_command(issue: LandedIssue) -> str:
    return f"git show --first-parent {issue.commit[:12]}" if issue.commit else f"noface show {clean(issue.id)}"


def lines_of(issue: LandedIssue) -> str:
    return count(issue.lines, "line") if issue.added is None else f"+{issue.added:,} −{issue.deleted or 0:,}"


def _needs(night: Night, width: int) -> Iterator[str]:
    issues = {each.id: each for each in night.needs.blocked}
    if issues:
        yield from _title("These need you", width, "in full: noface blocked ID")
    for task in night.needs.tasks:
        yield from hanging(f"{task.task}:", width)
        for name in task.ids:
            yield from _need(issues[name], width)
    if night.review:
        yield from _title("In review", width, "merge their pull requests, or ask for changes there")
    for each in night.review:
        indent = yield from _named(each.id, each.title, width)
        yield from painted(hanging(reviewed(each.reason, each.pull_url or ""), width, indent), "quiet")


def _need(issue: BlockedIssue, width: int) -> Iterator[str]:
    """Yield an issue that needs a person: what is asked, and the first commands that answer it, whole, for copying."""
    commands = issue.request.commands
    indent = yield from _named(issue.id, issue.title, width)
    yield from painted(hanging(issue.detail, width, indent, rows_max=3), "quiet")
    yield from (f"{indent}{clean(command)}" for command in commands[:_COMMANDS_MAX])
    if (more := len(commands) - _COMMANDS_MAX) > 0:
        yield paint(f"{indent}… {count(more, 'more way')}: noface blocked {clean(issue.id)}", "quiet")


def _named(name: str, title: str, width: int) -> Generator[str, None, str]:
    start = f"  {clean(name)}  "
    yield from painted(hanging(title or "(no title)", width, start, rows_max=1), "title")
    return " " * cells(start)


def _landed(night: Night, width: int) -> Iterator[str]:
    if not night.landed:
        return
    rows = [
        (each.id, each.title or "(no title)", lines_of(each).removesuffix("s").removesuffix(" line"), f"{each.files:,}",
         f"{each.attempts:,}", gates_of(each), duration(each.seconds), amount(each.cost_usd))
        for each in night.landed[:_LANDED_MAX]
    ]  # fmt: skip
    green = all(gates_of(each) == _GREEN for each in night.landed)
    if green:
        rows = [(*row[:5], "", *row[6:]) for row in rows]
    yield from _title("Landed", width, "every gate green" if green else "")
    yield from columns(("", "", "lines", "files", "tries", "gates", "time", "cost"), rows, width, stretched=1)
    if len(night.landed) > _LANDED_MAX:
        yield f"  … and {len(night.landed) - _LANDED_MAX:,} more: --json has all"


def gates_of(issue: LandedIssue) -> str:
    """Return the gates that are not plainly green, or that all are."""
    odd = [
        f"{clean(gate.name)} {'red' if not gate.passed else 'flaky'}"
        for gate in issue.gates
        if not gate.passed or gate.flaky or gate.unsteady
    ]
    return ", ".join(odd) or (_GREEN if issue.gates else _UNKNOWN)


def _costs(night: Night, width: int) -> Iterator[str]:
    if night.models:
        yield from _title("Where it went, by model", width)
        names = ("", "times", "passed", "landed", "time", "", "tokens", "cost", "")
        yield from columns(names, [_share_cells(share) for share in night.models], width)
        for quota in night.quotas:
            yield from hanging(quota_words(quota, night.at), width, "  quota: ", "    ")


def quota_words(quota: Window, now: float) -> str:
    anew = f", anew {moment(quota.resets_at, now)}" if quota.resets_at is not None else ""
    return f"{quota.used:.0%} of {quota.name} of {quota.login} used{anew}"


def _share_cells(share: CostShare) -> tuple[str, ...]:
    passed = (_UNKNOWN if share.passed is None else f"{share.passed:,}", f"{share.landed:,}")
    time = (duration(share.seconds), f"{share.time_share:.0%}")
    cost = (amount(share.cost_usd), f"{share.cost_share:.0%}" if share.cost_usd is not None else "")
    return (
        share.name,
        f"{share.attempts:,}",
        *passed,
        *time,
        f"{share.tokens:,}" if share.tokens is not None else "",
        *cost,
    )


def columns(names: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, stretched: int = 0) -> Iterator[str]:
    """Yield a table; what is too much is taken from the stretched column, then columns go, the nameless first."""
    used = [at for at in range(len(names)) if any(row[at] not in ("", _UNKNOWN) for row in rows)]
    sizes = {at: max(cells(clean(row[at])) for row in (names, *rows)) for at in used}
    droppable = [at for at in used if at not in (0, stretched, max(at for at in used if names[at]))]
    while (room := width - sum(sizes.values()) + sizes[stretched] - 2 * len(sizes)) < _STRETCHED_MIN and droppable:
        unnamed = [at for at in droppable if not names[at]]
        dropped = droppable.pop(droppable.index(unnamed[0]) if unnamed else -1)
        del sizes[dropped]
    sizes[stretched] = max(min(sizes[stretched], room), _STRETCHED_MIN)
    for row in (names, *rows):
        parts = (
            pad(clean(row[at]), size) if at in (0, stretched) else " " * (size - cells(clean(row[at]))) + clean(row[at])
            for at, size in sizes.items()
        )
        yield paint(f"  {'  '.join(parts)}", "quiet" if row is names else "")
