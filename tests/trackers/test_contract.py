"""What every tracker promises, told once and asked of each of them."""

import json
import re
from dataclasses import replace
from pkgutil import resolve_name

import pytest
import tomli_w
from support import ROOT

from noface.config.load import parse
from noface.data.trackers import TRACKERS, tracker_settings
from noface.errors import UsageError
from noface.extras.beads.tracker import BeadsTracker
from noface.model.issue import Issue
from noface.trackers.base import open_tracker
from noface.trackers.files import FilesTracker
from noface.trackers.github.copy import Copy, save_copy, text_of
from noface.trackers.github.issue import RemoteIssue
from noface.trackers.github.tracker import GithubTracker

PACKAGE = ROOT / "noface"


class FilesBench:
    """A folder of issue files, written as a person would."""

    def __init__(self, root):
        self.folder = root / "issues"
        self.folder.mkdir()
        self.tracker = FilesTracker(root)

    def put(self, issue):
        values = {"title": issue.title, "priority": issue.priority, "depends_on": list(issue.depends_on)}
        values |= {"labels": list(issue.labels), "paths": list(issue.paths), "accept": list(issue.accept)}
        values |= {"no_escalate": issue.no_escalate}
        if issue.max_attempts is not None:
            values["max_attempts"] = issue.max_attempts
        if issue.model is not None:
            values["model"] = issue.model
        if issue.tier is not None:
            values["tier"] = issue.tier
        (self.folder / f"{issue.id}.md").write_text(f"+++\n{tomli_w.dumps(values)}+++\n\n{issue.body}\n")

    def remove(self, issue_id):
        (self.folder / f"{issue_id}.md").unlink()


class BeadsBench:
    """A beads folder, written as bd would; what beads has no field for stands in front matter."""

    def __init__(self, root):
        self.file = root / ".beads/issues.jsonl"
        self.file.parent.mkdir()
        self.lines = {}
        self.tracker = BeadsTracker(root)

    def put(self, issue):
        names = ("paths", "accept", "model", "tier", "max_attempts", "no_escalate")
        values = {name: getattr(issue, name) for name in names if getattr(issue, name) not in ((), None, False)}
        front = f"+++\n{tomli_w.dumps(values)}+++\n" if values else ""
        links = [{"issue_id": issue.id, "depends_on_id": name, "type": "blocks"} for name in issue.depends_on]
        line = {"id": issue.id, "title": issue.title, "description": front + issue.body, "status": "open"}
        self.lines[issue.id] = line | {"priority": issue.priority, "labels": list(issue.labels), "dependencies": links}
        self.write()

    def remove(self, issue_id):
        del self.lines[issue_id]
        self.write()

    def write(self):
        self.file.write_text("".join(json.dumps(line) + "\n" for line in self.lines.values()))


class GithubBench:
    """A copy of issues on GitHub, as a refresh leaves it. Their ids are numbers."""

    def __init__(self, root):
        self.folder = root / "state"
        self.copy = Copy(("api", "acme/shop", ""), writers={"ann": True})
        settings = tracker_settings({"tracker": {"kind": "github", "label": ""}, "gates": [{"command": "pytest -q"}]})
        self.tracker = GithubTracker(settings, self.folder, lambda: None)
        save_copy(self.folder, text_of(self.copy))

    def put(self, issue):
        names = ("priority", "depends_on", "paths", "accept", "model", "tier", "max_attempts", "no_escalate")
        values = {name: getattr(issue, name) for name in names if getattr(issue, name) not in ((), None)}
        body = f"{issue.body}\n```toml noface\n{tomli_w.dumps(values)}```\n"
        url = f"https://github.com/acme/shop/issues/{issue.id}"
        remote = RemoteIssue(int(issue.id), issue.title, body, labels=issue.labels, author="ann", url=url)
        self.copy.issues[remote.number] = remote
        save_copy(self.folder, text_of(self.copy))

    def remove(self, issue_id):
        del self.copy.issues[int(issue_id)]
        save_copy(self.folder, text_of(self.copy))


