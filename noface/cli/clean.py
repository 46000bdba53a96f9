"""`noface tools clean`: remove workspaces, and what merged issues left behind. Unmerged work stays, and is named.

What may go: workspaces whose attempts are all recorded; branches and refs of issues that main holds; the files of
their attempts but for report.json. Everything else is kept with its reason; --force lets go of unmerged issues'
branches and refs, too, but never of a branch that a person has checked out or made.
"""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.verb import ConfigFile, VerbResult, answers

if TYPE_CHECKING:
    from noface.git.plumbing import Plumbing
    from noface.store.reader import Reader
    from noface.ui.leftovers import Leftover

_REFS = "refs/noface"


@answers("What was removed and what was kept, as JSON.")
def clean(
    force: bool = typer.Option(False, "--force", help="Also remove branches and refs of unmerged issues."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show what would be removed; change nothing."),
    as_json: bool = False,
    config: ConfigFile = None,
) -> VerbResult | None:
    """Remove workspaces and what merged issues left behind.

    Unmerged work is removed only with --force.
    """
    from noface.cli.wiring import slots_dir
    from noface.config.load import load
    from noface.git.plumbing import Plumbing
    from noface.git.repository import discover
    from noface.process.lock import RepositoryLock
    from noface.store.database import Database
    from noface.store.journal import Journal
    from noface.store.reader import Reader
    from noface.ui import page
    from noface.ui.leftovers import What, clean_document, clean_page

    first = discover(Path.cwd())
    loaded = load(first.root, config)
    repository = discover(Path.cwd(), loaded.project.main) if loaded.project.main else first
    slots = slots_dir(loaded, repository)
    if not repository.state_dir.exists():
        return VerbResult(clean_document([], dry_run=dry_run), lambda _, width: clean_page([], width, dry_run=dry_run))
    path = repository.state_dir / "state.db"
    kept = path.exists()
    with (
        RepositoryLock(repository.state_dir / "lock"),
        closing(Plumbing(repository)) as plumbing,
        closing(Database.open(path) if kept else Database.at(path)) as database,
    ):
        reader = Reader(database)
        leftovers = [*_workspaces(plumbing, slots, reader if kept else None, force=force)]
        leftovers += _left_by_issues(plumbing, reader, force=force)
        if not as_json:  # before it goes: a removal takes its time, and may fail halfway
            page.show(clean_page(leftovers, page.width(), dry_run=dry_run))
        if not dry_run:
            going = [each for each in leftovers if not each.why]
            if kept:  # what a person lets go of is remembered, or `noface tools fsck` would take it for lost
                released = {each.issue for each in going if each.what is What.REF and each.issue}
                Journal(database).released({name: reader.next_number(name) - 1 for name in released})
            _remove(plumbing, slots, going)
    return VerbResult(clean_document(leftovers, dry_run=dry_run), lambda *_: ()) if as_json else None


def _workspaces(plumbing: "Plumbing", slots: Path, reader: "Reader | None", *, force: bool) -> "Iterator[Leftover]":
    from noface.attempt.environment import slot_name
    from noface.engine.retention import workspaces
    from noface.process.files import bytes_in
    from noface.ui.leftovers import Leftover, What

    cut_off = reader.open_attempts() if reader is not None else ()
    open_slots = {name: each for each in cut_off for name in (slot_name("agent", str(each.slot)), f"agent-{each.slot}")}
    for slot in workspaces(plumbing.repository, slots):
        name, why = slot.name, ""
        if name in open_slots and not force:
            attempt = open_slots[name]
            why = f"attempt {attempt.number} of {attempt.issue.id} was cut off in it; `noface run` saves its work"
        elif reader is None and name.startswith("agent-") and not force:
            why = "the database is gone, so nothing tells whether the work in it is saved; --force removes it"
        yield Leftover(What.WORKSPACE, name, size_bytes=bytes_in(slot.path) + bytes_in(slot.private_git_dir), why=why)


def _left_by_issues(plumbing: "Plumbing", reader: "Reader", *, force: bool) -> "Iterator[Leftover]":
    from noface.engine.landing.merged_branches import known_issues, scratch_branches
    from noface.engine.retention import room
    from noface.model.scratch import PERSON
    from noface.ui.leftovers import Leftover, What

    known, repository = known_issues(plumbing, reader), plumbing.repository
    for ref, oid in plumbing.references(_REFS).items():
        kind, _, rest = ref.removeprefix(f"{_REFS}/").partition("/")
        if kind == "remote":
            continue  # the remote's main, from which the next run starts
        issue = known.slugs.get(rest.partition("/")[0], "")
        # Below gating/ stand only trees of main, held while its gates ran.
        why = "" if kind == "gating" else known.why_kept(issue, force=force)
        by_person = rest.rpartition("/")[2].startswith(PERSON)
        if by_person and not why and not force and not plumbing.is_ancestor(oid, repository.main):
            why = "it holds what a person committed, and main does not; --force removes it"
        yield Leftover(What.REF, ref, issue, oid, why=why)
    for branch in scratch_branches(plumbing, reader, known, force=force):
        yield Leftover(What.BRANCH, branch.name, branch.issue, branch.oid, why=branch.why)
    for each in sorted(reader.kept()):
        if each.issue_id in known.merged and each.below(repository.state_dir / "attempts") and (size := room(each)):
            yield Leftover(What.FILES, str(each.number), each.issue_id, each.directory, size)


def _remove(plumbing: "Plumbing", slots: Path, going: "list[Leftover]") -> None:
    import time

    from noface.engine.retention import clear
    from noface.git.refs import ZERO, RefUpdate
    from noface.git.workspace import Slot, discard
    from noface.ui.leftovers import What

    repository = plumbing.repository
    for each in going:
        match each.what:
            case What.WORKSPACE:
                discard(Slot(repository, each.name, slots / each.name, repository.private_git_dirs / each.name))
            case What.BRANCH:
                plumbing.refs.apply(RefUpdate(f"refs/heads/{each.name}", ZERO, each.oid))
            case What.REF:
                plumbing.refs.apply(RefUpdate(each.name, ZERO, each.oid))
            case What.FILES:
                clear(repository.state_dir, Path(each.oid), "noface tools clean", time.time())
    with suppress(OSError):
        slots.rmdir()
