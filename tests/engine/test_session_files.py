"""A session's files move with the attempt: ordinary ones, as many as there is room for, and nothing else."""

import os

from noface.attempt.worker.agent_run import SESSION_BYTES_MAX, SESSION_FILES_MAX, carry_files


def test_ordinary_files_are_copied_with_their_times_and_links_and_pipes_stay_behind(tmp_path):
    source, target = tmp_path / "1", tmp_path / "2"
    inner = source / "home" / ".claude" / "projects"
    inner.mkdir(parents=True)
    (inner / "a.jsonl").write_text("said\n")
    os.utime(inner / "a.jsonl", (1_000_000, 1_000_000))
    (tmp_path / "secret").write_text("not for anybody\n")
    (inner / "link.jsonl").symlink_to(tmp_path / "secret")
    (inner / "up").symlink_to(tmp_path)
    os.mkfifo(inner / "pipe")
    target.mkdir()
    assert carry_files(source, target)
    copied = sorted(str(path.relative_to(target)) for path in target.rglob("*") if not path.is_dir())
    assert copied == ["home/.claude/projects/a.jsonl"]
    assert (target / copied[0]).read_text() == "said\n"
    assert (target / copied[0]).stat().st_mtime == 1_000_000


def test_a_session_without_files_of_its_own_is_somewhere_else(tmp_path):
    assert carry_files(tmp_path / "not there", tmp_path)


def test_what_is_too_large_or_too_many_is_not_copied_at_all(tmp_path):
    source, target = tmp_path / "1", tmp_path / "2"
    source.mkdir()
    target.mkdir()
    with (source / "large").open("wb") as file:
        file.truncate(SESSION_BYTES_MAX + 1)
    assert not carry_files(source, target)
    (source / "large").unlink()
    for number in range(SESSION_FILES_MAX + 1):
        os.mknod(source / str(number))
    assert not carry_files(source, target)
    assert list(target.iterdir()) == []
