"""Names made of issue ids, refs, and git's account of a difference: properties that hold for any input."""

import os
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.git_ground import ENV, a_bench, a_repository

from noface.errors import GitError
from noface.git.command import Git
from noface.git.landings import line_counts
from noface.git.objects import ObjectReader, parse_diff
from noface.git.refs import ZERO, RefUpdate, hold_ref, scratch_branch, slug
from noface.git.stored import StoredObjects
from noface.model.attempt import ABSENT

IDS = st.one_of(
    st.text(max_size=60),
    st.from_regex(r"[a-zA-Z0-9_-]{0,50}", fullmatch=True),
    st.sampled_from(
        ["", ".", "..", "../x", "-x", "a/b", "HEAD", "x.lock", "@", "@{1}", "a" * 300, "A", "a", "ß", "ẞ", "İ"]
    ),
)


@given(IDS, IDS)
def test_different_ids_never_share_a_name_even_where_case_is_folded(one, other):
    assert (slug(one).casefold() == slug(other).casefold()) is (one == other)


@given(IDS)
def test_no_id_can_be_given_the_name_of_another(issue):
    assert slug(slug(issue)) == slug(issue) if slug(issue) == issue else slug(slug(issue)) != slug(issue)


@given(IDS)
def test_name_is_short_plain_and_no_option(issue):
    name = slug(issue)
    assert 0 < len(name) <= 60
    assert name.isascii()
    assert name.replace("-", "").replace("_", "").isalnum() or set(name) <= {"_", "-"}
    assert name == name.lower()
    assert not name.startswith("-")


@given(IDS)
def test_git_takes_the_names_for_refs(issue):
    for ref in (scratch_branch(issue), hold_ref(issue, "1"), hold_ref(issue, "base")):
        assert subprocess.run(["git", "check-ref-format", ref], check=False).returncode == 0


PARTS = st.one_of(
    st.binary(min_size=1, max_size=12),
    st.sampled_from([b"a", b"b", b":100644", b"new\nline", b"tab\t", b'"', b"\xff", b" ", b"--- a", b"diff --git"]),
)
NAMES = (
    st.lists(PARTS, min_size=1, max_size=3)
    .map(b"/".join)
    .map(
        lambda name: b"/".join(part for part in name.replace(b"\0", b"0").split(b"/") if part not in (b"", b".", b".."))
    )
    .filter(lambda name: name and not any(part.lower().startswith(b".g") or b"~" in part for part in name.split(b"/")))
    .filter(lambda name: not any(part.lower().lstrip(b"\x00").startswith(b"git") for part in name.split(b"/")))
)
CONTENTS = st.one_of(st.binary(max_size=40), st.sampled_from([b"a\nb\nc\n", b"a\nx\nc\n", b"\0", b"no newline"]))
MODES = st.sampled_from(["100644", "100755", "120000", "160000"])
TREES = st.dictionaries(NAMES, st.tuples(MODES, CONTENTS), max_size=8)


def without_folders_that_are_files(files):
    return {name: what for name, what in files.items() if not any(name.startswith(other + b"/") for other in files)}


def make_tree(path, files):
    index = path / ".git" / "made-index"
    index.unlink(missing_ok=True)
    env = {**ENV, "GIT_INDEX_FILE": str(index)}

    def run(*args, stdin=b""):
        ended = subprocess.run(["git", "-C", path, *args], env=env, input=stdin, capture_output=True, check=False)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()

    lines, oids = b"", {}
    for name, (mode, content) in files.items():
        oids[name] = run("hash-object", "-w", "--stdin", stdin=content) if mode != "160000" else b"1" * 40
        lines += mode.encode() + b" " + oids[name] + b"\t" + name + b"\0"
    run("update-index", "-z", "--index-info", stdin=lines)
    return run("write-tree").decode(), {name: (files[name][0], oids[name].decode()) for name in files}


def two_trees(path, shared, *sides):
    if not path.exists():
        a_repository(path)
    return path, *(make_tree(path, without_folders_that_are_files({**shared, **side})) for side in sides)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(before=TREES, after=TREES, shared=TREES)
def test_every_difference_git_tells_of_is_read(tmp_path, before, after, shared):
    path, (old_tree, old), (new_tree, new) = two_trees(tmp_path / "project", shared, before, after)
    git = Git.sealed(str(path / ".git"))
    args = ("-r", "-z", "--raw", "--numstat", "-p", "--no-renames", "--no-ext-diff", "--no-textconv")
    diff = parse_diff(git.run("diff-tree", *args, old_tree, new_tree).stdout)
    absent = ("000000", "0" * 40)
    expected = {
        os.fsdecode(name): (*old.get(name, absent), *new.get(name, absent))
        for name in {*old, *new}
        if old.get(name) != new.get(name)
    }
    assert {c.path: (c.old_mode, c.old_oid, c.new_mode, c.new_oid) for c in diff.changes} == expected
    assert diff.patch.count(b"diff --git ") >= len(expected)
    assert bool(diff.hash) is bool(expected)
    assert all(
        (c.old_oid == "0" * 40, c.new_oid == "0" * 40) == (c.status == "A", c.status == "D") for c in diff.changes
    )
    plain = git.run("diff-tree", "-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", old_tree, new_tree)
    assert diff.patch == plain.stdout


