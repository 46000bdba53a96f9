"""The canary sings, and permissions hold, where nothing keeps them from it."""

import subprocess

import pytest
from support.git_ground import Canary, a_repository, git, without_privilege


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("diff",),
        ("add", "-A"),
        ("log", "-p", "-1"),
        ("commit", "-q", "--allow-empty", "-m", "x"),
        ("update-ref", "refs/heads/x", "HEAD"),
    ],
    ids=" ".join,
)
def test_the_canary_sings_for_a_git_that_is_not_sealed(tmp_path, command):
    path = a_repository(tmp_path / "project")
    canary = Canary(tmp_path)
    canary.set_everywhere(path / ".git")
    (path / "a.txt").write_text("changed\n")
    git(path, *command, check=False)
    assert canary.sang


def test_permissions_hold_without_privilege(tmp_path):
    (tmp_path / "closed").write_text("secret")
    (tmp_path / "closed").chmod(0)
    ended = subprocess.run([*without_privilege(), "cat", str(tmp_path / "closed")], capture_output=True, check=False)
    assert b"Permission denied" in ended.stderr
