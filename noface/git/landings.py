"""What the history of main, or of a branch, tells of noface's work: landings and pushed commits by their trailers."""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace

from noface.errors import GitError
from noface.git.plumbing import Plumbing
from noface.integrity.state.landed import TrailedCommit, is_landing

_TRAILERS = (f"%(trailers:key=Noface-{key},valueonly,separator=%x1f)" for key in ("Issue", "Base", "Outcome"))
_CLAIMS = (
    "--no-show-signature",
    "--grep=^Noface-Issue: ",
    "--grep=^Noface-Base: ",
    "--format=" + "%x00".join(("%H", "%P", "%T", "%ct", *_TRAILERS)),
)
_BROUGHT_MAX = 50
_OWN_MAX = 30
_RECENT_MAX = 50
_DIGITS_MAX = 10


@dataclass(frozen=True, slots=True)
class PushedWork:
    """A commit that noface has pushed for an issue, with its attempt and when it was made, in epoch seconds."""

    commit: str
    attempt: int
    at: float


def landings(plumbing: Plumbing, name: str = "", *, first_parent: bool = True) -> tuple[TrailedCommit, ...]:
    """Return noface's landings, oldest first: of main's first parents, or a range's (integrity/state/landed.py)."""
    options = (*(("--first-parent",) if first_parent else ()), "--reverse", *_CLAIMS)
    text = plumbing.git.ask("log", *options, name or plumbing.repository.main, "--")
    claims = [_claimed(line) for line in text.split("\n") if line]
    if first_parent:
        claims = [own for each in claims for own in _own_claims(plumbing, each)]
    attempts = _attempts(plumbing, {parent for each in claims for parent in each.parents[1:]})
    return tuple(each for each in claims if is_landing(each, attempts, on_main=first_parent))


def landed_commits(plumbing: Plumbing, old: str, new: str) -> tuple[str, ...]:
    """Return the commits from behind `old` up to `new` along main, each issue's own in place of a common one."""
    commits: list[str] = []
    for commit in plumbing.first_parents(old, new):
        own = landings(plumbing, f"{commit}^!") if plumbing.may_land_several(commit) else ()
        commits += [each.commit for each in reversed(own)] or [commit]
    return tuple(commits)


def in_the_way(plumbing: Plumbing, work: str, main: str, paths: Collection[str]) -> tuple[str, ...]:
    """Name what changed one of `paths` on `main` since `work` left it ("12: Add dates"), the oldest first."""
    named, base = frozenset(paths), plumbing.merge_base(work, main)
    with suppress(GitError):
        commits = landed_commits(plumbing, base, main)[:_BROUGHT_MAX] if base and named else ()
        there = [each for each in commits if any(c.path in named for c in plumbing.raw_changes(f"{each}^1", each))]
        form = "%h%x00%s%x00%(trailers:key=Noface-Issue,valueonly,separator=%x1f)"
        text = plumbing.git.ask("log", "--no-walk=unsorted", f"--format={form}", *reversed(there)) if there else ""
        lines = (line.split("\0") for line in text.split("\n") if line)
        return tuple(f"{issue or short}: {subject}" for short, subject, issue in lines)
    return ()


def _own_claims(plumbing: Plumbing, claimed: TrailedCommit) -> tuple[TrailedCommit, ...]:
    parent, *merged = claimed.parents or ("",)
    if claimed.issues or not merged or claimed.base != parent:
        return (claimed,)  # else each issue's own commit stands behind it
    return tuple(replace(each, brought_by=claimed) for each in landings(plumbing, f"{parent}..{merged[0]}"))


def _attempts(plumbing: Plumbing, commits: set[str]) -> dict[str, str]:
    if not commits:
        return {}
    feed = "".join(f"{commit}\n" for commit in commits).encode()
    text = plumbing.git.ask("log", "--no-walk", "--stdin", *_CLAIMS, stdin=feed)
    claims = [_claimed(line) for line in text.split("\n") if line]
    return {each.commit: each.issues[0] for each in claims if each.issues and each.outcome}


