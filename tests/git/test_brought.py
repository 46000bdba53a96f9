"""What stands in the way of work on main is named: by issue and title, or by the commit of a person."""

import pytest
from support.git_ground import a_repository, git, write
from support.landings import plumbing_at

from noface.git.landings import in_the_way

ISSUE = "\n\nNoface-Issue: {0}\nNoface-Attempt: 1\n"


def committed(repository, message, files):
    write(repository, files)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", message)
    return git(repository, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path):
    return a_repository(tmp_path / "repo", {"a.txt": "a\n", "b/c.txt": "c\n"})


def named(repository, start, *paths):
    return in_the_way(plumbing_at(repository), start, git(repository, "rev-parse", "main"), paths)


def test_a_landing_is_named_by_its_issue_and_title_and_a_commit_by_its_id(repository):
    start = git(repository, "rev-parse", "main")
    committed(repository, "Before" + ISSUE.format(11), {"b/c.txt": "d\n"})
    committed(repository, "Add dates" + ISSUE.format(12), {"a.txt": "a\nb\n"})
    by_hand = committed(repository, "By hand", {"a.txt": "a\nb\nc\n"})
    assert named(repository, start, "a.txt") == ("12: Add dates", f"{by_hand[:7]}: By hand")
    assert named(repository, start, "b/c.txt") == ("11: Before",)
    assert named(repository, start, "A.TXT", "a.txt~main") == ()
    assert named(repository, by_hand, "a.txt") == ()


def test_of_a_commit_that_lands_several_each_issue_is_named_for_its_own_files(repository):
    start = git(repository, "rev-parse", "main")
    git(repository, "checkout", "-q", "-b", "side")
    one = committed(repository, f"One{ISSUE.format(1)}Noface-Base: {start}\n", {"a.txt": "one\n"})
    committed(repository, f"Two{ISSUE.format(2)}Noface-Base: {one}\n", {"b/c.txt": "two\n"})
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "-m", f"Land issues 1, 2\n\nNoface-Base: {start}\n", "side")
    assert named(repository, start, "a.txt") == ("1: One",)
    assert named(repository, start, "b/c.txt") == ("2: Two",)


def test_what_renames_or_deletes_a_file_is_named_and_unrelated_history_is_not(repository):
    start = git(repository, "rev-parse", "main")
    git(repository, "mv", "a.txt", "z.txt")
    git(repository, "commit", "-q", "-m", "Rename" + ISSUE.format(3))
    assert named(repository, start, "a.txt") == named(repository, start, "z.txt") == ("3: Rename",)
    alone = git(repository, "commit-tree", "-m", "alone", f"{start}^{{tree}}")
    assert named(repository, alone, "a.txt") == ()
    assert named(repository, "0" * 40, "a.txt") == ()
