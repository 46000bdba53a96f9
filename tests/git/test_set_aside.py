"""What a snapshot leaves out and does not lose: rubbish, and what git ignores of what a worker wrote."""

import time

from support.git_ground import a_bench, git, write

from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.git.snapshot import SlotLimits
from noface.git.workspace import checkout
from noface.integrity.rubbish import RubbishRules

PYC = b"\xcb\r\r\n\0\0\0\0"
CORE = b"\x7fELF\2\1\1" + bytes(9) + b"\4\0"
RUBBISH = {
    "src/__pycache__/b.pyc": PYC,
    "core.4711": CORE,
    "src/add.o": b"\x7fELF\2\1\1" + bytes(9) + b"\1\0",
    "node_modules/dep/index.js": "x\n",
    "node_modules/.package-lock.json": "{}\n",
    "env9/pyvenv.cfg": "x\n",
    "env9/bin/tool": "x\n",
    ".pytest_cache/CACHEDIR.TAG": "x\n",
    ".pytest_cache/v/cache/lastfailed": "{}\n",
    ".coverage": b"SQLite format 3\0",
    "src/.b.txt.swp": b"b0VIM 9.0",
    ".DS_Store": b"\0\0\0\1Bud1",
    ".aider.chat.history.md": "\n# aider chat started at 2026-01-01 10:00:00\n",
    "made/report.html": "x\n",
}
CALLED_SO = {
    "dist/app.js": "x\n",
    "npm-debug.log": "x\n",
    "src/b.txt.orig": "x\n",
    "cube.obj": "v 0 0 0\n",
    "core.1": "x\n",
}
MAIN = {"a.txt": "a\n", "src/b.txt": "b\n", "package-lock.json": "{}\n"}

MADE = SlotLimits(1_000_000, 100, RubbishRules(made=frozenset(("made",))))


def changed(taken):
    return {change.path for change in taken.snapshot.changes}


def ignored_of(taken):
    return {one.path: one.why for one in taken.snapshot.not_taken if one.ignored}


def test_rubbish_is_no_part_of_the_change_nor_of_its_history_and_can_be_had_back(tmp_path):
    bench = a_bench(tmp_path, MAIN)
    write(bench.begin(), {**RUBBISH, "src/new.py": "x = 1\n"})
    taken = bench.take(limits=MADE)
    assert changed(taken) == {"src/new.py"}
    assert bench.plumbing.resolve(f"{taken.snapshot.candidate}^") == bench.main
    assert bench.plumbing.git.ask("ls-tree", "-r", "--name-only", taken.snapshot.candidate, "env9", "core.4711") == ""
    assert bench.plumbing.git.ask("show", f"{taken.snapshot.aside}:env9/bin/tool") == "x"
    told = {one.path: one.why for one in taken.snapshot.not_taken if not one.known}
    assert told.keys() == {"core.4711", "src/add.o", "node_modules/dep/index.js", "node_modules/.package-lock.json", "env9/pyvenv.cfg", "env9/bin/tool", ".coverage"}  # fmt: skip
    assert told["env9/bin/tool"] == "in a folder that a program fills"
    assert "not taken: made/report.html: made by setup or a gate" in taken.snapshot.notes
    assert "src/__pycache__/b.pyc" not in {one.path for one in taken.snapshot.not_taken}  # a program makes it anew


def test_what_is_only_called_like_rubbish_is_part_of_the_change_and_told(tmp_path):
    bench = a_bench(tmp_path, MAIN)
    write(bench.begin(), CALLED_SO)
    taken = bench.take()
    assert changed(taken) == CALLED_SO.keys()
    assert {one.path for one in taken.snapshot.suspects} == CALLED_SO.keys()
    assert (taken.snapshot.not_taken, taken.snapshot.aside) == ((), None)


def test_what_only_programs_make_anew_is_held_by_nothing(tmp_path):
    bench = a_bench(tmp_path, MAIN)
    write(bench.begin(), {"src/__pycache__/b.pyc": PYC})
    assert (bench.take().snapshot.aside, bench.take().snapshot.not_taken) == (None, ())


