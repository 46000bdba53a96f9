"""Issues of beads: what a line of issues.jsonl becomes, and that nothing in the file hides its other issues."""

import json
import os
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.errors import UsageError
from noface.extras.beads.issue import read_beads
from noface.extras.beads.tracker import BeadsTracker
from noface.model.issue import Issue

GATES = ("pytest -q", "npm test")


def bead(own_id, title="T", **values):
    waits = [
        {"issue_id": own_id, "depends_on_id": other, "type": kind}
        for kind, others in values.pop("links", {}).items()
        for other in others
    ]
    return (
        {"id": own_id, "title": title, "description": "b", "status": "open", "priority": 2}
        | values
        | ({"dependencies": waits} if waits else {})
    )


@pytest.fixture
def beads(tmp_path):
    """Return a function that writes lines as bd would, and the tracker's answer to them."""
    tracker = BeadsTracker(tmp_path, gates=GATES)

    def backlog(*lines, merged=()):
        (tmp_path / ".beads").mkdir(exist_ok=True)
        text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        (tmp_path / ".beads/issues.jsonl").write_text(text + "\n")
        return tracker.backlog(merged)

    return backlog


def ids(backlog):
    return [issue.id for issue in backlog.issues]


def faults(backlog):
    return {fault.id: fault.problem for fault in backlog.faults}


def test_a_line_of_bd_becomes_an_issue(beads):
    line = {
        "id": "bd-a1b2", "title": "Log in", "description": "What is wanted.\n## Paths\n- `src/**`", "design": "A form.", "notes": "Soon.",
        "acceptance_criteria": "- [ ] `pytest tests/test_login.py` passes\n- [ ] it looks right", "status": "open",
        "priority": 1, "issue_type": "feature", "labels": ["ui"], "created_at": "2026-01-19T22:12:48Z",
    }  # fmt: skip
    (issue,) = beads(line).issues
    assert (issue.id, issue.title, issue.priority, issue.labels) == ("bd-a1b2", "Log in", 1, ("ui",))
    assert issue.source == ".beads/issues.jsonl:1"
    assert issue.accept == ("pytest tests/test_login.py",)
    assert issue.paths == ("src/**",)
    assert issue.body.startswith(
        "What is wanted.\n## Paths\n- `src/**`\n\n## Design\n\nA form.\n\n## Acceptance criteria\n\n- [ ] `pytest"
    )
    assert issue.body.endswith("## Notes\n\nSoon.")


def test_only_open_ones_are_worked_on_and_one_warning_names_the_rest(beads):
    states = ("in_progress", "blocked", "deferred", "closed", "tombstone", "open")
    backlog = beads(*(bead(f"bd-{state[0]}{at}", status=state) for at, state in enumerate(states)))
    assert ids(backlog) == ["bd-o5"]
    assert [each.problem for each in backlog.warnings] == [
        "noface leaves alone what is not open: bd-i0 (in_progress), bd-b1 (blocked), bd-d2 (deferred)"
    ]


def test_blocks_is_a_dependency_and_closed_ones_are_met(beads):
    backlog = beads(
        bead("bd-1", links={"blocks": ["bd-2", "bd-3", "bd-4"], "related": ["bd-9"], "discovered-from": ["bd-8"]}),
        bead("bd-2"),
        bead("bd-3", status="closed"),
        bead("bd-4", status="tombstone"),
    )
    assert {issue.id: issue.depends_on for issue in backlog.issues} == {"bd-1": ("bd-2",), "bd-2": ()}


def test_a_parent_waits_for_its_children_and_a_child_for_what_blocks_its_parent(beads):
    backlog = beads(
        bead("bd-p", links={"blocks": ["bd-x", "bd-p.1"]}),
        bead("bd-p.1", links={"parent-child": ["bd-p"]}),
        bead("bd-p.2", links={"parent-child": ["bd-p"], "blocks": ["bd-p.1"]}),
        bead("bd-x"),
    )
    needs = {issue.id: set(issue.depends_on) for issue in backlog.issues}
    assert needs == {
        "bd-p": {"bd-x", "bd-p.1", "bd-p.2"},
        "bd-p.1": {"bd-x"},
        "bd-p.2": {"bd-x", "bd-p.1"},
        "bd-x": set(),
    }


