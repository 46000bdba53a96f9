"""Adding issue files: names, content, what is never touched, and two at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from noface.errors import NofaceError
from noface.model.issue import Issue
from noface.trackers.files import FilesTracker


def names(root):
    return sorted(path.name for path in (root / "issues").iterdir())


def test_the_folder_is_made_and_the_file_holds_only_what_differs_from_the_defaults(tmp_path):
    issue = FilesTracker(tmp_path).add(Issue("", title='Say "hi"', body="Do it.\r\nSoon.\n\n", priority=1))
    assert issue.source == "issues/001-say-hi.md"
    assert names(tmp_path) == ["001-say-hi.md"]
    text = (tmp_path / issue.source).read_bytes().decode()
    assert text == '+++\ntitle = "Say \\"hi\\""\npriority = 1\n+++\n\nDo it.\nSoon.\n'


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Fix the Login page!", "001-fix-the-login-page.md"),
        ("Größe ändern", "001-groe-andern.md"),
        ("ログイン", "001-issue.md"),
        ("../../etc/passwd", "001-etc-passwd.md"),
        ("-rf .", "001-rf.md"),
        ("x" * 300, f"001-{'x' * 48}.md"),
    ],
)
def test_the_slug_is_plain_whatever_the_title(tmp_path, title, name):
    FilesTracker(tmp_path).add(Issue("", title=title))
    assert names(tmp_path) == [name]


def test_no_existing_file_is_changed_and_broken_ones_do_not_hinder(tmp_path):
    folder = tmp_path / "issues"
    folder.mkdir()
    (folder / "008-broken.md").write_bytes(b"\xff")
    (folder / "_020-aside.md").write_text("set aside")
    (folder / "README.md").write_text("read me")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    issue = FilesTracker(tmp_path).add(Issue("", title="New", depends_on=("8",)))
    assert (issue.id, issue.depends_on) == ("021", ("008",))
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before
    assert len(names(tmp_path)) == 4


def test_a_place_that_cannot_be_written_is_an_error_of_noface_with_a_hint():
    with pytest.raises(NofaceError) as caught:
        FilesTracker(Path("/proc"), "issues").add(Issue("", title="t"))
    assert "cannot add an issue to /proc/issues" in caught.value.message
    assert caught.value.hint


def test_processes_that_add_at_once_get_different_numbers_and_leave_nothing_else(tmp_path):
    program = (
        "import sys, pathlib\n"
        "from noface.model.issue import Issue\n"
        "from noface.trackers.files import FilesTracker\n"
        "tracker = FilesTracker(pathlib.Path(sys.argv[1]))\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
        "for at in range(10):\n"
        "    tracker.add(Issue('', title=f'{sys.argv[2]} {at}', body='b'))\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path), who],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in ("a", "b", "c")
    ]
    for child in running:
        assert child.stdout.readline() == "ready\n"
    for child in running:
        child.stdin.close()
    for child in running:
        assert child.wait(60) == 0
        child.stdout.close()
    backlog = FilesTracker(tmp_path).backlog()
    assert backlog.faults == ()
    assert [issue.id for issue in backlog.issues] == [f"{at:03}" for at in range(1, 31)]
    assert len(names(tmp_path)) == 30


def test_an_added_file_has_the_permissions_of_any_new_file(tmp_path):
    issue = FilesTracker(tmp_path).add(Issue("", title="t"))
    (tmp_path / "other").write_text("")
    assert (tmp_path / issue.source).stat().st_mode == (tmp_path / "other").stat().st_mode
    assert (tmp_path / issue.source).stat().st_nlink == 1
