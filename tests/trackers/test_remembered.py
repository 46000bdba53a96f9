"""A large folder of issues is parsed once; what is kept of it never hides an edit."""

import json
import os

import pytest

from noface.trackers.files import FilesTracker
from noface.trackers.remembered import NEW_MAX

MANY = NEW_MAX + 20


@pytest.fixture
def folder(tmp_path):
    issues = tmp_path / "issues"
    issues.mkdir()
    for number in range(1, MANY + 1):
        path = issues / f"{number}-x.md"
        path.write_text(f'+++\ntitle = "Issue {number}"\nlabels = ["a"]\n+++\n\nDo {number:03}.\n')
        os.utime(path, (1000, 1000))
    (tmp_path / "state").mkdir()
    return tmp_path


def tracker(folder):
    return FilesTracker(folder, "issues", folder / "state" / "issues.json")


def test_what_is_read_back_is_what_was_parsed(folder):
    first, again = tracker(folder).backlog(), tracker(folder).backlog()
    assert (folder / "state" / "issues.json").exists()
    assert again == first == FilesTracker(folder).backlog()
    assert len(again.issues) == MANY


def test_it_is_what_was_kept_that_is_read(folder):
    tracker(folder).backlog()
    path = folder / "state" / "issues.json"
    path.write_text(path.read_text().replace("Do 001.", "Do what was kept."))
    assert tracker(folder).backlog().issues[0].body == "Do what was kept."


@pytest.mark.parametrize("how", ["in place", "with its old times", "moved over", "removed", "renamed"])
def test_an_edit_is_seen(folder, how):
    tracker(folder).backlog()
    path = folder / "issues" / "7-x.md"
    text = path.read_text().replace("Do 007", "Be 007")
    match how:
        case "in place":
            path.write_text(text)
        case "with its old times":
            path.write_text(text)
            os.utime(path, (1000, 1000))
        case "moved over":
            other = folder / "other"
            other.write_text(text)
            os.utime(other, (1000, 1000))
            other.rename(path)
        case "removed":
            path.unlink()
        case _:
            path.rename(path.with_name("007-y.md"))
    assert tracker(folder).backlog() == FilesTracker(folder).backlog()


@pytest.mark.parametrize("kept", ["", "[]", "{}", "{", '{"by": ["another"], "folder": "issues", "files": []}'])
def test_a_record_of_another_noface_or_none_is_not_used(folder, kept):
    (folder / "state" / "issues.json").write_text(kept)
    assert tracker(folder).backlog() == FilesTracker(folder).backlog()


def test_an_issue_with_a_secret_is_not_kept(folder, monkeypatch):
    monkeypatch.setenv("DEPLOY_TOKEN", "correct-horse-battery-staple-42")
    path = folder / "issues" / "7-x.md"
    path.write_text(path.read_text() + "correct-horse-battery-staple-42\n")
    os.utime(path, (1000, 1000))
    whole = tracker(folder).backlog()
    text = (folder / "state" / "issues.json").read_text()
    assert "battery" not in text
    assert len(json.loads(text)["files"]) == MANY - 1
    assert tracker(folder).backlog() == whole


def test_before_there_is_a_state_nothing_is_written(folder):
    (folder / "state").rmdir()
    tracker(folder).backlog()
    assert sorted(path.name for path in folder.iterdir()) == ["issues"]