def test_what_main_tracks_and_what_an_attempt_began_with_is_no_rubbish(tmp_path):
    bench = a_bench(tmp_path, {**MAIN, "dist/old.js": "old\n"})
    write(bench.begin(), {"dist/old.js": "new\n", "dist/more.js": "x\n", "core.5": CORE})
    taken = bench.take()
    assert (changed(taken), taken.snapshot.suspects) == ({"dist/old.js", "dist/more.js"}, ())
    (bench.path / "kept.o").write_bytes(RUBBISH["src/add.o"])
    git(bench.path, "checkout", "-q", "-b", "theirs")
    git(bench.path, "add", "-A")
    git(bench.path, "-c", "user.name=P", "-c", "user.email=p@x", "commit", "-qm", "theirs")
    theirs = git(bench.path, "rev-parse", "HEAD")
    git(bench.path, "checkout", "-q", "-")
    write(bench.begin(theirs), {"new.txt": "x\n"})
    assert changed(bench.take(start=theirs)) == {"kept.o", "new.txt"}


def test_a_rule_that_unignores_a_file_says_that_it_is_wanted(tmp_path):
    bench = a_bench(tmp_path, {**MAIN, ".gitignore": "*.log\n!keep.log\n!keep.o\n"})
    write(bench.begin(), {"keep.log": "x\n", "other.log": "x\n", "keep.o": RUBBISH["src/add.o"]})
    taken = bench.take()
    assert (changed(taken), taken.snapshot.suspects) == ({"keep.log", "keep.o"}, ())


def test_a_core_dump_above_the_limit_is_rubbish_and_no_failure(tmp_path):
    bench = a_bench(tmp_path, MAIN)
    write(bench.begin(), {"core.99": CORE + b"\0" * 2_000_000, "data.bin": b"\0" * 2_000_000})
    snapshot = bench.take().snapshot
    assert snapshot.oversized == ("data.bin",)
    assert "not taken: core.99: a core dump" in snapshot.notes


def test_what_noface_toml_says_of_files_decides(tmp_path):
    bench = a_bench(tmp_path, MAIN)
    write(bench.begin(), {"a.o": RUBBISH["src/add.o"]})
    limits = SlotLimits(1_000_000, 100, RubbishRules(("**/*.o",)))
    assert changed(bench.take(limits=limits)) == {"a.o"}


# What git ignores


def test_sources_that_git_ignores_are_told_with_the_line_that_ignores_them_and_kept(tmp_path):
    bench = a_bench(tmp_path, {**MAIN, ".gitignore": "*.tmp\nbuild/\n"})
    work = bench.begin()
    write(work, {"lib/build/only.py": "x\n", "src/build/loader.py": "x = 1\n", "src/build/deep/a.html": "x\n", "gen/.gitignore": "*\n", "gen/b.go": "x\n"})  # fmt: skip
    taken = bench.take()
    assert ignored_of(taken) == {
        "src/build/loader.py": "ignored by .gitignore:2 (build/)",
        "src/build/deep/a.html": "ignored by .gitignore:2 (build/)",
        "gen/b.go": "ignored by gen/.gitignore:1 (*)",
        "lib/build/only.py": "ignored by .gitignore:2 (build/)",
    }
    assert len(taken.snapshot.not_taken) == 4
    assert taken.changed is False
    assert bench.plumbing.git.ask("show", f"{taken.snapshot.aside}:src/build/loader.py") == "x = 1"
    checkout(bench.slot, bench.main)
    assert not (work / "src/build").exists()


def test_the_excludes_of_the_machine_are_told_as_such_and_those_of_the_agents_own_git_ignore_nothing(tmp_path):
    bench = a_bench(tmp_path, MAIN)
    with (bench.path / ".git/info/exclude").open("a") as file:
        file.write("local/\n")
    bench.plumbing = Plumbing(discover(bench.path))
    work = bench.begin()
    with (work / ".git/info/exclude").open("a") as file:
        file.write("mine/\n")
    write(work, {"local/a.py": "x\n", "mine/b.py": "x\n"})
    taken = bench.take()
    assert changed(taken) == {"mine/b.py"}
    assert ignored_of(taken) == {"local/a.py": "ignored by the excludes of git on this machine (local/)"}


def test_nothing_is_told_of_dependencies_secrets_output_links_and_what_was_there_before_the_worker(tmp_path):
    bench = a_bench(tmp_path, {**MAIN, ".gitignore": "/*/\n.env\n!src/\n"}, keep=("deps",))
    work = bench.begin()
    write(work, {"setup/made.py": "x\n"})
    began = (work / "setup/made.py").stat().st_ctime + 0.001
    time.sleep(0.01)
    write(
        work,
        {"node_modules/d/i.js": "x\n", ".env": "KEY=1\n", "dist/a.js": "x\n", "deps/a.py": "x\n", "own/a.py": "x\n"},
    )
    (work / "own/b.py").symlink_to("/etc/hosts")
    assert ignored_of(bench.take(since=began)).keys() == {"own/a.py"}