def test_an_epic_with_children_is_no_work_and_stands_for_them(beads):
    backlog = beads(
        bead("bd-e", issue_type="epic"),
        bead("bd-e.1", links={"parent-child": ["bd-e"]}),
        bead("bd-e.2", status="closed", links={"parent-child": ["bd-e"]}),
        bead("bd-lone", issue_type="epic"),
        bead("bd-z", links={"blocks": ["bd-e"]}),
    )
    assert {issue.id: issue.depends_on for issue in backlog.issues} == {
        "bd-e.1": (),
        "bd-lone": (),
        "bd-z": ("bd-e.1",),
    }


def test_what_waits_for_one_that_is_left_alone_is_told_with_its_state(beads):
    lines = (
        bead("bd-1", links={"blocks": ["bd-2"]}),
        bead("bd-2", status="in_progress"),
        bead("bd-3", links={"blocks": ["bd-g"]}),
        bead("bd-g", issue_type="gate"),
        bead("bd-4", links={"conditional-blocks": ["bd-5"]}),
        bead("bd-5"),
    )
    backlog = beads(*lines)
    assert ids(backlog) == ["bd-5"]
    assert faults(backlog) == {
        "bd-1": "waits for bd-2, which is in_progress in beads",
        "bd-3": "waits for bd-g, which is a gate of beads",
        "bd-4": "is for the case that bd-5 fails (conditional-blocks)",
    }
    assert ids(beads(*lines, merged={"bd-2"})) == ["bd-1", "bd-5"]


def test_front_matter_in_a_description_sets_what_an_issue_file_may_but_never_may_change(beads):
    text = "+++\npaths = ['src/**']\naccept = 'make check && ./odd'\nmay_change = ['noface.toml']\nmodel = 'm'\n+++\nDo it."
    backlog = beads(bead("bd-1", description=text, priority=0))
    (issue,) = backlog.issues
    assert (issue.body, issue.paths, issue.model, issue.priority) == ("Do it.", ("src/**",), "m", 0)
    assert issue.accept == ("make check && ./odd",)
    assert issue.may_change == ()
    assert [each.problem for each in backlog.warnings] == [
        "may_change = ['noface.toml'] is left out: only an issue file may set it"
    ]


def test_paths_are_read_as_an_issue_file_has_them_and_a_second_title_is_told(beads):
    text = "+++\ntitle = 'Other'\n+++\nDo it.\n## Paths\n- ./src/a.py"
    backlog = beads(bead("bd-1", description=text))
    assert [issue.paths for issue in backlog.issues] == [("src/a.py",)]
    assert [each.problem for each in backlog.warnings] == ["title is left out: the issue has one"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "the line is not valid JSON"),
        ("[1]", "an object is expected"),
        ("[" * 100_000, "nested too deeply"),
        ("<<<<<<< HEAD", "a merge was left half done here"),
        ('{"title": "T"}', "the issue has no id"),
        ('{"id": "bd-1"}', "the title is empty"),
        (bead("bd-1", title="a\x1b[31mb"), "control character '\\x1b'"),
        (bead("bd-1", priority=7), "priority must be a whole number from 0 to 4, not 7"),
        (bead("bd-1", priority=True), "not True"),
        (bead("bd-1", description="a\0b"), "NUL"),
        ('{"id": "bd-1", "title": "T", "description": "\\ud800"}', "surrogate"),
        (bead("bd-1", description="x" * 1_048_577), "1 MiB"),
        (bead("bd 1"), "the id 'bd 1' is not usable"),
        (bead("bd-1", description="+++\nzzz = 1\n+++\n"), "unknown key 'zzz'"),
        (bead("bd-1", description="+++\n"), "never closed"),
        (bead("bd-1", description="## Paths\n- `../x`"), "leads out of the repository"),
        (bead("bd-1", links={"blocks": ["bd-none"]}), "'bd-none', which does not exist"),
    ],
)
def test_a_broken_line_is_a_fault_and_hides_no_other(beads, line, said):
    backlog = beads(bead("bd-7"), line, bead("bd-8"))
    assert ids(backlog) == ["bd-7", "bd-8"]
    (fault,) = backlog.faults
    assert said in fault.problem
    assert fault.hint
    assert fault.source == ".beads/issues.jsonl:2"


def test_thousands_of_broken_lines_are_told_in_few_words(beads):
    backlog = beads(*["{"] * 5000, bead("bd-1"))
    assert ids(backlog) == ["bd-1"]
    assert len(backlog.faults) == 21
    assert "4980 more lines are broken" in {fault.problem for fault in backlog.faults}


def test_a_priority_that_bd_left_out_is_the_most_urgent(beads):
    assert beads('{"id": "bd-1", "title": "T", "description": "b", "status": "open"}').issues[0].priority == 0


