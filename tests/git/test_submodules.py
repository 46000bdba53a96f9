"""A workspace holds what the person's checkout holds of submodules; what a worker changes there is told, never taken."""

import shutil

from support.git_ground import a_bench, a_repository, git, listing, write

from noface.git.submodules import submodules
from noface.git.workspace import checkout

ALLOWED = ("-c", "protocol.file.allow=always")


def with_submodule(tmp_path, at="vendor/lib"):
    """Return a bench whose main has a submodule with one within it, and the repository of the outer one."""
    deep = a_repository(tmp_path / "deep", {"d.txt": "deep\n"})
    inner = a_repository(tmp_path / "inner", {"lib.txt": "lib\n"})
    git(inner, *ALLOWED, "submodule", "add", "-q", str(deep), "deep")
    git(inner, "commit", "-q", "-m", "with a submodule")
    bench = a_bench(tmp_path)
    git(bench.path, *ALLOWED, "submodule", "add", "-q", "--name", "the lib", str(inner), at)
    git(bench.path, *ALLOWED, "submodule", "update", "-q", "--init", "--recursive")
    git(bench.path, "commit", "-q", "-m", "with a submodule")
    return bench, inner


def test_a_workspace_holds_what_submodules_hold(tmp_path):
    bench, inner = with_submodule(tmp_path)
    work = bench.begin()
    assert (work / "vendor/lib/lib.txt").read_text() == "lib\n"
    assert (work / "vendor/lib/deep/d.txt").read_text() == "deep\n"
    assert git(work, "status", "--porcelain") == ""
    shutil.rmtree(inner)  # a build script's call of this fetches nothing
    git(work, "submodule", "update", "--init", "--recursive")
    assert git(work, "status", "--porcelain") == ""
    assert [(one.path, one.whole) for one in submodules(bench.repository, "HEAD")] == [
        ("vendor/lib", True),
        ("vendor/lib/deep", True),
    ]


