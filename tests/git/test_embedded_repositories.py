"""A folder of a change that git takes for a repository: whoever enters it runs what its configuration names."""

import pytest

from noface.integrity.diff.names import made_repositories
from noface.model.attempt import FileChange

BARE = ("HEAD", "objects/.keep", "refs/.keep", "config")


def changed(*paths, status="A"):
    return tuple(FileChange(path, status, "000000", "100644", "0" * 40, "1" * 40) for path in paths)


def below(folder, names=BARE):
    return [f"{folder}/{name}" for name in names]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((), below("t/fixture")),
        ((), below("t/fixture", ("Head", "OBJECTS/x", "Refs/heads/main", "Config"))),
        ((), below("t/fixture", ("HEAD", "commondir"))),
        (below("t/fixture", ("HEAD", "objects/x", "refs/x")), ["t/fixture/config"]),
        (below("t/fixture", ("HEAD", "config")), below("t/fixture", ("objects/a/b", "refs/x"))),
        (below("t/fixture"), ["t/fixture/config"]),
        (below("t/fixture"), ["t/fixture/hooks/post-checkout"]),
    ],
)
def test_a_folder_that_becomes_a_repository_is_found(before, after):
    changes = changed(*after)
    assert made_repositories(changes, frozenset(before)) == ("t/fixture",)
    assert made_repositories(changes, frozenset(before), ("t/**",)) == ()
    assert made_repositories(changes, frozenset(before), ("other/**",)) == ("t/fixture",)
    assert made_repositories(changes, frozenset(before), ("t/fixture/HEAD", "t/fixture/o*")) == ("t/fixture",)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((), ["src/config", "src/objects/a.py", "src/refs/b.py"]),
        ((), ["HEAD", "a/objects/x", "a/refs/x", "a/config"]),
        (below("t/fixture"), ["t/fixture/refs/heads/other", "t/fixture/objects/ab/cd"]),
        ((), ["src/config.py"]),
    ],
)
def test_what_is_none_or_was_one_before_is_no_finding(before, after):
    assert made_repositories(changed(*after), frozenset(before)) == ()


def test_an_embedded_repository_does_not_land(project):
    makes = [{"write": f"tests/fixture/{name}", "text": "ref: refs/heads/main\n"} for name in BARE]
    project.config("\n[recovery]\nenabled = false\n")
    project.play(("*", 0, makes))
    project.issue(7, max_attempts=1)
    project.issue(8, max_attempts=1, may_change=["tests/fixture/**"], depends_on=[])
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"7": "blocked", "8": "merged"}
    (attempt,) = project.attempts("7")
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("BOUNDARY_VIOLATION", "embedded-repository")
    assert "tests/fixture" in attempt["failure"]["message"]