def test_a_file_rewritten_within_one_tick_of_the_clock_is_read_again(tmp_path):
    file = tmp_path / ".beads/issues.jsonl"
    file.parent.mkdir()
    tracker = BeadsTracker(tmp_path)
    file.write_text(json.dumps(bead("bd-1", title="Old")))
    before = file.stat()
    assert tracker.backlog().issues[0].title == "Old"
    with file.open("r+") as same:
        same.write(json.dumps(bead("bd-1", title="New")))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert tracker.backlog().issues[0].title == "New"


def test_no_folder_is_an_empty_backlog_with_a_warning_and_the_older_name_is_found(tmp_path):
    tracker = BeadsTracker(tmp_path)
    assert [each.problem for each in tracker.backlog().warnings] == ["there is no issues.jsonl in .beads"]
    (tmp_path / ".beads").mkdir()
    (tmp_path / ".beads/beads.jsonl").write_text(json.dumps(bead("bd-1")))
    assert ids(tracker.backlog()) == ["bd-1"]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, *(partial(os.symlink, to) for to in ("/dev/zero", "gone"))])
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path, make):
    (tmp_path / ".beads").mkdir()
    make(tmp_path / ".beads/issues.jsonl")
    (tmp_path / ".beads/beads.db").touch()
    with pytest.raises(UsageError, match="no regular file"):
        BeadsTracker(tmp_path).backlog()


def test_adding_is_refused_with_the_command_that_does_it(tmp_path):
    draft = Issue("", "Don't stop", "Go on.", 1, ("ui",), ("bd-1",))
    with pytest.raises(UsageError) as caught:
        BeadsTracker(tmp_path).add(draft)
    assert caught.value.hint.endswith("""bd create 'Don'"'"'t stop' -p 1 -l ui -d 'Go on.' --deps bd-1""")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["open", "bd-1", "+++\na=1\n+++"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "title", "status", "priority", "dependencies", "depends_on_id", "type", "description"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@given(st.one_of(st.binary(max_size=200), JSON.map(lambda value: json.dumps(value).encode())))
def test_reading_is_total(line):
    found = read_beads("f", line + b'\n{"id": "sound", "title": "T"}')
    assert "sound" in {issue.id for issue in found.issues} | {fault.id for fault in found.faults}


@pytest.fixture
def dolt(tmp_path, monkeypatch):
    """Return the tracker over a database of Dolt, and a function that says what `bd export` does."""
    (tmp_path / ".beads" / "dolt" / "shop").mkdir(parents=True)
    (tmp_path / ".beads" / "issues.jsonl").write_text(json.dumps(bead("bd-old")) + "\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")

    def bd(script):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / "bd").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / "bd").chmod(0o755)

    return BeadsTracker(tmp_path), bd


def test_a_database_of_dolt_is_asked_and_its_old_copy_is_not_read(dolt):
    tracker, bd = dolt
    bd(f"test \"$*\" = export && echo '{json.dumps(bead('bd-new'))}'")
    assert ids(tracker.backlog()) == ["bd-new"]


def test_a_file_that_is_older_than_the_database_beside_it_is_not_read(dolt):
    tracker, bd = dolt
    folder = tracker._root / ".beads"
    (folder / "dolt").rename(tracker._root / "aside")
    bd(f"test \"$*\" = export && echo '{json.dumps(bead('bd-new'))}'")
    (folder / "beads.db").touch()
    assert ids(tracker.backlog()) == ["bd-old"]
    os.utime(folder / "issues.jsonl", (1, 1))
    assert ids(tracker.backlog()) == ["bd-new"]


@pytest.mark.parametrize(
    ("script", "said"),
    [("echo locked >&2; exit 1", "bd export fails: locked"), ("exit 3", "exit code 3"), (None, "bd is not on PATH")],
)
def test_a_bd_that_says_nothing_ends_it_at_first_and_later_what_it_said_counts(dolt, script, said, monkeypatch):
    tracker, bd = dolt
    if script is None:
        monkeypatch.setenv("PATH", "/nowhere")
    else:
        bd(script)
    with pytest.raises(UsageError, match=said):
        tracker.backlog()
    if script is not None:
        bd(f"echo '{json.dumps(bead('bd-new'))}'")
        tracker.backlog()
        (tracker._root / ".beads/dolt/shop/.dolt/noms").mkdir(parents=True)
        (tracker._root / ".beads/dolt/shop/.dolt/noms/manifest").touch()
        bd(script)
        later = tracker.backlog()
        assert ids(later) == ["bd-new"]
        assert said in later.warnings[-1].problem