@pytest.fixture(params=[FilesBench, BeadsBench, GithubBench])
def bench(request, tmp_path):
    return request.param(tmp_path)


@pytest.fixture(params=[FilesBench, BeadsBench])
def naming(request, tmp_path):
    return request.param(tmp_path)


@pytest.fixture(params=[FilesBench])
def adding(request, tmp_path):
    return request.param(tmp_path)


FULL = Issue(
    id="3",
    title="Log in with a passkey",
    body="What is wanted.",
    priority=0,
    labels=("auth", "frontend"),
    depends_on=("1",),
    paths=("src/**", "tests/test_login.py"),
    accept=("pytest tests/test_login.py",),
    model="strong",
    tier=2,
    max_attempts=4,
    no_escalate=True,
)


def ids(backlog):
    return [issue.id for issue in backlog.issues]


def test_an_issue_comes_back_with_every_field(bench):
    bench.put(Issue(id="1", title="First", body="b"))
    bench.put(FULL)
    found = bench.tracker.backlog().issues[1]
    assert replace(found, source="", content_hash="") == FULL
    assert found.source
    assert found.content_hash


def test_issues_come_in_a_stable_order(naming):
    for name in ("zeta", "10", "9", "alpha"):
        naming.put(Issue(id=name, title="t", body="b"))
    assert ids(naming.tracker.backlog()) == ["9", "10", "alpha", "zeta"]
    assert naming.tracker.backlog() == naming.tracker.backlog()


def test_the_fingerprint_stays_while_nothing_changes(bench):
    bench.put(FULL)
    before = bench.tracker.fingerprint()
    bench.tracker.backlog()
    assert bench.tracker.fingerprint() == before


def test_the_fingerprint_and_the_backlog_follow_an_edit(bench):
    bench.put(Issue(id="1", title="Old", body="b"))
    mark, old = bench.tracker.fingerprint(), bench.tracker.backlog().issues[0]
    bench.put(Issue(id="1", title="Newer", body="b"))
    new = bench.tracker.backlog().issues[0]
    assert bench.tracker.fingerprint() != mark
    assert new.title == "Newer"
    assert new.content_hash != old.content_hash


def test_the_fingerprint_and_the_backlog_follow_a_new_and_a_removed_issue(bench):
    marks = [bench.tracker.fingerprint()]
    bench.put(Issue(id="1", title="t", body="b"))
    marks.append(bench.tracker.fingerprint())
    assert ids(bench.tracker.backlog()) == ["1"]
    bench.put(Issue(id="2", title="t", body="b"))
    bench.remove("1")
    marks.append(bench.tracker.fingerprint())
    assert ids(bench.tracker.backlog()) == ["2"]
    assert len(set(marks)) == 3


def test_an_empty_body_is_allowed_with_a_warning(bench):
    bench.put(Issue(id="1", title="t"))
    backlog = bench.tracker.backlog()
    assert ids(backlog) == ["1"]
    assert [(warning.id, warning.problem) for warning in backlog.warnings] == [("1", "the body is empty")]


def test_faulty_issues_stand_beside_the_sound_ones(naming):
    for issue in (
        Issue(id="1", title="t", body="b", depends_on=("nowhere",)),
        Issue(id="2", title="t", body="b", depends_on=("3",)),
        Issue(id="3", title="t", body="b", depends_on=("2",)),
        Issue(id="4", title="t", body="b", depends_on=("4",)),
        Issue(id="5", title="t", body="b"),
        Issue(id="05", title="t", body="b"),
        Issue(id="-x", title="t", body="b"),
        Issue(id="6", title="t", body="b", depends_on=("1",)),
        Issue(id="7", title="t", body="b"),
    ):
        naming.put(issue)
    backlog = naming.tracker.backlog()
    assert ids(backlog) == ["7"]
    assert {fault.id for fault in backlog.faults} == {"1", "2", "3", "4", "5", "05", None, "6"}
    assert all(fault.problem and fault.hint and fault.source for fault in backlog.faults)


