"""How issue files are read: names, front matter, headings, line ends, and the memory of what was parsed."""

import os
import textwrap
import time

import pytest

from noface.errors import UsageError
from noface.trackers.files import FilesTracker


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "issues").mkdir()
    return tmp_path / "issues"


def load(folder):
    return FilesTracker(folder.parent).backlog()


def only(folder):
    backlog = load(folder)
    assert backlog.faults == ()
    (issue,) = backlog.issues
    return issue


def age(path, seconds=100):
    then = time.time() - seconds
    os.utime(path, (then, then))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("7-login.md", "7"),
        ("007-login.md", "007"),
        ("7.md", "7"),
        ("login-page.md", "login-page"),
        ("v1.2.md", "v1.2"),
        ("7a-login.md", "7a-login"),
        ("12-.md", "12"),
    ],
)
def test_the_id_is_the_leading_number_as_written_else_the_stem(folder, name, expected):
    (folder / name).write_text("# T\n\nb\n")
    issue = only(folder)
    assert issue.id == expected
    assert issue.source == f"issues/{name}"


def test_only_markdown_files_of_the_folder_itself_are_issues(folder):
    for name in ("README.md", "readme.md", "_draft.md", ".hidden.md", "notes.txt", "1-a.md.orig", "1-b.md~"):
        (folder / name).write_text("not an issue")
    (folder / "deeper").mkdir()
    (folder / "deeper" / "2-x.md").write_text("# X\n")
    (folder / "1-a.md").write_text("# A\n\nb\n")
    assert only(folder).id == "1"


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("\n# Log in ##\n\nWhat is wanted.\n\n# More\n", "Log in", "What is wanted.\n\n# More"),
        ("Preamble.\n\n# C# and C#\n\nText\n", "C# and C#", "Preamble.\n\n# C# and C#\n\nText"),
    ],
)
def test_the_first_heading_is_the_title_and_leaves_the_body_it_begins(folder, text, title, body):
    (folder / "1-a.md").write_text(text)
    assert (only(folder).title, only(folder).body) == (title, body)


def test_a_comment_in_a_code_block_is_no_title(folder):
    code = "````sh\n# not this\n```\n# nor this\n````\n~~~\n# nor that\n~~~\n    # indented\n## second level\n#tag\n# Real\n"
    (folder / "1-a.md").write_text(code)
    assert only(folder).title == "Real"


def test_the_front_matter_title_wins_over_a_heading_which_stays_in_the_body(folder):
    (folder / "1-a.md").write_text('+++\ntitle = "  From TOML "\n+++\n# Heading\n')
    issue = only(folder)
    assert (issue.title, issue.body) == ("From TOML", "# Heading")


def test_all_keys_are_read_with_their_short_forms(folder):
    (folder / "1-a.md").write_text("# A\n\nb\n")
    (folder / "2-b.md").write_text(
        textwrap.dedent(
            """\
            +++
            title = 'B'
            depends_on = [1, "1"]
            paths = ["./src/**", "docs/*.md"]
            accept = "make check"
            labels = ["x", "x", " y "]
            model = "strong"
            tier = 2
            max_attempts = 3
            no_escalate = true
            +++
            b
            """
        )
    )
    issue = load(folder).issues[1]
    assert issue.depends_on == ("1",)
    assert issue.paths == ("src/**", "docs/*.md")
    assert issue.accept == ("make check",)
    assert issue.labels == ("x", "y")
    assert (issue.model, issue.tier, issue.max_attempts, issue.no_escalate) == ("strong", 2, 3, True)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf+++\r\ntitle = 'T'\r\n+++\r\n\r\nline one\r\nline two\r\n",
        b"+++  \rtitle = 'T'\r+++\t\r\rline one\rline two\r",
        b"\n\n+++\ntitle = 'T'\n+++\nline one\nline two",
        b"\xef\xbb\xbf# T\r\nline one\r\nline two",
    ],
)
def test_byte_order_marks_and_any_line_ends_are_accepted(folder, data):
    (folder / "1-a.md").write_bytes(data)
    issue = only(folder)
    assert (issue.title, issue.body) == ("T", "line one\nline two")


def test_a_body_of_one_mebibyte_is_allowed(folder):
    (folder / "1-a.md").write_text("+++\ntitle = 'T'\n+++\n" + "x" * 1_048_576 + "\n")
    assert len(only(folder).body) == 1_048_576


def test_a_missing_folder_is_an_empty_backlog_with_a_warning(tmp_path):
    tracker = FilesTracker(tmp_path)
    backlog = tracker.backlog()
    assert (backlog.issues, backlog.faults) == ((), ())
    assert "no folder issues" in backlog.warnings[0].problem
    mark = tracker.fingerprint()
    (tmp_path / "issues").mkdir()
    assert tracker.fingerprint() != mark
    assert tracker.backlog().warnings == ()


def test_a_file_in_the_folders_place_is_a_usage_error_and_has_a_fingerprint(tmp_path):
    (tmp_path / "issues").write_text("oops")
    tracker = FilesTracker(tmp_path)
    with pytest.raises(UsageError, match="cannot list issues"):
        tracker.backlog()
    assert tracker.fingerprint()


def test_unchanged_files_are_not_opened_again(folder):
    path = folder / "1-a.md"
    path.write_text("# Old\n\nb\n")
    age(path)
    tracker = FilesTracker(folder.parent)
    first = tracker.backlog()
    assert tracker.backlog() is first
    (folder / "2-b.md").write_text("# Other\n\nb\n")
    assert tracker.backlog().issues[0] is first.issues[0]
    # Same size, time and inode: only the time of the last change to any of them, which nobody can put back, tells.
    stamp = path.stat().st_mtime_ns
    with path.open("r+") as file:
        file.write("# New")
    os.utime(path, ns=(stamp, stamp))
    assert [issue.title for issue in tracker.backlog().issues] == ["New", "Other"]


def test_edits_that_the_clock_cannot_tell_apart_are_all_seen(folder):
    path = folder / "1-a.md"
    tracker = FilesTracker(folder.parent)
    stamp = time.time() + 3_600
    for title in ("aaa", "bbb", "ccc"):
        path.write_text(f"# {title}\n\nb\n")
        os.utime(path, (stamp, stamp))
        assert tracker.backlog().issues[0].title == title
