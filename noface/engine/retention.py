"""What merged issues leave behind goes after a time, as `[keep]` says: files and refs of attempts.

Never what law 2 protects: of an issue that main does not hold all work stays, whatever its age.
"""

import json
import math
import time
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

from noface.config.project_sections import Keep
from noface.engine.context import RunContext
from noface.engine.landing.merged_branches import known_issues
from noface.engine.landing.queue import release_merged
from noface.engine.stations import Steps, Tick, call
from noface.errors import GitError
from noface.git.plumbing import Plumbing
from noface.git.refs import ZERO, RefUpdate
from noface.git.removal import remove_below
from noface.git.repository import Repository
from noface.git.workspace import Slot
from noface.model.scratch import REMOVED_FILE
from noface.process.command import Canceller
from noface.process.files import bytes_in, write_atomic
from noface.store.reader import EndedAttempt

_STAYS = ("report.json", REMOVED_FILE)
_DAY_S, _EVERY_S = 86_400.0, 600.0
BYTES_MAX = 20 * 10**9
"""If the files of all attempts take more, the oldest go earlier, so that no disk fills."""
REFS_TIMES = 3
"""The refs of a merged issue's attempts are kept so many times as long as files: they are small."""
_HELD = "refs/noface/issues"
_AT_END_S = 10.0


def clearable(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name not in _STAYS] if folder.is_dir() else []


def room(each: EndedAttempt) -> int:
    return sum(map(bytes_in, clearable(each.folder)))


def clear(state_dir: Path, folder: Path, why: str, now: float) -> None:
    """Remove an attempt's files; first it is said when and why, so that a kill in between leaves no riddle."""
    if not (folder / REMOVED_FILE).exists():
        write_atomic(folder / REMOVED_FILE, json.dumps({"at": now, "why": why}), durable=False)
    for path in clearable(folder):
        remove_below(state_dir, str(path.relative_to(state_dir)))


def keep_bounds(context: RunContext) -> Steps[None]:
    """Have go what is due while workers are at work; an hour of three of them has left 6,000 refs."""
    plumbing, rules = context.env.plumbing, context.settings.config.keep
    while True:
        yield Tick(context.clock.now() + _EVERY_S)
        now = context.clock.now()
        yield from call(partial(_tidy, plumbing, rules, context.reader.kept(), now, math.inf))
        release_merged(context)
        let_go(context, now)


def tidy_up(context: RunContext) -> None:
    """Have go what is due at the end of a run, for a few seconds at most; the rest goes at the end of the next."""
    release_merged(context)
    plumbing, rules, now = context.env.plumbing, context.settings.config.keep, context.clock.now()
    _tidy(plumbing, rules, context.reader.kept(), now, time.monotonic() + _AT_END_S, Canceller())
    let_go(context, now)


def _tidy(
    plumbing: Plumbing, rules: Keep, kept: Collection[EndedAttempt], now: float, deadline: float, cancel: Canceller
) -> None:
    state = plumbing.repository.state_dir
    for each, why in overdue(state, rules, kept, now):
        if cancel.cancelled or time.monotonic() > deadline:
            return
        clear(state, each.folder, why, now)


def overdue(
    state_dir: Path, rules: Keep, kept: Collection[EndedAttempt], now: float
) -> Iterator[tuple[EndedAttempt, str]]:
    """Yield the attempts whose files are due, the oldest first, with the setting that says so."""
    home = state_dir / "attempts"
    left = {each: room(each) for each in kept if each.merged and each.below(home)}
    whole = bytes_in(home) if sum(left.values()) else 0
    for each in sorted((each for each, size in left.items() if size), key=lambda each: each.ended_at):
        if now - each.ended_at > rules.logs_days * _DAY_S:
            yield each, "[keep] logs_days"
        elif whole > BYTES_MAX:
            yield each, "files beyond 20 GB"
        else:
            continue
        whole -= left[each]


def workspaces(repository: Repository, folder: Path) -> Iterator[Slot]:
    git_dirs = repository.private_git_dirs
    names = {path.name for each in (folder, git_dirs) if each.is_dir() for path in each.iterdir()}
    for name in sorted(each for each in names if each.startswith(("agent-", "gate-", "setup-"))):
        yield Slot(repository, name, folder / name, git_dirs / name)


def let_go(context: RunContext, now: float) -> None:
    """Remove the refs of attempts at issues that main has held for long enough."""
    plumbing, reader = context.env.plumbing, context.reader
    oldest = now - context.settings.config.keep.logs_days * REFS_TIMES * _DAY_S
    newest: dict[str, tuple[float, int]] = {}
    for each in reader.kept():
        ended = each.ended_at if each.merged else now
        newest[each.issue_id] = max(newest.get(each.issue_id, (0.0, 0)), (ended, each.number))
    old = {name: number for name, (ended, number) in newest.items() if ended < oldest}
    if not old:
        return
    known, going, gone = known_issues(plumbing, reader), list[RefUpdate](), dict[str, int]()
    for ref, oid in plumbing.references(_HELD).items():
        slug, _, number = ref.removeprefix(f"{_HELD}/").partition("/")
        name = known.slugs.get(slug, "")
        if name in old and name in known.merged and number.isdigit():
            gone[name] = old[name]
            going.append(RefUpdate(ref, ZERO, oid))
    context.journal.released(gone)  # before it is so: `noface tools fsck` would miss them
    try:
        plumbing.refs.apply(*going)
    except GitError as error:  # a person's git holds a lock; the next run does it
        context.log_event("refs_kept", reason=str(error))
