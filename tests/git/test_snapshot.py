"""What a snapshot holds, and what it leaves out (laws 2 and 11)."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support import TESTS
from support.git_ground import a_bench, listing, without_privilege, write

from noface.errors import GitError
from noface.git.refs import RefUpdate, hold_ref
from noface.git.snapshot import SlotLimits
from noface.git.workspace import checkout

ODD_NAMES = [
    "new\nline.txt",
    'quo"te.txt',
    "-leading-dash.txt",
    "--force",
    "back\\slash.txt",
    "spa ce.txt ",
    "tab\there.txt",
    "ünïcode-日本.txt",
    "star*[a-z]?.txt",
    ":(exclude)magic",
    "!bang",
    "#hash",
    os.fsdecode(b"not-utf8-\xff\xfe.txt"),
    "\x01control",
    "HEAD",
]


def statuses(snapshot):
    return {change.path: change.status for change in snapshot.changes}


def test_snapshot_is_a_commit_on_top_of_the_start_by_the_person(tmp_path):
    bench = a_bench(tmp_path)
    write(bench.begin(), {"a.txt": "changed\n"})
    taken = bench.take()
    shown = bench.plumbing.git.ask("show", "-s", "--format=%P|%an|%ae|%B", taken.snapshot.commit)
    assert shown.strip() == f"{bench.main}|Pat|pat@example.org|work"
    assert (taken.changed, taken.snapshot.candidate) == (True, taken.snapshot.commit)
    assert b"+changed" in taken.patch


def test_a_file_that_git_cannot_write_is_the_repositorys_failure_and_no_note(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    write(work, {f"new/{number}.txt": f"{number}\n" for number in range(12)})
    blob = bench.plumbing.git.ask("hash-object", str(work / "new/7.txt"))
    in_the_way = bench.repository.own_objects / blob[:2]  # a folder that git cannot make, as if the disk were full
    in_the_way.write_text("")
    with pytest.raises(GitError, match=r"unable to create|failed to insert|unable to write"):
        bench.take()
    in_the_way.unlink()
    assert {c.path for c in bench.take().snapshot.changes} == {f"new/{number}.txt" for number in range(12)}


def test_a_snapshot_has_each_file_with_the_size_and_kind_that_it_has_there(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    write(
        work, {"new/plain.txt": "x\n", "git~1": "a name of .git on Windows\n", "ignored.o": "o", ".gitignore": "*.o\n"}
    )
    write(work, {"a.txt": "", "src/b.txt": "longer than it was before\n"})
    (work / "run.sh").write_text("#!/bin/sh\n")
    (work / "run.sh").chmod(0o755)
    (work / "link").symlink_to("a.txt")
    (work / "dangling").symlink_to("nowhere")
    snapshot = bench.take().snapshot
    modes = {change.path: change.new_mode for change in snapshot.changes}
    assert modes.items() >= {"run.sh": "100755", "link": "120000", "dangling": "120000", "a.txt": "100644"}.items()
    assert bench.content(snapshot.tree, "src/b.txt") == b"longer than it was before\n"
    assert "ignored.o" not in modes
    assert snapshot.notes == ("git~1: git takes no file of this name: it was left out",)


def test_untouched_slot_is_no_change(tmp_path):
    bench = a_bench(tmp_path)
    bench.begin()
    taken = bench.take()
    assert (taken.changed, taken.patch_hash, taken.snapshot.changes) == (False, "", ())
    assert taken.snapshot.tree == bench.plumbing.tree(bench.main)


def test_odd_names_are_kept_and_come_back(tmp_path):
    bench = a_bench(tmp_path)
    odd = {path: f"{number}\n" for number, name in enumerate(ODD_NAMES) for path in (name, f"src/{name}")}
    write(bench.begin(), odd)
    snapshot = bench.take().snapshot
    assert statuses(snapshot) == dict.fromkeys(odd, "A")
    checkout(bench.slot, bench.main)
    assert not odd.keys() & listing(bench.work).keys()
    checkout(bench.slot, snapshot.candidate)
    assert {path: text.encode() for path, text in odd.items()}.items() <= listing(bench.work).items()


def test_every_kind_of_change_is_told(tmp_path):
    bench = a_bench(
        tmp_path, {"a.txt": "a\n", "gone.txt": "gone\n", "type.txt": "type\n", "run.sh": "run\n", "d/x": "x\n"}
    )
    work = bench.begin()
    write(work, {"a.txt": "a\nb\n", "new.bin": b"\0\1\2"})
    (work / "gone.txt").unlink()
    (work / "type.txt").unlink()
    (work / "type.txt").symlink_to("a.txt")
    (work / "run.sh").chmod(0o755)
    (work / "d/x").unlink()
    (work / "d").rmdir()
    write(work, {"d": "now a file\n"})
    snapshot = bench.take().snapshot
    assert statuses(snapshot) == {
        "a.txt": "M",
        "new.bin": "A",
        "gone.txt": "D",
        "type.txt": "T",
        "run.sh": "M",
        "d/x": "D",
        "d": "A",
    }
    by_path = {c.path: c for c in snapshot.changes}
    assert (by_path["a.txt"].added, by_path["a.txt"].deleted) == (1, 0)
    assert (by_path["new.bin"].added, by_path["new.bin"].deleted) == (None, None)
    assert (by_path["run.sh"].old_mode, by_path["run.sh"].new_mode) == ("100644", "100755")
    checkout(bench.slot, bench.main)
    checkout(bench.slot, snapshot.candidate)
    assert (work / "run.sh").stat().st_mode & stat.S_IXUSR
    assert (work / "type.txt").readlink().name == "a.txt"


def test_case_only_rename_is_a_rename(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    (work / "a.txt").rename(work / "A.txt")
    assert statuses(bench.take().snapshot) == {"a.txt": "D", "A.txt": "A"}


def test_change_that_keeps_size_and_time_is_seen(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    before = (work / "a.txt").stat()
    write(work, {"a.txt": "b\n"})
    os.utime(work / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert statuses(bench.take().snapshot) == {"a.txt": "M"}


def test_link_that_points_out_is_taken_as_a_link(tmp_path):
    bench = a_bench(tmp_path)
    (tmp_path / "outside").mkdir()
    write(tmp_path / "outside", {"secret.txt": "secret\n"})
    work = bench.begin()
    (work / "way-out").symlink_to(tmp_path / "outside")
    (work / "etc").symlink_to("/etc/passwd")
    snapshot = bench.take().snapshot
    assert statuses(snapshot) == {"way-out": "A", "etc": "A"}
    assert bench.content(snapshot.tree, "way-out") == os.fsencode(tmp_path / "outside")


@pytest.mark.parametrize("moved", [False, True])
def test_folder_replaced_by_a_link_to_outside_is_never_written_through(tmp_path, moved):
    bench = a_bench(tmp_path)
    work = bench.begin()
    outside = tmp_path / "outside"
    if moved:  # the very files git knows, with their times, in another place
        (work / "src").rename(outside)
    else:
        shutil.rmtree(work / "src")
        write(outside, {"b.txt": "theirs\n", "deep/c.txt": "theirs\n"})
    before = listing(outside)
    (work / "src").symlink_to(outside)
    snapshot = bench.take().snapshot
    assert statuses(snapshot) == {"src": "A", "src/b.txt": "D", "src/deep/c.txt": "D"}
    checkout(bench.slot, bench.main)
    assert listing(work) == {"a.txt": b"a\n", "src/b.txt": b"b\n", "src/deep/c.txt": b"c\n"}
    assert not (work / "src").is_symlink()
    shutil.rmtree(work / "src")
    (work / "src").symlink_to(outside)
    checkout(bench.slot, bench.merged({"src/b.txt": "next\n"}, remove=["src/deep/c.txt"]))
    assert listing(work) == {"a.txt": b"a\n", "src/b.txt": b"next\n"}
    assert listing(outside) == before


def test_oversized_files_are_left_out_and_named(tmp_path):
    bench = a_bench(tmp_path, {"a.txt": "a\n", "grows.bin": "small\n", ".gitignore": "*.log\n"})
    work = bench.begin()
    write(work, {"new.txt": "new\n"})
    for name in ("huge.bin", "grows.bin", "star*.bin", ".gitignore"):
        with (work / name).open("r+b" if name in {"grows.bin", ".gitignore"} else "wb") as file:
            file.truncate(3 * 1024**3)
    snapshot = bench.take().snapshot
    assert sorted(snapshot.oversized) == [".gitignore", "grows.bin", "huge.bin", "star*.bin"]
    assert statuses(snapshot) == {"new.txt": "A"}
    assert bench.content(snapshot.tree, "grows.bin") == b"small\n"


def test_only_oversized_files_that_the_worker_would_commit_count(tmp_path):
    files = {
        "a.txt": "a\n",
        "same.bin": "s" * 50,
        "touched.bin": "t" * 50,
        "edited.bin": "e" * 50,
        "gone.bin": "g" * 50,
    }
    bench = a_bench(tmp_path, files | {".gitignore": "build/\n"})
    work = bench.begin()
    os.utime(work / "touched.bin", (1, 1))
    (work / "gone.bin").unlink()
    write(work, {"edited.bin": "x" * 50, "new.bin": "n" * 50, "build/out.bin": "b" * 50, "a.txt": "b\n"})
    snapshot = bench.take(limits=SlotLimits(file_bytes_max=20, files_max=100)).snapshot
    assert sorted(snapshot.oversized) == ["edited.bin", "new.bin"]
    assert snapshot.notes == ()  # that git ignores what is left out anyway says nothing to a person
    assert statuses(snapshot) == {"a.txt": "M", "gone.bin": "D"}
    assert bench.files(snapshot.tree) == {*files, ".gitignore"} - {"gone.bin"}


def test_too_many_new_files_leave_the_changes_of_tracked_ones(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    write(work, {f"many/{number}": "x" for number in range(60)} | {"a.txt": "changed\n"})
    os.mkfifo(work / "zz-pipe")
    snapshot = bench.take(limits=SlotLimits(file_bytes_max=100, files_max=50)).snapshot
    assert statuses(snapshot) == {"a.txt": "M"}
    assert any("60 new files, more than 50" in note for note in snapshot.notes)


def test_ignored_files_do_not_count_as_too_many(tmp_path):
    bench = a_bench(tmp_path, {".gitignore": "build/\n", "a.txt": "a\n"})
    work = bench.begin()
    write(work, {f"build/{number}": "x" for number in range(60)} | {"new.txt": "new\n"})
    assert statuses(bench.take(limits=SlotLimits(file_bytes_max=100, files_max=50)).snapshot) == {"new.txt": "A"}


def test_tracked_file_that_is_ignored_stays_tracked(tmp_path):
    bench = a_bench(tmp_path, {".gitignore": "*.log\n", "kept.log": "log\n"})
    write(bench.begin(), {"kept.log": "changed\n", "other.log": "other\n"})
    assert statuses(bench.take().snapshot) == {"kept.log": "M"}
    (bench.slot.private_git_dir / "index").unlink()
    assert statuses(bench.take().snapshot) == {"kept.log": "M"}


def test_the_persons_own_ignore_rules_count(tmp_path):
    bench = a_bench(tmp_path)
    (tmp_path / "mine").write_text("*.swp\n*.orig\n")
    subprocess.run(["git", "-C", bench.path, "config", "core.excludesFile", tmp_path / "mine"], check=True)
    with (bench.path / ".git/info/exclude").open("a") as file:
        file.write("secret.env\n!wanted.orig\n")
    again = a_bench_on(bench)
    write(again.begin(), {"x.swp": "", "secret.env": "", "y.orig": "", "wanted.orig": "", "new.txt": ""})
    assert statuses(again.take().snapshot) == {"new.txt": "A", "wanted.orig": "A"}


def a_bench_on(bench):
    from noface.git.plumbing import Plumbing
    from noface.git.repository import discover

    bench.plumbing = Plumbing(discover(bench.path))
    return bench


def test_kept_paths_survive_cleaning_and_are_never_taken(tmp_path):
    bench = a_bench(tmp_path, keep=(".deps", "pack age/node_modules/", "odd*[x]"))
    work = bench.begin()
    kept = {".deps/lib/x.py": "x\n", "pack age/node_modules/m/index.js": "m\n", "odd*[x]/y": "y\n"}
    dropped = {"src/.deps/z": "z\n", "oddly[x]/q": "q\n", "oddx/q": "q\n", "pack age/other.txt": "o\n"}
    write(work, kept | dropped)
    snapshot = bench.take().snapshot
    assert set(statuses(snapshot)) == set(dropped)
    assert snapshot.notes == ()
    checkout(bench.slot, bench.main)
    assert listing(work).keys() == {"a.txt", "src/b.txt", "src/deep/c.txt", *kept}


MAP = ".aider.tags.cache.v4/cache.db"
CHAT, SQLITE = "\n# aider chat started at 2026-01-01 10:00:00\n\n", "SQLite format 3\0"


def test_agents_own_ignore_rules_bring_neither_kept_paths_nor_debris_into_a_snapshot(tmp_path):
    bench = a_bench(tmp_path, keep=(".venv",))
    evil = "!/.venv/\n!/.venv/**\n!.aider*\n!.aider*/**\n"
    debris = {
        ".aider.chat.history.md": CHAT,
        MAP: SQLITE,
        "src/.aider.input.history": "\n# 2026-01-01 10:00:00.1\n+x\n",
    }
    write(bench.begin(), {".gitignore": evil, ".venv/x": "x\n", **debris})
    assert statuses(bench.take().snapshot) == {".gitignore": "A"}


def test_what_aider_leaves_never_lands_and_its_settings_are_files_as_all_others(tmp_path):
    bench = a_bench(tmp_path)
    left = {".aider.chat.history.md": CHAT, f"src/{MAP}": SQLITE, f"{MAP}-wal": b"\x37\x7f\x06\x82"}
    write(bench.begin(), {**left, ".aiderignore": "dist\n", "src/.aider.conf.yml": "", "new.txt": "x"})
    assert statuses(bench.take().snapshot) == {"new.txt": "A", ".aiderignore": "A", "src/.aider.conf.yml": "A"}


def test_a_project_s_own_files_that_are_called_as_what_aider_leaves_are_taken(tmp_path):
    """Of a map's database that somebody has committed only the removal counts: each run of aider writes it anew."""
    history = ".aider.chat.history.md"
    bench = a_bench(tmp_path, {"a.txt": "a\n", history: "1\n", f"old/{history}": "1\n", MAP: "1\n"})
    work = bench.begin()
    write(work, {history: "2\n", MAP: "2\n"})
    (work / "old" / history).unlink()
    assert statuses(bench.take().snapshot) == {history: "M", f"old/{history}": "D"}
    work = bench.begin()
    (work / MAP).unlink()
    assert statuses(bench.take().snapshot) == {MAP: "D"}


