"""Files that git keeps in another form: a workspace holds what a checkout does, main keeps the form that it has."""

import pytest
from support.git_ground import a_bench, a_repository, git, write

from noface.engine.readiness import checkout_findings
from noface.git.filtered import changed_form, filtered
from noface.git.workspace import checkout, give_git, in_use, write_forms

PICTURE = b"picture\n" * 400
ATTRIBUTES = "*.bin filter=store\n*.txt16 working-tree-encoding=UTF-16LE\n*.note filter=strip\n*.none filter=unknown\n"


def with_store(path, store):
    """Have a clone keep the contents of files in a folder; main has their names in it, as with git-lfs."""
    new = f"{store}/new"
    keep = f"cat > {new}; if grep -q ^kept: {new}; then cat {new}; exit; fi; f=$(sha256sum < {new} | cut -c1-20)"
    git(path, "config", "filter.store.clean", f'{keep}; mv {new} {store}/$f; echo "kept:$f"')
    git(path, "config", "filter.store.smudge", f"cat {store}/$(cut -d: -f2)")
    git(path, "config", "filter.store.required", "true")


@pytest.fixture
def bench(tmp_path):
    """A project with a filter that keeps files elsewhere, as git-lfs does, one that only takes out, and an encoding."""
    bench = a_bench(tmp_path)
    store = tmp_path / "store"
    store.mkdir()
    with_store(bench.path, store)
    git(bench.path, "config", "filter.strip.clean", "grep -v secret")
    git(bench.path, "config", "filter.strip.smudge", "cat")
    write(bench.path, {".gitattributes": ATTRIBUTES, "a.bin": PICTURE, "deep/b.bin": b"other\n" * 100})
    write(bench.path, {"c.txt16": "umlaut ü\n".encode("utf-16-le"), "d.note": "note\n", "e.none": "none\n"})
    git(bench.path, "add", "-A")
    git(bench.path, "commit", "-q", "-m", "filtered")
    assert git(bench.path, "show", "HEAD:a.bin").startswith("kept:")
    return bench


def begin(bench, commit=None):
    checkout(bench.slot, commit or bench.main)
    with in_use(bench.slot) as own:
        why = write_forms(bench.slot, bench.plumbing, own, commit or bench.main, bench.main)
    give_git(bench.slot, "7", commit or bench.main)
    return why


def test_a_workspace_holds_what_a_checkout_holds_of_filtered_files_and_that_is_no_change(bench):
    assert begin(bench) == ""
    for path in ("a.bin", "deep/b.bin", "c.txt16", "d.note", "e.none"):
        assert (bench.work / path).read_bytes() == (bench.path / path).read_bytes()
    assert git(bench.work, "status", "--porcelain") == ""
    write(bench.work, {"a.txt": "work\n"})
    for _ in range(2):  # after a kill, once more
        assert [change.path for change in bench.take().snapshot.changes] == ["a.txt"]
    found = {one.path: (one.by, one.configured) for one in filtered(bench.plumbing, bench.main)}
    assert found["e.none"] == ("unknown", False)
    assert found["c.txt16"] == ("UTF-16LE", True)


def test_what_a_worker_does_to_filtered_files_is_seen_and_the_next_checkout_mends_it(bench):
    begin(bench)
    inode = (bench.work / "deep/b.bin").stat().st_ino
    (bench.work / "a.bin").rename(bench.work / "moved.bin")
    write(bench.work, {"c.txt16": "new\n", "deep/new.bin": "new\n", "d.note": "changed\n"})
    snapshot = bench.take().snapshot
    changes = {change.path: change for change in snapshot.changes}
    assert {path: change.status for path, change in changes.items()} == {
        "a.bin": "D",
        "moved.bin": "A",
        "c.txt16": "M",
        "deep/new.bin": "A",
        "d.note": "M",
    }
    assert bench.content(snapshot.tree, "moved.bin").startswith(b"kept:")
    refused = {one.path for one in changed_form(bench.plumbing, bench.main, snapshot.changes)}
    assert refused == {"c.txt16", "deep/new.bin"}  # a filter that only takes out keeps no other form
    begin(bench)
    assert (bench.work / "a.bin").read_bytes() == PICTURE
    assert (bench.work / "deep/b.bin").stat().st_ino == inode  # unchanged: not written again
    assert not (bench.work / "moved.bin").exists()
    assert bench.take().snapshot.changes == ()