def test_a_dependency_on_a_landed_issue_is_met_after_the_issue_was_deleted(bench):
    bench.put(Issue(id="2", title="t", body="b", depends_on=("1",)))
    assert ids(bench.tracker.backlog()) == []
    assert ids(bench.tracker.backlog(merged={"1"})) == ["2"]
    assert ids(bench.tracker.backlog()) == []


def test_an_added_issue_is_in_the_backlog_as_it_was_returned(adding):
    first = adding.tracker.add(Issue("", title="First", body="Do it."))
    draft = Issue(
        "",
        title="Second",
        body="Then this.",
        labels=("ui",),
        priority=9,
        depends_on=("1",),
        paths=("src/**",),
        accept=("true",),
        model="strong",
    )
    second = adding.tracker.add(draft)
    assert (first.id, second.id) == ("001", "002")
    assert second.depends_on == ("001",)
    assert adding.tracker.backlog().issues == (first, second)
    for name in ("title", "body", "labels", "priority", "paths", "accept", "model"):
        assert getattr(second, name) == getattr(draft, name)


@pytest.mark.parametrize(
    ("present", "merged", "expected"),
    [
        ([], [], "001"),
        (["0007"], [], "0008"),
        (["1", "9"], [], "10"),
        (["099"], [], "100"),
        (["login"], [], "001"),
        (["3"], ["12"], "13"),
        (["003"], ["8"], "009"),
    ],
)
def test_the_next_number_is_above_all_and_padded_as_the_others_are(adding, present, merged, expected):
    for name in present:
        adding.put(Issue(id=name, title="t", body="b"))
    assert adding.tracker.add(Issue("", title="New"), merged).id == expected


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"title": ""}, "title is empty"),
        ({"title": "two\nlines"}, "a line end"),
        ({"title": "bell\x07"}, "control character"),
        ({"title": "half \ud800"}, "control character"),
        ({"title": "x" * 501}, "501 characters"),
        ({"priority": 10}, "priority must be a whole number from 0"),
        ({"depends_on": ("7",)}, "'7', which does not exist"),
        ({"depends_on": ("exsting",)}, "Did you mean existing?"),
        ({"paths": ("../out",)}, "leads out of the repository"),
        ({"accept": (" ",)}, "accept"),
        ({"labels": ("",)}, "labels"),
        ({"body": "a\0b"}, "body"),
        ({"body": "x" * 1_048_577}, "1 MiB"),
        ({"accept": ("x" * 17_000,)}, "front matter has"),
    ],
)
def test_a_draft_that_would_be_faulty_is_refused_and_nothing_is_added(adding, wrong, said):
    adding.put(Issue(id="existing", title="t", body="b"))
    before = adding.tracker.fingerprint()
    with pytest.raises(UsageError) as caught:
        adding.tracker.add(Issue("", **({"title": "fine"} | wrong)))
    assert said in caught.value.message
    assert caught.value.hint
    assert adding.tracker.fingerprint() == before


def test_no_number_left_is_said_and_not_wrapped_around(adding):
    adding.put(Issue(id="9" * 64, title="t", body="b"))
    with pytest.raises(UsageError, match="no number left"):
        adding.tracker.add(Issue("", title="t"))


def test_a_tracker_is_one_module_and_one_entry_of_the_table():
    naming = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(r"trackers[./](files|folder|github\w*)\b|FilesTracker", path.read_text("utf-8"))
        and path.relative_to(PACKAGE).parts[0] not in ("trackers", "extras")
    ]
    assert naming == ["data/trackers.py"]


@pytest.mark.parametrize("kind", TRACKERS)
def test_what_the_table_names_is_there_and_both_ways_to_a_fingerprint_agree(tmp_path, kind):
    (tmp_path / "work").mkdir()
    settings = tracker_settings({"tracker": {"kind": kind, "path": "work"}})
    fingerprint = resolve_name(TRACKERS[kind].fingerprint)(settings, tmp_path, tmp_path / "state")
    assert open_tracker(settings, tmp_path, tmp_path / "state").fingerprint() == fingerprint
    config = parse(f'[tracker]\nkind = "{kind}"\n', "x")
    assert config.tracker_settings == tracker_settings({"tracker": {"kind": kind}})
