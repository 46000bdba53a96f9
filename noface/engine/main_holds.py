"""Compares what counts as merged with main as a run begins: what a person took back, or landed elsewhere, is not done.

Trees decide. A person's commit takes a landing back if it leaves in all of its files what a revert of it would leave;
else its own word for that does. Where main has a landing's lines all the same (picked, squashed), it holds it.
"""

import re
from collections.abc import Iterable

from noface.engine.context import RunContext
from noface.engine.prompt_context import history_of
from noface.git.landings import landed_issues, landings
from noface.git.plumbing import Plumbing
from noface.git.survey import main_moves
from noface.git.taken_back import holds, reverses
from noface.integrity.asked_for import words_of
from noface.model.actions import Action, Land, RequestApproval
from noface.model.failure import BY_YOU, TAKEN_BACK, Failure
from noface.model.history import History
from noface.model.issue import Issue
from noface.model.quoting import some
from noface.model.taxonomy import PASSED, Cause, FailureKind, IssueStatus
from noface.recovery.requests import not_on_main_request
from noface.store.records import IssueRow

_COMPARED = "compared_with_main"
"""The fact that holds main's commit up to which is known what people have taken back."""
_REVERTS = re.compile(r"^This reverts commit ([0-9a-f]{7,64})\b", re.MULTILINE)
_BRINGS_BACK = re.compile(r"(?i)\b(?:bring|put|add|get)\b[^.\n]{0,40}\b(?:back|again)\b|\brestor|\brevert|\breinstat")
_LOOKED_AT_MAX, _HELD_MAX = 200, 20


def compare_with_main(context: RunContext) -> None:
    """Block each issue of the backlog that counts as merged and is not on main; one that came back is merged again."""
    plumbing, reader = context.env.plumbing, context.reader
    main, read = plumbing.main(), reader.fact(_COMPARED)
    rows = [row for row in reader.issues() if row.present and row.merged_commit]
    off = _off_main(plumbing, tuple(str(row.merged_commit) for row in rows))
    since = f"{read}..{main}" if read and plumbing.resolve(read) and plumbing.is_ancestor(read, main) else main
    own = {commit for _, commit in reader.where_merged().values()}
    back = _taken_back(plumbing, since, rows, own) if read != main else {}
    landed = dict(landed_issues(plumbing)) if off else {}  # a person's amend has given a landing another id
    for row in rows:
        commit, gone = str(row.merged_commit), row.cause == Cause.TAKEN_BACK
        lost = row.status == IssueStatus.MERGED and ((commit in off and row.id not in landed) or row.id in back)
        stands = (lost or gone) and holds(plumbing, main, commit)
        stands = stands or (lost and row.id not in back and _held(plumbing, main, commit, read))
        if lost and not stands:
            _let_go(context, row, back.get(row.id, ""))
        elif gone and stands:
            context.journal.merged(context.clock.now(), row.id, commit)
    context.journal.fact(_COMPARED, main)


def asked_if_it_comes_back(context: RunContext, past: History, action: Action) -> Action:
    """Ask a person, in place of landing it, about work that brings again what they took back of another issue."""
    last = past.attempts[-1] if past.attempts else None
    gone = [row for row in context.reader.blocked() if row.cause == Cause.TAKEN_BACK and row.id != past.issue.id]
    said = any(map(_BRINGS_BACK.search, words_of(past.issue)))
    if (
        not isinstance(action, Land)
        or last is None
        or not last.candidate
        or not gone
        or past.verdict(last.number)
        or said
    ):
        return action
    plumbing = context.env.plumbing
    tree = plumbing.merge(plumbing.main(), last.candidate).tree
    again = (row for row in gone if tree is not None and holds(plumbing, tree, str(row.merged_commit)))
    why = (f"passed; it brings again what issue {row.id} brought, which was {row.reason}" for row in again)
    return next((RequestApproval(None, text) for text in why), action)


def _off_main(plumbing: Plumbing, commits: tuple[str, ...]) -> set[str]:
    if plumbing.are_on_line(commits, plumbing.main()):
        return set()
    off = _beyond_main(plumbing, commits)
    return {each for each in commits if each in off or plumbing.resolve(each) is None}


def _beyond_main(plumbing: Plumbing, commits: Iterable[str]) -> set[str]:
    feed = "".join(f"{name}\n" for name in (*commits, *(f"^{each}" for each in plumbing.mains())))
    return set(plumbing.git.ask("rev-list", "--ignore-missing", "--stdin", stdin=feed).split())


