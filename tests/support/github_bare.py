"""The bare repository behind the server of the tests: a real one, which git reads and pushes to on its own."""

import os
import subprocess

from .git_ground import ENV

WEB_FLOW = ("GitHub", "noreply@github.com")
"""Who commits what is committed by a button or in an editor of GitHub's pages."""


class Bare:
    """A bare repository, and what GitHub does in one. Commits of people are made without a working tree."""

    def __init__(self, path, main):
        self.path = path
        self.main = main
        self._seen = None
        path.mkdir(parents=True)
        self.git("init", "-q", "--bare", "-b", main)
        for key, value in {
            "receive.hideRefs": "refs/pull",  # «deny updating a hidden ref», as GitHub has it
            "http.receivepack": "true",
            "uploadpack.allowAnySHA1InWant": "true",
            "gc.auto": "0",
        }.items():
            self.git("config", key, value)

    def git(self, *args, stdin=None, check=True, env=None):
        ended = subprocess.run(
            ["git", *args],
            cwd=self.path,
            env={**ENV, **(env or {})},
            input=stdin,
            capture_output=True,
            check=False,
            text=True,
        )
        if check and ended.returncode:
            raise AssertionError(f"git {' '.join(args)}: {ended.stderr}")
        return ended.stdout.rstrip("\n") if ended.returncode == 0 else None

    def refs(self):
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split(" ") for line in lines)

    def branch(self, name):
        return self.commit(f"refs/heads/{name}")

    def commit(self, name):
        return self.git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", check=False)

    def set(self, ref, commit):
        self.git("update-ref", ref, commit)

    def delete(self, ref):
        self.git("update-ref", "-d", ref)

    def protect(self, branch):
        """Let no push change a branch, and say so as GitHub does."""
        hook = self.path / "hooks" / "update"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(
            f"""#!/bin/sh
[ "$1" = refs/heads/{branch} ] || exit 0
echo 'error: GH006: Protected branch update failed for refs/heads/{branch}.' >&2
echo 'error: Changes must be made through a pull request.' >&2
exit 1
"""
        )
        hook.chmod(0o755)

    def refuse(self, pattern, said):
        """Let no push change what a pattern of branches names, by a ruleset, and say so as GitHub does."""
        hook = self.path / "hooks" / "update"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(
            f"""#!/bin/sh
case "$1" in refs/heads/{pattern}) ;; *) exit 0 ;; esac
echo "error: GH013: Repository rule violations found for $1." >&2
echo '- {said}' >&2
exit 1
"""
        )
        hook.chmod(0o755)

    def let_in(self):
        (self.path / "hooks" / "update").unlink()

    def holds(self, commit, ancestor):
        """Whether `ancestor` is in the history of `commit`."""
        return self.git("merge-base", "--is-ancestor", ancestor, commit, check=False) is not None

    def messages(self, old, new):
        span = f"{old}..{new}" if old else new
        return self.git("log", "--format=%B", span)

    def commits(self, base, head):
        return self.git("rev-list", "--reverse", f"{base}..{head}").split()

    def merged_tree(self, ours, theirs):
        """Return the tree of a merge without conflicts, or None."""
        made = self.git("merge-tree", "--write-tree", ours, theirs, check=False)
        return made.splitlines()[0] if made else None

    def commit_tree(self, tree, parents, message, who, at, committer=None):
        """Make a commit; `committer` is name and address of who commits what another wrote."""
        author = (who, f"{who}@users.noreply.github.com")
        env = {}
        for role, (name, email) in {"AUTHOR": author, "COMMITTER": committer or author}.items():
            env |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": email, f"GIT_{role}_DATE": f"{at} +0000"}
        options = [option for parent in parents for option in ("-p", parent)]
        return self.git("commit-tree", tree, *options, stdin=message, env=env)

    def write(self, branch, files, message, who, at, committer=None):
        """Commit files (None deletes one) on top of a branch, or on top of main for a new one; return the commit."""
        parent = self.branch(branch) or self.branch(self.main)
        index = {"GIT_INDEX_FILE": str(self.path / f"index-{os.getpid()}")}
        self.git("read-tree", *([parent] if parent else ["--empty"]), env=index)
        lines = []
        for path, content in files.items():
            blob = content is not None and self.git("hash-object", "-w", "--stdin", stdin=content)
            lines.append(f"100644 {blob}\t{path}" if blob else f"0 {'0' * 40}\t{path}")
        self.git("update-index", "--index-info", stdin="\n".join(lines) + "\n", env=index)
        tree = self.git("write-tree", env=index)
        made = self.commit_tree(tree, [parent] if parent else [], message, who, at, committer)
        self.set(f"refs/heads/{branch}", made)
        return made
