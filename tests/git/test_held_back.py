"""Where a commit comes to a branch or goes to a remote, whoever asks for it: one that is held back comes no further."""

import pytest
from support.remotes import a_remote

from noface.errors import GitError, RemoteError
from noface.git.fast_forward import Blocked
from noface.git.landing import advance
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate
from noface.git.remote import find_remote
from noface.git.repository import discover


@pytest.fixture
def ground(project):
    remote = a_remote(project)
    old = project.git("rev-parse", "main")
    new = project.git("commit-tree", "-p", old, "-m", "work", "main^{tree}")
    plumbing = Plumbing(discover(project.path))
    plumbing.refs.vet = lambda commit: "it holds a key" if commit == new else ""
    yield plumbing, remote, old, new
    plumbing.close()


def test_no_scratch_branch_holds_it(ground):
    plumbing, _, old, new = ground
    plumbing.refs.apply(RefUpdate("refs/noface/issues/7/1", new), RefUpdate("refs/heads/noface/7", old))
    with pytest.raises(GitError, match="noface/7 is not moved: it holds a key"):
        plumbing.refs.apply(RefUpdate("refs/heads/noface/7", new))
    assert plumbing.resolve("refs/heads/noface/7") == old


def test_main_does_not_move_to_it(ground):
    plumbing, _, old, new = ground
    result = advance(plumbing, old, new, "land")
    assert isinstance(result, Blocked)
    assert "it holds a key" in result.reason
    assert plumbing.local_main() == old


@pytest.mark.parametrize("ref", ["refs/heads/main", "refs/heads/noface/7"])
def test_it_is_not_pushed(ground, ref):
    plumbing, bare, old, new = ground
    remote = find_remote(plumbing.repository)
    remote.vet = plumbing.refs.vet
    with pytest.raises(RemoteError, match="it holds a key"):
        remote.push(new, ref, old if ref.endswith("main") else "")
    assert bare.pushes == []
