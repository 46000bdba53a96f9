"""Reads the rows that a night is made of."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from noface.errors import NofaceError
from noface.git import landings
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.model.taxonomy import INTERRUPTED
from noface.report.night import RUNS_MAX, Night
from noface.store.overview import LandedAt, RunCost
from noface.store.reader import Reader
from noface.store.records import AttemptRow
from noface.ui.blocked import HasBranch, blocked_document
from noface.ui.landed import landed_issue, ranked
from noface.ui.status import latest_run

LineCounts = Callable[[Collection[str]], Mapping[str, tuple[int, int]]]


def line_counts(root: Path, commits: Collection[str]) -> Mapping[str, tuple[int, int]]:
    """Ask git how many lines commits add to main, and how many they delete; nothing if it cannot tell."""
    try:
        with closing(Plumbing(discover(root))) as plumbing:
            return landings.line_counts(plumbing, commits)
    except NofaceError:
        return {}


def read_night(
    reader: Reader, since: float, now: float, has_branch: HasBranch = bool, counts_of: LineCounts | None = None
) -> Night:
    """Return what was done since a time; `now` is epoch seconds, `counts_of` is `line_counts` of a repository."""
    run = latest_run(reader)
    attempts, landings = reader.attempts_since(since), reader.landed()
    if run is None or not run.running:
        attempts = _cut_off(attempts)
    actions = {(each.issue_id, each.number): each.action.kind for each in attempts if each.action is not None}
    for each in attempts:
        before = each.issue_id, each.number - 1
        if each.number > 1 and before not in actions:
            row = reader.attempt(*before)
            actions[before] = row.action.kind if row is not None and row.action is not None else ""
    landed = [landed_issue(reader, each) for each in landings if each.at >= since]
    counts = counts_of([each.commit for each in landed if each.commit]) if counts_of is not None else {}
    landed = [
        each._replace(added=known[0], deleted=known[1]) if (known := counts.get(each.commit or "")) else each
        for each in landed
    ]
    pulls = reader.pull_urls()
    return Night(
        since=since,
        at=now,
        run=run,
        needs=blocked_document(reader.waiting_for_a_person(), reader.held(), has_branch),
        review=tuple(row._replace(pull_url=pulls.get(row.id)) for row in reader.in_review()),
        landed=tuple(ranked(landed)),
        quotas=reader.quotas(now),
        earlier=tuple(_earlier(reader, since, landings)),
        attempts=attempts,
        questions=reader.questions_since(since),
        left=reader.left(),
        lessons=reader.lessons_quoted(since),
        answers=actions,
    )


def _earlier(reader: Reader, since: float, landings: Sequence[LandedAt]) -> Iterator[RunCost]:
    """Yield the runs before, with how many issues landed between their begin and that of the next."""
    until = since
    for run in reader.runs_before(since, RUNS_MAX):
        yield run._replace(landed=sum(run.started_at <= each.at < until for each in landings))
        until = run.started_at


def _cut_off(attempts: list[AttemptRow]) -> list[AttemptRow]:
    """Return the attempts if nobody is at work: what was cut off took until the last thing that happened."""
    last = max((each.finished_at or each.started_at for each in attempts), default=0.0)
    return [
        each if each.outcome is not None else each._replace(outcome=INTERRUPTED, finished_at=last) for each in attempts
    ]
