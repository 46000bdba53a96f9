"""Workers and gates see what a checkout of the person holds: submodules, tags, the project's name; or nothing starts."""

import shutil

import pytest
from support.cases import first_ones
from support.git_ground import a_repository, git, write

from noface.process.sandbox import find_bubblewrap

ALLOWED = ("-c", "protocol.file.allow=always")
BUBBLEWRAP = find_bubblewrap(shutil.which("bwrap"))


@pytest.fixture
def inner(project):
    """The repository of the project's submodule."""
    inner = a_repository(project.folder / "inner", {"lib.txt": "lib\n"})
    git(inner, "tag", "v2")
    project.git(*ALLOWED, "submodule", "add", "-q", str(inner), "vendor/lib")
    project.git("remote", "add", "origin", "https://ada:secret@example.org/shop.git")
    project.git("tag", "v1")
    return inner


@pytest.mark.parametrize("sandbox", first_ones(["bubblewrap", "none"]))
def test_a_gate_sees_submodules_tags_and_the_remote_s_name_and_a_worker_is_told_what_it_cannot_change(
    project, inner, sandbox
):
    if sandbox == "bubblewrap" and not BUBBLEWRAP.works:
        pytest.skip(BUBBLEWRAP.problem)
    pin = git(inner, "rev-parse", "HEAD")
    asked = [
        "test $(cat vendor/lib/lib.txt) = lib",
        f"test $(git -C vendor/lib rev-parse HEAD) = {pin}",
        "git -C vendor/lib log -1 --format=%s",
        "git describe --tags",
        "test $(git remote get-url origin) = https://example.org/shop.git",
        "! git push origin HEAD",
        "git diff --quiet HEAD",
        f"test $(basename $PWD) = {project.path.name}",
    ]
    project.config(gate=" && ".join(asked), sandbox=sandbox)
    project.issue(1)
    project.commit()
    spoils = [{"write": "b.txt", "text": "b"}, {"shell": "rm vendor/lib/lib.txt; echo mine > vendor/lib/lib.txt"}]
    project.play(("*", 0, spoils))
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert project.git("ls-tree", "main", "vendor/lib").split()[2] == pin
    prompt = (project.state / "attempts/1/1/prompt.md").read_text()
    assert "`vendor/lib/**`" in prompt


def test_a_submodule_s_commit_that_nobody_has_fetched_keeps_a_run_from_starting(project, inner):
    project.config()
    project.issue(1)
    project.commit()
    write(inner, {"lib.txt": "newer\n"})
    git(inner, "commit", "-q", "-a", "-m", "newer")
    newer = git(inner, "rev-parse", "HEAD")
    project.git("update-index", "--cacheinfo", f"160000,{newer},vendor/lib")
    project.git("commit", "-q", "-m", "pinned")
    checked = project.noface("config", "check")
    assert f"submodules: not on this machine: vendor/lib at {newer[:12]}" in " ".join(checked.stdout.split())
    refused = f"`git submodule update --init --recursive` has to fetch vendor/lib at {newer[:12]}"
    assert refused in " ".join(project.run(code=3).split())
    assert not (project.state / "attempts/1").exists()
    project.git(*ALLOWED, "-C", "vendor/lib", "fetch", "-q")
    project.play(("*", 0, [{"write": "b.txt", "text": "b"}]))
    project.run()
    assert project.statuses() == {"1": "merged"}