def pushed_work(plumbing: Plumbing, issue_id: str, old: str, new: str) -> tuple[PushedWork, ...]:
    """Return the commits that noface has pushed for an issue since `old`, newest first, as their trailers tell."""
    trailers = (f"%(trailers:key=Noface-{key},valueonly,separator=%x1f)" for key in ("Issue", "Attempt"))
    form = "%x00".join(("%H", "%ct", *trailers))
    text = plumbing.git.ask("log", "--no-show-signature", "--first-parent", f"--format={form}", f"{old}..{new}", "--")
    works = []
    for line in text.split("\n") if text else ():
        commit, at, named, attempt = line.split("\0")
        # Trailers are text that people edit, and int() takes other digits than these, and refuses very long ones.
        if named == issue_id and attempt.isascii() and attempt.isdecimal() and len(attempt) < _DIGITS_MAX:
            works.append(PushedWork(commit, int(attempt), float(at)))
    return tuple(works)


def brought_since(plumbing: Plumbing, main: str, since: float) -> dict[str, list[tuple[str, str, str, str]]]:
    """Return what landed on `main` since a time (epoch seconds), by paths: the issue, its title, old and new blobs."""
    form = "--format=%x01%(trailers:key=Noface-Issue,valueonly,separator=%x2c)%x02%s%x02"
    raw = ("--raw", "-z", "--no-renames", "--no-abbrev", "--diff-merges=first-parent", "--first-parent")
    asked = ("log", *raw, *_CLAIMS[:3], form, f"--since={int(since)}", f"--max-count={_RECENT_MAX}", main, "--")
    found: dict[str, list[tuple[str, str, str, str]]] = {}
    for entry in plumbing.git.ask(*asked).split("\x01")[1:]:
        issue, title, rest = entry.split("\x02", 2)
        fields = [field for field in rest.split("\0") if field.strip()]
        for change, path in zip(fields[::2], fields[1::2], strict=False):
            old, new = change.split()[2:4]
            found.setdefault(path, []).append((issue, title, old, new))
    return found


def landed_issues(plumbing: Plumbing) -> tuple[tuple[str, str], ...]:
    return tuple((landing.issue, landing.commit) for landing in landings(plumbing))


def has_landings(plumbing: Plumbing) -> bool:
    """True if main's history holds work of an agent: a commit with noface's trailer, on whatever side."""
    return bool(plumbing.git.ask("log", "-1", "--format=%H", "--grep=^Noface-Issue: ", plumbing.repository.main, "--"))


def own_messages(plumbing: Plumbing, main: str) -> tuple[str, ...]:
    """Return the newest messages of main's history that people wrote, merges aside, the newest first."""
    asked = ("log", "--no-merges", "--no-show-signature", f"--max-count={_OWN_MAX}", "-z", "--format=%B")
    text = plumbing.git.ask(*asked, "--invert-grep", "--grep=^Noface-Issue: ", main, "--")
    return tuple(message.strip() for message in text.split("\0") if message.strip())


def line_counts(plumbing: Plumbing, commits: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return how many lines each commit adds to its first parent, and how many it takes; none of what is gone."""
    shape = ("--no-walk", "--ignore-missing", "--first-parent", "-m", "--numstat", "--format=%x00%H", "--stdin")
    feed = "".join(f"{commit}\n" for commit in commits).encode()
    counts = {}
    for entry in plumbing.git.ask("log", *shape, stdin=feed).split("\0")[1:] if commits else ():
        commit, *rows = entry.split("\n")
        files = [row.split("\t") for row in rows if row[:1].isdecimal()]  # of a binary file git says "-"
        counts[commit] = sum(int(row[0]) for row in files), sum(int(row[1]) for row in files)
    return counts


def _claimed(line: str) -> TrailedCommit:
    commit, parents, tree, at, issues, base, outcome = line.split("\0")
    named = tuple(filter(None, issues.split("\x1f")))
    return TrailedCommit(commit, tuple(parents.split()), tree, float(at), named, base, outcome)