def _held(plumbing: Plumbing, main: str, landing: str, read: str | None = None) -> bool:
    """True if main has held what landed off it, as after a squash, or its files as they were at `read`, with it."""
    if not (paths := tuple(_paths(plumbing, landing))):
        return False
    line = ("--literal-pathspecs", "rev-list", "--first-parent", f"--max-count={_HELD_MAX}", f"{landing}^..{main}")
    commits = plumbing.git.ask(*line, "--", *paths).split()
    later = read if read and plumbing.resolve(read) and not plumbing.is_ancestor(read, landing) else None
    files = plumbing.entries(later, paths) if later else None
    return any(plumbing.entries(each, paths) == files or holds(plumbing, each, landing) for each in commits)


def _taken_back(plumbing: Plumbing, commits: str, rows: list[IssueRow], own: set[str]) -> dict[str, str]:
    """Return the issues whose landings a person's commits take back, with the commit that does; none of `own`."""
    own = own | {each.landing.commit for each in landings(plumbing, commits)}
    line = plumbing.git.ask("log", "--first-parent", "-z", f"--max-count={_LOOKED_AT_MAX}", "--format=%H%n%B", commits)
    theirs = [one for text in line.split("\0") if text and (one := text.partition("\n")[::2])[0] not in own]
    brought = {row.id: _paths(plumbing, str(row.merged_commit)) for row in rows if theirs}
    found: dict[str, str] = {}
    for commit, message in theirs if rows else ():
        changed, named = _paths(plumbing, commit), tuple(_REVERTS.findall(message))
        whole = [(r.id, str(r.merged_commit)) for r in rows if brought[r.id] and brought[r.id] <= changed]
        there = (o for o in whole if plumbing.is_ancestor(o[1], commit) or _held(plumbing, f"{commit}^", o[1]))
        undone = [name for name, landing in there if reverses(plumbing, commit, landing, brought[name])]
        if 2 * len(frozenset().union(*(brought[name] for name in undone))) <= len(changed):
            undone = []  # it is about something else
        undone += [row.id for row in rows if named and str(row.merged_commit).startswith(named)]
        found = dict.fromkeys(undone, commit) | found
    return found


def _paths(plumbing: Plumbing, commit: str) -> frozenset[str]:
    there = plumbing.resolve(f"{commit}^") is not None
    return frozenset(each.path for each in plumbing.raw_changes(f"{commit}^", commit)) if there else frozenset()


def _let_go(context: RunContext, row: IssueRow, back: str) -> None:
    """Block an issue that main does not hold; what a person took back they have rejected; nothing is learnt."""
    plumbing, now, commit = context.env.plumbing, context.clock.now(), str(row.merged_commit)
    refs = plumbing.git.run("for-each-ref", f"--contains={commit}", "--format=%(refname:short)", "refs/heads").text
    branches = tuple(ref for ref in refs.split("\n") if ref and not ref.startswith("noface/"))
    main, short = plumbing.repository.main_name, commit[:12]
    bring = f"git cherry-pick {'-m 1 ' if plumbing.resolve(f'{commit}^2') else ''}{short}"  # and nothing that lay below
    if back:
        why, bring = f"{BY_YOU} ({back[:12]})", f"git revert {back[:12]}"
    elif branches:
        why = f"merged into {some(branches, 2)} as {short}, which {main} does not hold"
    elif commit in _beyond_main(plumbing, (move.new for move in main_moves(plumbing))):
        why = f"{BY_YOU}: {main} does not hold {short} any more"
    else:
        why = f"merged as {short} into a branch that is gone, and {main} does not hold it"
    passed = [each for each in context.reader.past(row.id) if each.outcome == PASSED]
    if passed and why.startswith(BY_YOU):
        failure = Failure(FailureKind.REVIEW_REJECTED, why, TAKEN_BACK, signature=f"{TAKEN_BACK}:{commit}")
        context.journal.attempt_overruled(now, row.id, passed[-1].number, failure)
        context.lessons.forget(row.id, now)
    issue = next((each for each in context.issues if each.id == row.id), Issue(row.id, row.title))
    history = history_of(context, issue)
    context.journal.blocked(now, row.id, why, not_on_main_request(issue, why, history, commit, bring), Cause.TAKEN_BACK)
