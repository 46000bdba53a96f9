"""Git's own checks of what a commit brings, as a server with `receive.fsckObjects` makes them; nothing of it stays."""

import re
import tempfile
from collections.abc import Collection
from pathlib import Path

from noface.git.command import Git, failed
from noface.git.plumbing import Plumbing

_FINDING = re.compile(r"^(error|warning): object ([0-9a-f]{40,64}): (\w+): (.*)$", re.MULTILINE)
Finding = tuple[str, str, str]
"""An object, the check that refuses it, and git's words."""
_FILE, _FOLDER = "100644 blob", "040000 tree"


Objection = tuple[str, str, str]
"""What a server refuses: where it stands ("." is the top, a commit has its name), the check's name, git's words."""


def refused(plumbing: Plumbing, brought: str, known: Collection[str]) -> tuple[Objection, ...]:
    """Return what git has against the objects that a commit or tree brings to the commits `known`. Raises GitError.

    If it has the same against what stands in that place in one of these, that is no news.
    """
    new = "".join(f"{name}\n" for name in (brought, *(f"^{commit}" for commit in known)))
    findings = _checked(plumbing.git, new, "--revs")
    if not findings:
        return ()
    rows = (row.partition(" ") for row in plumbing.git.ask("rev-list", "--objects", "--stdin", stdin=new).split("\n"))
    paths = {oid: path or "." if space else f"commit {oid[:12]}" for oid, space, path in rows}
    fresh = {(paths[oid], check, words) for oid, check, words in findings if oid in paths}
    return tuple(sorted(fresh - _before(plumbing, {path for path, *_ in fresh}, known)))


def _before(plumbing: Plumbing, paths: Collection[str], known: Collection[str]) -> set[Objection]:
    there: dict[str, str] = {}
    trees = []
    for commit in known:
        for path in paths:
            named = plumbing.git.run("rev-parse", "--verify", "--quiet", f"{commit}:{'' if path == '.' else path}").text
            if named:
                there[named] = path
                kind = _FOLDER if plumbing.git.ask("cat-file", "-t", named) == "tree" else _FILE
                trees.append(f"{kind} {named}\t{path.rpartition('/')[2]}\n")  # by its name git knows how to read it
    if not trees:
        return set()
    made = plumbing.git.ask("mktree", "--batch", stdin="\n".join(trees))
    findings = _checked(plumbing.git, "\n".join((made, *there, "")))
    return {(there[oid], check, words) for oid, check, words in findings if oid in there}


def _checked(git: Git, wanted: str, *words: str) -> set[Finding]:
    packed = git.answer("pack-objects", *words, "--stdout", "-q", stdin=wanted)
    with tempfile.TemporaryDirectory(prefix="noface-") as folder:
        pack = Path(folder, "new.pack")
        pack.write_bytes(packed.stdout)
        return index_pack(git, "-o", str(pack.with_suffix(".idx")), str(pack))


def index_pack(git: Git, *words: str, stdin: bytes | None = None, checks: tuple[str, ...] = ("",)) -> set[Finding]:
    """Index a pack as a server that checks it; return the findings of checks whose names begin so. Raises GitError.

    Git stops at the first; so it is asked again with that check as a warning.
    """
    findings: set[Finding] = set()
    warned: set[str] = set()
    while True:
        strict = "--strict=" + ",".join(f"{check}=warn" for check in sorted(warned)) if warned else "--strict"
        indexing = ("index-pack", strict, *words)
        indexed = git.run(*indexing, stdin=stdin)
        lines = _FINDING.findall(indexed.stderr)
        more = {check for level, _, check, _ in lines if level == "error" and check.startswith(checks)} - warned
        warned |= more
        findings |= {(oid, check, text) for _, oid, check, text in lines if check in warned}
        if indexed.code == 0 or (findings and not more and checks == ("",)):  # some cannot be made a warning
            return findings
        if not more:
            raise failed(indexing, indexed)