def listed(path, *args):
    output = subprocess.run(["git", "-C", path, *args], capture_output=True, check=True).stdout
    return [part for part in output.decode("utf-8", "surrogateescape").split("\0") if part]


def files_of(path, tree):
    pairs = (entry.split("\t", 1) for entry in listed(path, "ls-tree", "-r", "-z", tree))
    return [(name, meta.split()[0], meta.split()[2]) for meta, name in pairs]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(before=TREES, after=TREES, shared=TREES)
def test_files_differences_and_new_trees_are_those_of_git(tmp_path, before, after, shared):
    path, (old, olds), (new, news) = two_trees(tmp_path / "project", shared, before, after)
    sealed = Git.sealed(str(path / ".git"))
    reader = ObjectReader(sealed, path / ".git/objects/pack")
    stored = StoredObjects(sealed, reader)
    try:
        assert list(stored.files(old)) == files_of(path, old)
        fields = listed(path, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new)
        expected = {(name, *meta[1:].split()) for meta, name in zip(fields[::2], fields[1::2], strict=True)}
        changes = list(stored.changes(old, new))
        assert {(c.path, c.old_mode, c.new_mode, c.old_oid, c.new_oid, c.status) for c in changes} == expected
        entries = {c.path: None if c.new_mode == ABSENT else (c.new_mode, c.new_oid) for c in changes}
        assert stored.write_tree(old, entries) == new
        assert stored.write_tree(new, dict.fromkeys(os.fsdecode(name) for name in news)) == make_tree(path, {})[0]
        for name, entry in olds.items():
            assert (os.fsdecode(name), *entry) in stored.at(old, (os.fsdecode(name),))
    finally:
        stored.close()
        reader.close()


def test_refs_move_together_or_not_at_all(tmp_path):
    bench = a_bench(tmp_path)
    one, two = bench.main, bench.merged({"a.txt": "2\n"})
    refs = bench.plumbing.refs
    refs.apply(RefUpdate("refs/noface/a", one), RefUpdate("refs/noface/b", one, ZERO))
    with pytest.raises(GitError, match="refs/noface/b"):
        refs.apply(RefUpdate("refs/noface/a", two), RefUpdate("refs/noface/b", two, ZERO))
    assert bench.plumbing.references("refs/noface") == {"refs/noface/a": one, "refs/noface/b": one}
    with pytest.raises(GitError):
        refs.apply(RefUpdate("refs/noface/a", two, two))
    refs.apply(RefUpdate("refs/noface/a", two, one), RefUpdate("refs/noface/b", ZERO), RefUpdate("refs/noface/c", ZERO))
    refs.apply(RefUpdate("refs/noface/b", ZERO))
    assert bench.plumbing.references("refs/noface") == {"refs/noface/a": two}


def test_ref_writer_survives_the_death_of_its_process(tmp_path):
    bench = a_bench(tmp_path)
    refs = bench.plumbing.refs
    refs.apply(RefUpdate("refs/noface/a", bench.main))
    refs._process.kill()
    refs._process.wait()
    refs.apply(RefUpdate("refs/noface/b", bench.main))
    assert set(bench.plumbing.references("refs/noface")) == {"refs/noface/a", "refs/noface/b"}


def test_object_that_was_packed_and_pruned_loose_meanwhile_can_still_be_referred_to(tmp_path):
    bench = a_bench(tmp_path)
    commit = bench.merged({"a.txt": "2\n"})
    bench.plumbing.refs.apply(RefUpdate("refs/noface/a", commit))
    subprocess.run(["git", "-C", bench.path, "gc", "-q", "--prune=now"], check=True)
    later = bench.merged({"a.txt": "3\n"})
    bench.plumbing.refs.apply(RefUpdate("refs/noface/b", later), RefUpdate("refs/noface/c", commit))
    assert bench.plumbing.references("refs/noface/b") == {"refs/noface/b": later}


def test_ref_to_a_missing_object_is_refused(tmp_path):
    bench = a_bench(tmp_path)
    with pytest.raises(GitError):
        bench.plumbing.refs.apply(RefUpdate("refs/noface/a", "1" * 40))


def test_what_commits_add_and_delete_is_counted_from_mains_side(tmp_path):
    bench = a_bench(tmp_path)
    one = bench.merged({"one.txt": "a\nb\n", "image.bin": b"\0\1\2"})
    two = bench.merged({"one.txt": "a\n"}, base=one)
    side = bench.merged({"side.txt": "x\n" * 3})
    tree = bench.plumbing.git.ask("merge-tree", "--write-tree", two, side)
    merge = bench.plumbing.git.ask("commit-tree", "-p", two, "-p", side, "-m", "merge", tree)
    counts = line_counts(bench.plumbing, (one, two, merge, "0" * 40))
    assert counts == {one: (2, 0), two: (0, 1), merge: (3, 0)}
    assert line_counts(bench.plumbing, ()) == {}
