"""Reads the rows that a night is made of."""

from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path

from noface.errors import NofaceError
from noface.git import landings
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.model.taxonomy import INTERRUPTED
from noface.report.night import Night
from noface.store.reader import Reader
from noface.ui.blocked import blocked_document
from noface.ui.landed import landed_issue, ranked
from noface.ui.status import latest_run


def line_counts(root: Path, commits: Collection[str]) -> Mapping[str, tuple[int, int]]:
    try:
        with closing(Plumbing(discover(root))) as plumbing:
            return landings.line_counts(plumbing, commits)
    except NofaceError:
        return {}


def read_night(reader: Reader, since: float, now: float, root: Path | None = None) -> Night:
    """Return what was done since a time; `now` is epoch seconds, `root` is the repository, where it is there."""
    run = latest_run(reader)
    attempts = reader.attempts_since(since)
    if run is None or not run.running:
        # What was cut off took until the last thing that happened.
        last = max((each.finished_at or each.started_at for each in attempts), default=0.0)
        attempts = [
            each if each.outcome is not None else each._replace(outcome=INTERRUPTED, finished_at=last)
            for each in attempts
        ]
    landed = [landed_issue(reader, each) for each in reader.landed() if each.at >= since]
    counts = line_counts(root, [each.commit for each in landed if each.commit]) if root is not None else {}
    landed = [
        each._replace(added=known[0], deleted=known[1]) if (known := counts.get(each.commit or "")) else each
        for each in landed
    ]
    pulls, waiting = reader.pull_urls(), reader.waiting_for_a_person()
    return Night(
        since=since,
        at=now,
        run=run,
        needs=blocked_document(waiting, reader.held()),
        review=tuple(row._replace(pull_url=pulls.get(row.id)) for row in reader.in_review()),
        landed=tuple(ranked(landed)),
        quotas=reader.quotas(now),
        attempts=attempts,
        questions=reader.questions_since(since),
        left=reader.left(),
    )
