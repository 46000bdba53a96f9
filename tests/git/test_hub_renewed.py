"""A private git dir that an agent could write: what it put there is gone before noface's git looks (law 4)."""

import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.git_ground import Canary, a_bench, git, write

from noface.git.filtered import filtered
from noface.git.private_git_dir import config_text, make_private_git_dir


def a_filter(canary, hub, _elsewhere):
    canary.set_everywhere(hub)


def hooks(canary, hub, _elsewhere):
    canary.hooks(hub)
    (hub / "hooks/post-index-change").unlink()
    (hub / "hooks/post-index-change").symlink_to(canary.program)


def a_second_configuration(canary, hub, _elsewhere):
    with (hub / "config").open("a") as file:
        file.write("[extensions]\n\tworktreeConfig = true\n")
    (hub / "config.worktree").write_text(f'[filter "evil"]\n\tclean = {canary.program}\n')
    (hub / "info/attributes").write_text("* filter=evil\n")


def a_link_to_a_configuration(canary, hub, elsewhere):
    file = elsewhere / "config"
    shutil.copy(hub / "config", file)
    (hub / "config").unlink()
    (hub / "config").symlink_to(file)


def a_second_name_of_the_configuration(canary, hub, elsewhere):
    os.link(hub / "config", elsewhere / "config")


def a_common_dir(canary, hub, elsewhere):
    git(elsewhere, "init", "-q", "evil")
    canary.set_everywhere(elsewhere / "evil/.git")
    (hub / "commondir").write_text(f"{elsewhere / 'evil/.git'}\n")


def fifos(canary, hub, _elsewhere):
    for name in ("config", "HEAD", "index", "shallow", "info/attributes", "info/exclude", "packed-refs"):
        (hub / name).unlink(missing_ok=True)
        os.mkfifo(hub / name)


def links(canary, hub, elsewhere):
    for name in ("index", "shallow", "HEAD", "guard", "info/exclude"):
        (hub / name).unlink(missing_ok=True)
        (hub / name).symlink_to(elsewhere / "precious")


def folders(canary, hub, _elsewhere):
    for name in ("config", "HEAD", "index", "info/attributes", "guard"):
        (hub / name).unlink(missing_ok=True)
        (hub / name).mkdir()
    shutil.rmtree(hub / "refs")
    (hub / "refs").write_text("")


def grafts_and_refs(canary, hub, _elsewhere):
    (hub / "info/grafts").write_text("0" * 40 + "\n")
    (hub / "refs/heads").mkdir()
    (hub / "refs/heads/main").write_text("0" * 40 + "\n")
    (hub / "packed-refs").write_text("garbage\n")
    (hub / "objects/info").mkdir(parents=True)
    (hub / "objects/info/alternates").write_text("/nonexistent\n")


def a_link_in_its_place(canary, hub, elsewhere):
    shutil.rmtree(hub)
    hub.symlink_to(elsewhere / "person")


def a_link_above_it(canary, hub, elsewhere):
    shutil.rmtree(hub.parent)
    (elsewhere / "person" / hub.name).mkdir()
    hub.parent.symlink_to(elsewhere / "person")


@pytest.mark.parametrize(
    "attack",
    [
        a_filter,
        hooks,
        a_second_configuration,
        a_link_to_a_configuration,
        a_second_name_of_the_configuration,
        a_common_dir,
        fifos,
        links,
        folders,
        grafts_and_refs,
        a_link_in_its_place,
        a_link_above_it,
    ],
)
@pytest.mark.timeout(60)
def test_what_an_agent_put_into_a_private_git_dir_is_gone_before_git_reads_it(tmp_path, attack):
    canary = Canary(tmp_path)
    bench = a_bench(tmp_path / "b", {"a.txt": "a\n", "b.txt": "b\n"})
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "person").mkdir(parents=True)
    (elsewhere / "precious").write_text("precious\n")
    slot = bench.slot
    work = bench.begin()
    write(work, {"a.txt": "changed\n", "new.txt": "new\n"})
    attack(canary, slot.private_git_dir, elsewhere)
    snapshot = bench.take_from(slot).snapshot
    assert {change.path: change.status for change in snapshot.changes} == {"a.txt": "M", "new.txt": "A"}
    assert not canary.sang
    assert (elsewhere / "precious").read_text() == "precious\n"
    assert [path.name for path in (elsewhere / "person").rglob("*") if path.is_file()] == []
    assert (slot.private_git_dir / "config").read_text() == config_text(bench.repository)
    assert (slot.private_git_dir / "config").stat().st_nlink == 1
    left = {path.name for path in slot.private_git_dir.iterdir()}
    assert left <= {"HEAD", "config", "index", "info", "refs", "guard"}


def test_many_threads_make_the_same_git_dir_merge_and_ask_at_once(tmp_path):
    bench = a_bench(tmp_path, {"a.txt": "a\n"})
    theirs = bench.merged({"b.txt": "b\n"})
    shutil.rmtree(bench.repository.private_git_dirs, ignore_errors=True)
    together = threading.Barrier(8)

    def work(_):
        together.wait()
        hub = make_private_git_dir(bench.repository, bench.repository.private_git_dirs / "setup-000")
        tree = bench.plumbing.merge(bench.main, theirs).tree
        assert [*filtered(bench.plumbing, theirs)] == []
        return tree, (hub / "config").read_text()

    with ThreadPoolExecutor(8) as pool:
        for _ in range(10):
            results = set(pool.map(work, range(8)))
            shutil.rmtree(bench.repository.private_git_dirs)
    assert len(results) == 1
    assert bench.files(results.pop()[0]) == {"a.txt", "b.txt"}


def test_what_another_thread_is_about_to_put_in_place_stays(tmp_path):
    bench = a_bench(tmp_path / "b", {"a.txt": "a\n"})
    hub = make_private_git_dir(bench.repository, bench.repository.state_dir / "hubs/merge")
    passing = [hub / "info" / ".attributes.0123456789abcdef.tmp", hub / ".HEAD.0123456789abcdef.tmp"]
    for path in passing:
        path.write_text("")
    make_private_git_dir(bench.repository, hub)
    assert all(path.exists() for path in passing)