def test_protected_files_are_put_back_whatever_was_done_to_them(tmp_path):
    files = {"conftest.py": "1\n", "ci/build.sh": "2\n", "ci/deep/x.yml": "3\n", "pytest.ini": "4\n", "tox.ini": "5\n"}
    bench = a_bench(tmp_path, {"a.txt": "a\n", **files})
    work = bench.begin()
    write(work, {"a.txt": "changed\n", "conftest.py": "changed\n"})
    (work / "pytest.ini").rename(work / "moved.ini")
    (work / "tox.ini").unlink()
    write(work, {"tox.ini/inner": "x\n"})
    for name in ("build.sh", "deep/x.yml"):
        (work / "ci" / name).unlink()
    (work / "ci" / "deep").rmdir()
    (work / "ci").rmdir()
    (work / "ci").symlink_to("/tmp")
    protected = ("conftest.py", "ci/**", "pytest.ini", "tox.ini")
    taken = bench.take(protected)
    snapshot = taken.snapshot
    assert bench.files(snapshot.tree) == {"a.txt", "ci", "conftest.py", "moved.ini", "tox.ini/inner"}
    assert bench.files(snapshot.candidate_tree) == {"a.txt", "moved.ini", *files}
    assert all(bench.content(snapshot.candidate_tree, path) == text.encode() for path, text in files.items())
    assert statuses(snapshot) == {"a.txt": "M", "moved.ini": "A"}
    assert set(snapshot.protected_edits) >= {"conftest.py", "pytest.ini", "tox.ini", "tox.ini/inner", "ci/build.sh"}
    parents = bench.plumbing.git.ask("rev-list", "--parents", "-1", snapshot.candidate).split()
    assert parents[1:] == [snapshot.commit]