def test_of_a_partial_clone_what_lacks_files_is_not_whole(tmp_path):
    bench, _ = with_submodule(tmp_path)
    git_dir = bench.path / ".git/modules/the lib"
    git(bench.path / "vendor/lib", "config", "remote.origin.promisor", "true")
    assert [one.whole for one in submodules(bench.repository, "HEAD")] == [True, True]
    blob = git(bench.path / "vendor/lib", "rev-parse", "HEAD:lib.txt")
    (git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    lacking = submodules(bench.repository, git(bench.path, "rev-parse", "HEAD^{tree}"))
    assert [(one.path, one.whole) for one in lacking] == [("vendor/lib", False)]


def test_the_next_checkout_brings_back_whatever_was_done_to_a_submodule(tmp_path):
    bench, _ = with_submodule(tmp_path)
    work = bench.begin()
    lib = work / "vendor/lib"
    plain = bench.merged(remove=["vendor/lib"])

    def edit():
        write(lib, {"lib.txt": "mine\n", "new.txt": "new\n", "deep/d.txt": None})

    def replaced():
        shutil.rmtree(lib)
        lib.symlink_to(tmp_path / "inner")

    def emptied():
        shutil.rmtree(lib)

    def other_index():
        for index in bench.slot.private_git_dir.glob("sub-*"):
            index.write_bytes(b"DIRC nothing")

    for done in (edit, replaced, emptied, other_index, lambda: checkout(bench.slot, plain)):
        done()
        work = bench.begin()
        assert {path for path in listing(work) if path.startswith("vendor/") and "/.git/" not in path} == {
            "vendor/lib/.gitmodules",
            "vendor/lib/lib.txt",
            "vendor/lib/deep/d.txt",
        }
        assert (lib / "lib.txt").read_text() == "lib\n"
        assert git(work, "status", "--porcelain") == ""
    assert (tmp_path / "inner/lib.txt").exists()
    checkout(bench.slot, plain)
    assert not lib.exists()


def test_a_worker_s_change_in_a_submodule_is_told_and_kept_and_no_part_of_its_change(tmp_path):
    bench, _ = with_submodule(tmp_path)
    work = bench.begin()
    write(work, {"a.txt": "work\n", "vendor/lib/lib.txt": "mine\n", "vendor/lib/new.py": "x = 1\n"})
    write(work, {"vendor/lib/deep/d.txt": "mine, too\n", "vendor/lib/out.o": b"\0"})
    taken = bench.take().snapshot
    assert [change.path for change in taken.changes] == ["a.txt"]
    assert not taken.notes
    told = {one.path: one.why for one in taken.not_taken}
    assert set(told) == {"vendor/lib/lib.txt", "vendor/lib/new.py", "vendor/lib/deep/d.txt"}
    assert told["vendor/lib/lib.txt"] == "in the submodule vendor/lib, which is another repository"
    assert bench.content(taken.aside, "vendor/lib/deep/d.txt") == b"mine, too\n"
    assert bench.content(taken.aside, "vendor/lib/new.py") == b"x = 1\n"
    assert git(bench.path, "fsck", "--no-dangling") == ""
    assert bench.take().snapshot.tree == taken.tree  # after a kill, once more


def test_a_submodule_that_a_worker_moves_to_a_commit_of_this_machine_is_a_change(tmp_path):
    bench, inner = with_submodule(tmp_path)
    write(inner, {"lib.txt": "newer\n"})
    git(inner, "commit", "-q", "-a", "-m", "newer")
    newer = git(inner, "rev-parse", "HEAD")
    git(bench.path / "vendor/lib", *ALLOWED, "fetch", "-q")
    work = bench.begin()
    git(work / "vendor/lib", "checkout", "-q", newer)
    taken = bench.take().snapshot
    assert [(change.path, change.new_oid) for change in taken.changes] == [("vendor/lib", newer)]
    assert not taken.not_taken
    assert bench.take().snapshot.tree == taken.tree
    checkout(bench.slot, taken.commit)
    assert (work / "vendor/lib/lib.txt").read_text() == "newer\n"


def test_a_commit_that_a_worker_makes_in_a_submodule_is_told(tmp_path):
    bench, _ = with_submodule(tmp_path)
    work = bench.begin()
    write(work, {"vendor/lib/lib.txt": "mine\n"})
    git(work / "vendor/lib", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-a", "-m", "mine")
    taken = bench.take().snapshot
    assert not taken.changes
    assert [one.path for one in taken.not_taken] == ["vendor/lib", "vendor/lib/lib.txt"]
    assert "which only the workspace has" in taken.not_taken[0].why


def test_a_submodule_s_name_leads_nowhere_else(tmp_path):
    bench, _ = with_submodule(tmp_path)
    text = (bench.path / ".gitmodules").read_text().replace("the lib", "../../../elsewhere/.git")
    shutil.copytree(bench.path / ".git/modules/the lib", tmp_path / "elsewhere/.git")
    shutil.rmtree(bench.path / "vendor")
    assert submodules(bench.repository, bench.merged({".gitmodules": text}))[0].git_dir is None


def test_submodules_that_are_checked_out_the_old_way_or_not_at_all(tmp_path):
    """Old ones have their git dir in their folder; `git submodule deinit` leaves it below `.git/modules`."""
    bench, inner = with_submodule(tmp_path)
    shutil.rmtree(bench.path / ".git/modules")
    assert [(one.whole, one.git_dir) for one in submodules(bench.repository, bench.main)] == [(False, None)]
    work = bench.begin()
    assert list((work / "vendor/lib").iterdir()) == []
    shutil.rmtree(bench.path / "vendor/lib")
    git(tmp_path, "clone", "-q", str(inner), str(bench.path / "vendor/lib"))
    bench.begin()
    assert (work / "vendor/lib/lib.txt").read_text() == "lib\n"
