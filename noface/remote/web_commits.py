"""Commits that go on as part of the work: of people by GitHub's pages, and of another clone's noface.

Who uses the pages works on the pull request as it is; who pushes has a branch of their own.
"""

from urllib.parse import urlsplit

from noface.engine.context import RunContext
from noface.git.plumbing import Plumbing, make_and_hold
from noface.git.refs import RefUpdate, hold_ref
from noface.model.issue import Issue
from noface.model.scratch import PERSON

_BY_GITHUB = ("GitHub", "GitHub Enterprise")
_HOST = "github.com"


def committed_there(plumbing: Plumbing, old: str, new: str, main: str, url: str) -> bool:
    """True if a branch grew from `old` to `new` by commits of GitHub's pages, of noface and main's alone."""
    if not old or not all(map(plumbing.resolve, (old, new))) or not plumbing.is_ancestor(old, new):
        return False
    host = urlsplit(url).hostname or _HOST
    form = "--format=%(trailers:key=Noface-Issue,valueonly,separator=%x2c)%x09%cn%x09%ce"
    text = plumbing.git.ask("log", form, f"{old}..{new}", f"^{main}", "--")
    commits = [line.split("\t", 1) for line in text.splitlines() if line]
    known = {f"{name}\tnoreply@{each}" for name in _BY_GITHUB for each in (_HOST, host)}
    return bool(commits) and all(issue or committer in known for issue, committer in commits)


def adopt(context: RunContext, issue: Issue, number: int, commit: str) -> None:
    """Take a commit of the pull request's branch as the issue's own: the next attempt after `number` starts there."""
    held = RefUpdate(hold_ref(issue.id, f"{PERSON}{number}-{commit[:12]}"), commit)
    context.env.plumbing.refs.apply(held)


def with_commits_there(context: RunContext, issue: Issue, number: int, candidate: str, tip: str) -> str | None:
    """Return work that is to land with what people committed meanwhile, up to `tip`; None if it cannot."""
    plumbing, row = context.env.plumbing, context.pulls.row(issue.id)
    given = plumbing.references(hold_ref(issue.id, "").rstrip("/")).items()
    adopted = any(commit == tip for name, commit in given if name.rpartition("/")[2].startswith(PERSON))
    if row is None or not (adopted or committed_there(plumbing, row.pushed, tip, plumbing.main(), row.url)):
        return None
    main = plumbing.main()
    tree = _joined(plumbing, main, row.pushed or row.head, tip, candidate)
    if tree is None:
        return None
    adopt(context, issue, number, tip)
    context.pulls.adopted(context.clock.now(), issue.id, tip)
    message = f"Join what was committed on the pull request of issue {issue.id}\n"
    return make_and_hold(
        plumbing, hold_ref(issue.id, "joined"), lambda: plumbing.commit_tree(tree, (candidate, tip, main), message), str
    )


def _joined(plumbing: Plumbing, main: str, published: str, tip: str, candidate: str) -> str | None:
    """Return the tree of what people and a worker made of `published`, put on `main`; None if git cannot."""
    trees = [plumbing.merge(main, each).tree for each in (published, tip, candidate)]
    if None in trees:
        return None
    before, theirs, ours = (str(tree) for tree in trees)
    base = plumbing.commit_tree(before, (main,), "What was shown\n")
    sides = (plumbing.commit_tree(tree, (base,), "A side of a merge\n") for tree in (theirs, ours))
    return plumbing.merge(*sides).tree
