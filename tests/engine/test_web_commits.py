"""Whose commits a branch has grown by: those of GitHub's pages, or a person's."""

import subprocess

import pytest
from support.git_ground import ENV, a_bench

from noface.remote.web_commits import committed_there

URL = "https://github.com/acme/shop/pull/1"
GITHUB = ("GitHub", "noreply@github.com")
SERVER = ("GitHub Enterprise", "noreply@git.acme.example")
PERSON = ("bob", "bob@acme.example")


def commit(bench, message, *parents, by=PERSON):
    env = {f"GIT_COMMITTER_{key}": value for key, value in zip(("NAME", "EMAIL"), by, strict=True)}
    options = [option for parent in parents for option in ("-p", parent)]
    made = ["git", "commit-tree", bench.plumbing.tree(parents[0]), *options, "-m", message]
    ended = subprocess.run(made, cwd=bench.path, env={**ENV, **env}, capture_output=True, text=True, check=True)
    return ended.stdout.strip()


@pytest.mark.parametrize(
    ("by", "url", "expected"),
    [
        ([GITHUB], URL, True),
        ([GITHUB, GITHUB], URL, True),
        ([PERSON], URL, False),
        ([GITHUB, PERSON], URL, False),
        ([PERSON, GITHUB], URL, False),
        ([SERVER], "https://git.acme.example/acme/shop/pull/1", True),
        ([SERVER], URL, False),
        ([("bob", "noreply@github.com")], URL, False),
    ],
)
def test_what_githubs_pages_commit_is_told_from_a_persons_push(tmp_path, by, url, expected):
    bench = a_bench(tmp_path)
    main = bench.plumbing.main()
    old = new = commit(bench, "noface's", main)
    for number, who in enumerate(by):
        new = commit(bench, f"change {number}", new, by=who)
    assert committed_there(bench.plumbing, old, new, main, url) is expected


def test_mains_own_commits_come_with_update_branch_and_a_forced_push_is_a_persons(tmp_path):
    bench = a_bench(tmp_path)
    first = bench.plumbing.main()
    old, main = commit(bench, "noface's", first), commit(bench, "bob's on main", first)
    merged = commit(bench, "Merge branch 'main'", old, main, by=GITHUB)
    assert committed_there(bench.plumbing, old, merged, main, URL)
    assert not committed_there(bench.plumbing, old, merged, first, URL), "while main is not fetched"
    assert not committed_there(bench.plumbing, old, commit(bench, "forced", first, by=GITHUB), main, URL)
    assert not committed_there(bench.plumbing, old, old, main, URL)
    assert not committed_there(bench.plumbing, "", merged, main, URL)