def test_a_damaged_index_or_record_costs_a_new_writing_and_nothing_else(bench):
    for damage in ("index", "filtered"):
        begin(bench)
        (bench.slot.private_git_dir / damage).write_bytes(b"[1, 2")
        write(bench.work, {"a.txt": "work\n"})
        if damage == "index":
            assert [change.path for change in bench.take().snapshot.changes] == ["a.txt"]
        begin(bench)
        assert (bench.work / "a.bin").read_bytes() == PICTURE
        assert bench.take().snapshot.changes == ()


def test_a_commit_without_the_files_or_with_others_in_their_place(bench):
    begin(bench)
    other = bench.merged({"a.bin": "a worker's own\n"}, remove=["deep/b.bin"])
    begin(bench, other)
    assert (bench.work / "a.bin").read_text() == "a worker's own\n"  # no filter runs on it
    assert not (bench.work / "deep/b.bin").exists()
    begin(bench)
    assert (bench.work / "a.bin").read_bytes() == PICTURE


def test_what_a_filter_cannot_write_is_told_with_its_own_words(bench):
    git(bench.path, "config", "filter.store.smudge", "echo no such object >&2; false")
    why = begin(bench)
    assert why.startswith("git cannot write a.bin as your checkout holds it: ")
    assert "no such object" in why


def test_contents_that_git_lfs_has_not_fetched_keep_a_workspace_from_being_made(bench):
    """A clone without them (GIT_LFS_SKIP_SMUDGE, a quota that is used up) is not fetched behind the person's back."""
    write(bench.path, {"a.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:1\n"})
    git(bench.path, "config", "filter.store.smudge", "false")
    assert begin(bench) == "`git lfs pull` has to fetch a.bin, as your checkout lacks it"
    told = [finding.text for finding in checkout_findings(bench.plumbing, bench.main)]
    assert "git-lfs: your checkout lacks the contents of a.bin" in told
    git(bench.path, "config", "filter.store.smudge", "echo version https://git-lfs.github.com/spec/v1")
    (bench.path / "a.bin").unlink()
    assert "git-lfs leaves out the contents of a.bin" in begin(bench)  # git lfs install --skip-smudge


def test_files_of_submodules_have_the_form_that_a_checkout_has(bench, tmp_path):
    allowed, store = ("-c", "protocol.file.allow=always"), tmp_path / "store"
    inner = a_repository(tmp_path / "inner")
    with_store(inner, store)
    write(inner, {".gitattributes": ATTRIBUTES, "lib.bin": PICTURE, "lib.none": "none\n"})
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "filtered")
    git(bench.path, *allowed, "submodule", "add", "-q", str(inner), "vendor/lib", check=False)
    with_store(bench.path / "vendor/lib", store)
    (bench.path / "vendor/lib/lib.bin").unlink()
    git(bench.path / "vendor/lib", "checkout", "-q", "--", ".")
    git(bench.path, "add", "-A")
    git(bench.path, "commit", "-q", "-m", "with a submodule")
    for _ in range(2):
        assert begin(bench) == ""
        lib = bench.work / "vendor/lib"
        assert (lib / "lib.bin").read_bytes() == PICTURE
        assert git(lib, "status", "--porcelain") == git(bench.work, "status", "--porcelain") == ""
        assert bench.take().snapshot.not_taken == ()
        (lib / "lib.bin").unlink()
        write(lib, {"lib.bin": "mine\n"})
        assert [one.path for one in bench.take().snapshot.not_taken] == ["vendor/lib/lib.bin"]