def test_snapshot_on_an_earlier_attempt_tells_the_change_against_main(tmp_path):
    bench = a_bench(tmp_path)
    write(bench.begin(), {"a.txt": "one\n"})
    first = bench.take().snapshot.candidate
    work = bench.begin(first)
    again = bench.take(start=first)
    assert (again.changed, statuses(again.snapshot)) == (False, {"a.txt": "M"})
    write(work, {"new.txt": "two\n"})
    second = bench.take(start=first)
    assert (second.changed, statuses(second.snapshot)) == (True, {"a.txt": "M", "new.txt": "A"})


def test_crlf_attributes_do_not_change_what_was_not_touched(tmp_path):
    bench = a_bench(tmp_path, {".gitattributes": "*.txt text eol=crlf\n", "a.txt": "a\n"})
    work = bench.begin()
    assert (work / "a.txt").read_bytes() == b"a\r\n"
    assert not bench.take().changed


def test_paths_beyond_what_programs_can_open_are_told_and_cleaned(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    write(work, {"new.txt": "new\n"})
    here = Path.cwd()
    try:
        for _ in range(2):
            os.chdir(work)
            for _ in range(1200):
                Path("deep-down").mkdir()
                os.chdir("deep-down")
            os.mkfifo(".gitignore")
            os.chdir(here)
            snapshot = bench.take().snapshot
            assert statuses(snapshot) == {"new.txt": "A"}
            assert [note for note in snapshot.notes if "folders too deep" in note]
            subprocess.run(["rm", "-rf", work / "deep-down"], check=True)  # Python's own would open each folder
        os.chdir(work)
        for _ in range(1200):
            Path("deep-down").mkdir()
            os.chdir("deep-down")
        os.chdir(here)
        checkout(bench.slot, bench.main)
        assert {file.name for file in work.iterdir()} == {"a.txt", "src"}
    finally:  # pytest could not remove it
        subprocess.run(["rm", "-rf", work / "deep-down"], check=True)


WITHOUT_RIGHTS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from support.git_ground import a_bench, listing, write
from noface.git.workspace import checkout
folder = Path(sys.argv[1])
bench = a_bench(folder, {"a.txt": "a\\n", "src/b.txt": "b\\n", "src/deep/c.txt": "c\\n"})
work = bench.begin()
write(work, {"new/file.txt": "new\\n", "shut/inner/x": "x\\n", "blind/y": "y\\n", "nested/.git/HEAD": "x"})
(work / "a.txt").write_text("changed\\n")
for path, mode in {"a.txt": 0, "new/file.txt": 0, "new": 0o444, "shut/inner": 0, "shut": 0, "blind": 0o444,
                   "src": 0o555, "nested/.git": 0o555, ".git/HEAD": 0, ".git": 0}.items():
    (work / path).chmod(mode)
taken = bench.take()
print(sorted((c.path, c.status) for c in taken.snapshot.changes))
for path, mode in {"new/file.txt": 0, "new": 0, "shut/inner": 0, "shut": 0, "src/deep": 0, "src": 0o555}.items():
    (work / path).chmod(mode)
checkout(bench.slot, bench.main)
print(sorted(listing(work)))
"""


def test_permissions_taken_away_lose_no_work_and_are_mended(tmp_path):
    ended = subprocess.run(
        [*without_privilege(), sys.executable, "-c", WITHOUT_RIGHTS, str(tmp_path), str(TESTS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    taken, files = ended.stdout.splitlines()
    assert taken == str([("a.txt", "M"), ("blind/y", "A"), ("new/file.txt", "A"), ("shut/inner/x", "A")])
    assert files == str(["a.txt", "src/b.txt", "src/deep/c.txt"])


@pytest.mark.parametrize("how", ["gone", "file", "link to a folder", "dangling link", "fifo"])
def test_slot_folder_that_is_no_folder_any_more_is_an_empty_one_and_its_target_left_alone(tmp_path, how):
    bench = a_bench(tmp_path)
    work = bench.begin()
    work.rename(tmp_path / "elsewhere")
    write(tmp_path / "elsewhere", {"nested/.git/HEAD": "theirs\n"})
    os.mkfifo(tmp_path / "elsewhere" / "pipe")
    before = listing(tmp_path / "elsewhere").keys() | {".git"}
    match how:
        case "file":
            work.write_text("x")
        case "link to a folder":
            work.symlink_to(tmp_path / "elsewhere")
        case "dangling link":
            work.symlink_to(tmp_path / "nowhere")
        case "fifo":
            os.mkfifo(work)
    snapshot = bench.take().snapshot
    linked = how == "link to a folder"  # somebody put another in its place; what went away was deleted by nobody
    assert bench.files(snapshot.tree) == (set() if linked else {"a.txt", "src/b.txt", "src/deep/c.txt"})
    assert "the workspace folder itself was removed or replaced" in snapshot.notes
    checkout(bench.slot, bench.main)
    assert listing(work).keys() == {"a.txt", "src/b.txt", "src/deep/c.txt"}
    assert listing(tmp_path / "elsewhere").keys() | {".git"} == before


def test_gc_that_prunes_everything_loses_nothing_that_refs_hold(tmp_path):
    bench = a_bench(tmp_path)
    work = bench.begin()
    write(work, {"a.txt": "changed\n", "new.txt": "new\n"})
    snapshot = bench.take(("a.txt",)).snapshot
    bench.plumbing.refs.apply(RefUpdate(hold_ref("7", "1"), snapshot.candidate))
    subprocess.run(["git", "-C", bench.path, "gc", "-q", "--prune=now"], check=True)
    assert bench.content(snapshot.commit, "a.txt") == b"changed\n"
    write(work, {"second.txt": "second\n"})
    again = bench.take(("a.txt",)).snapshot
    assert statuses(again) == {"new.txt": "A", "second.txt": "A"}
    checkout(bench.slot, again.candidate)
    assert subprocess.run(["git", "-C", bench.path, "fsck", "--strict"], check=False).returncode == 0
