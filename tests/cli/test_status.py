"""`noface status`: the JSON scripts rely on, the page at 80 columns, and how little it costs to look."""

import json
import os
import subprocess
import sys
import time

import pytest
from support.cli_story import Story, red_test, write_issue

from noface.cli import fast_path
from noface.errors import UsageError
from noface.git.locate import locate
from noface.model.taxonomy import IssueStatus
from noface.model.worker_run import ReportStatus, WorkerReport
from noface.trackers.files import FilesTracker
from noface.ui.since import since_when, until_when

LIGHT = """
import json, sys
from noface.cli.status import status
status(False, None, None, as_json={json})
heavy = ("pydantic", "git", "jsonschema", "jinja2", "asyncio", "psutil", "noface.model.attempt", "rich.table")
print(json.dumps([name for name in heavy if name in sys.modules]), file=sys.stderr)
"""


def local(at):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def test_the_json_has_the_promised_shape(project, night):
    document = project.shown("status")
    assert document["schema"] == 1
    assert document["counts"] == {"landing": 1, "blocked": 1, "waiting": 2, "ready": 1, "running": 1, "merged": 1}
    issues = {issue["id"]: issue for issue in document["issues"]}
    told = {
        "id": "002",
        "title": "Fix the login of visitors whose name holds a comma, which answers 401 instead of 200",
        "status": "blocked",
        "attempts": 3,
        "all_attempts": 3,
        "model": "claude-opus",
        "last_kind": "TEST_FAILURE",
        "last_message": "assert 401 == 200",
        "branch": "noface/002",
        "cost_usd": pytest.approx(1.44),
        "reason": "all 5 attempts are used up",
    }
    assert issues["002"] | told == issues["002"]
    assert issues["001"]["merged_commit"] == night.commit
    assert issues["001"]["last_kind"] is None
    assert issues["005"]["cost_usd"] is None, "nobody said what it costs"
    assert (issues["006"]["status"], issues["006"]["until"] > night.now) == ("waiting", True)
    assert document["faults"] == [
        {
            "source": "issues/008-broken.md",
            "problem": "depends_on names '999', which does not exist",
            "hint": "Write the id of an issue of this backlog, or take the entry out.",
            "id": "008",
        }
    ]


def test_an_issue_whose_dependency_has_not_landed_is_shown_as_waiting_for_it(project, night):
    issue = {issue["id"]: issue for issue in project.shown("status")["issues"]}["003"]
    assert (issue["status"], issue["reason"]) == ("waiting", "waits for 002 to be merged; 002 is blocked")


def test_what_happened_since_a_time_begins_with_what_landed(project, night):
    at = night.reader.last_run().started_at
    before = local(at - 1)
    night.status("004", "merged").status("001", "ready").status("001", "merged")
    document = project.shown("status", "--since", before)
    assert [(issue["id"], issue["status"]) for issue in document["issues"]] == [
        ("004", "merged"), ("001", "merged"), ("002", "blocked"), ("006", "waiting"), ("007", "running"),
    ]  # fmt: skip
    assert document["counts"] == {"merged": 2, "blocked": 1, "waiting": 1, "running": 1}
    assert (document["since"], document["unchanged"]) == (float(int(at - 1)), 2)
    assert document["issues"][0]["happened_at"] > at
    page = project.noface("status", "--since", before).stdout
    lines = page.splitlines()
    assert lines[0].startswith("Since 2026-09-21 ")
    assert ": 2 merged, 1 running, 1 blocked, 1 waiting, 1 faulty" in " ".join(lines[:2])
    assert page.index("\nmerged\n") < page.index("\nblocked:")
    assert "Paginate" not in page
    assert lines[-1] == "2 issues without news: noface status"
    assert max(map(len, lines)) <= 80


NOON = time.mktime((2026, 11, 25, 12, 0, 0, 0, 0, -1))  # a Wednesday
TIMES = {
    "8h": "25 04:00", "1d12h": "24 00:00", "3d": "22 12:00", "7:30": "25 07:30", "22:00": "24 22:00",
    "Yesterday": "24 00:00", "2026-11-20": "20 00:00",
    "2026-11-20 21:15": "20 21:15", "2026-11-20T21:15": "20 21:15", "run": "02 01:00",
}  # fmt: skip


def test_a_time_is_taken_as_people_write_it():
    run = time.mktime((2026, 11, 2, 1, 0, 0, 0, 0, -1))
    read = {text: local(since_when(text, NOON, run)) for text in TIMES}
    assert read == {text: f"2026-11-{when}:00" for text, when in TIMES.items()}
    assert since_when("2026-11-20T21:15:00z", NOON, None) == 1_795_209_300.0


@pytest.mark.parametrize(
    "text", ["", "noon", "25:00", "8x", "tomorrow", "yesterday 9", "2026-13-01", "2027-01-01", "su"]
)
def test_what_is_no_past_time_is_refused_with_the_forms(text):
    with pytest.raises(UsageError) as caught:
        since_when(text, NOON, None)
    assert "yesterday, " in caught.value.hint


def test_only_so_many_ready_issues_are_listed_unless_all_are_asked_for(project):
    for number in range(1, 101):
        write_issue(project.path, f"{number}-x", f"Issue number {number}")
    Story(project.path).sync().close()
    page = project.noface("status").stdout
    assert page.count("Issue number") == 20
    assert "… and 80 more ready (noface status --all)" in page
    assert project.noface("status", "--all").stdout.count("Issue number") == 100


def test_before_the_first_run_the_backlog_is_shown_and_nothing_is_written(project):
    write_issue(project.path, "1-x", "First")
    document = project.shown("status")
    assert (document["counts"], document["run"]) == ({"ready": 1}, None)
    assert "Nothing has been run yet" in project.noface("status").stdout
    assert not project.state.exists()


def test_a_run_whose_process_is_gone_is_told_to_be_cut_off(project):
    Story(project.path).sync().run(pid=2**22 + 1).close()
    assert "was cut off" in project.noface("status").stdout
    assert project.shown("status")["run"]["running"] is False


def test_what_a_run_that_is_gone_was_working_on_is_ready_to_go_on(project):
    write_issue(project.path, "1-x", "One")
    story = Story(project.path).sync().run(pid=2**22 + 1)
    story.start("1", 1)
    story.close()
    (issue,) = project.shown("status")["issues"]
    assert issue["status"] == "ready"
    assert issue["reason"] == "attempt 1 with claude-sonnet was cut off; it goes on with the next run"


def test_a_run_that_goes_on_is_told_with_its_pid(project):
    Story(project.path).sync().run(pid=os.getpid()).close()
    assert f"(pid {os.getpid()})" in project.noface("status").stdout
    assert project.shown("status")["run"]["running"] is True


def test_a_changed_issue_file_is_read_again(project):
    path = write_issue(project.path, "1-x", "Old title")
    Story(project.path).sync().close()
    path.write_text('+++\ntitle = "New title, longer"\n+++\n')
    assert project.shown("status")["issues"][0]["title"] == "New title, longer"


def test_the_fast_path_and_the_tracker_agree_on_the_fingerprint(project):
    write_issue(project.path, "1-x", "One")
    location = locate(project.path)
    assert fast_path.fingerprint(location, {}) == FilesTracker(project.path, "issues").fingerprint()
    moved = {"tracker": {"path": "work"}}
    assert fast_path.fingerprint(location, moved) == FilesTracker(project.path, "work").fingerprint() == "missing"


@pytest.mark.parametrize("as_json", [False, True])
def test_looking_at_unchanged_issues_imports_nothing_heavy(project, night, as_json):
    done = subprocess.run(
        [sys.executable, "-c", LIGHT.format(json=as_json)],
        cwd=project.path,
        env=project.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stderr) == []
    assert "002" in done.stdout


def test_an_agents_text_cannot_drive_the_terminal(project):
    write_issue(project.path, "1-x", "One [bold]not markup[/bold]")
    story = Story(project.path).sync().run()
    evil = "\x1b]0;owned\x07\x1b[2Jred \u202egnp.exe\r\nAll 9 tests passed"
    red = red_test(evil, also_matched=((evil, evil, evil),), excerpt=evil, evidence=(evil,))
    story.attempt("1", 1, red).block("1", reason=evil).close()
    for command in (["status"], ["show", "1"], ["show", "1", "--why"], ["blocked"]):
        page = project.noface(*command).stdout
        assert not {"\x1b", "\x07", "\u202e", "\r"} & set(page)
        assert "red �gnp.exe" in page
        assert "owned" not in page
        assert "\nAll 9" not in page, "a line of an agent's own could pass for one of noface's"
    assert "[bold]not markup[/bold]" in project.noface("status").stdout


@pytest.mark.parametrize(("env", "colours"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_appear_on_a_terminal_unless_unwanted(project, night, env, colours):
    environment = {"TERM": "xterm", **project.environment(), **env}
    if "NO_COLOR" not in env:
        environment.pop("NO_COLOR", None)
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb", buffering=0) as screen:
        child = subprocess.Popen(
            [sys.executable, "-m", "noface", "status"], cwd=project.path, env=environment, stdout=theirs
        )
        os.close(theirs)
        shown = b""
        try:
            while piece := screen.read(65536):
                shown += piece
        except OSError:
            pass  # a terminal that nobody writes to any more ends so on Linux
        assert child.wait() == 0
    assert b"002" in shown
    assert (b"\x1b[" in shown) is colours


def test_outside_a_repository_it_is_a_usage_error(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "noface", "status", "--json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "not in a git repository" in done.stderr
    assert json.loads(done.stdout)["error"]["code"] == 2


def test_a_broken_configuration_is_named_with_its_line_before_the_first_run(project):
    project.write("noface.toml", "[tracker]\nkind = \n")
    done = project.noface("status")
    assert done.returncode == 2
    assert "noface.toml:2:" in done.stderr


def test_a_file_that_is_no_database_is_refused_and_left_alone(project):
    project.state.mkdir()
    (project.state / "state.db").write_text("precious notes")
    done = project.noface("status")
    assert done.returncode == 1
    assert "never overwrites" in done.stderr
    assert (project.state / "state.db").read_text() == "precious notes"


def gaps(*texts):
    return WorkerReport(ReportStatus.DONE, gaps=texts)


def test_an_issue_skipped_undone_holds_up_what_depends_on_it(project, night):
    night.status("002", "skipped", "diagnosis: not needed")
    issue = {issue["id"]: issue for issue in project.shown("status")["issues"]}["003"]
    assert (issue["status"], issue["reason"]) == ("waiting", "waits for 002 to be merged; 002 is skipped, not done")
    lines = project.noface("status").stdout.splitlines()
    assert lines[lines.index("skipped") + 1].endswith("not done · 3 attempts · claude-opus · $1.44")


def test_an_issue_that_main_satisfies_already_holds_up_nothing(project, night):
    night.journal.status(night.tick(), "002", IssueStatus.SKIPPED, "already satisfied", satisfied=True)
    assert project.statuses()["003"] == "ready"
    assert "already on main" in project.noface("status").stdout


def test_what_the_work_turned_out_to_need_is_waited_for(project, night):
    night.journal.depends(night.tick(), "005", ("002",))
    night.status("005", "waiting", "needs 002 first")
    issues = {issue["id"]: issue for issue in project.shown("status")["issues"]}
    assert issues["005"]["reason"] == "waits for 002 to be merged; 002 is blocked"
    night.journal.merged(night.tick(), "002", "c" * 40)
    assert project.statuses()["005"] == "ready"


def test_the_gaps_of_the_last_run_are_counted_once_each_and_lead_to_the_issues(project, night):
    night.attempt("005", 1, red_test(), worker=gaps("No rates.", "No sample."))
    night.attempt("005", 2, worker=gaps("No rates."))
    night.attempt("006", 1, worker=gaps("No limit is named."))
    page = project.noface("status").stdout
    assert page.endswith("\n3 gaps reported: noface show 005, noface show 006\n")
    assert project.shown("status")["gaps"] == [
        {"id": "005", "attempt": 1, "gap": "No rates."},
        {"id": "005", "attempt": 1, "gap": "No sample."},
        {"id": "006", "attempt": 1, "gap": "No limit is named."},
    ]


@pytest.mark.parametrize(
    ("text", "minutes"), [("07:00", 450), ("23:31", 1), ("23:29", 24 * 60 - 1), ("23:30", 24 * 60)]
)
def test_until_is_the_next_time_that_the_clock_shows(text, minutes):
    now = time.mktime((2026, 11, 24, 23, 30, 0, 0, 0, -1))
    assert until_when(text, now) == now + minutes * 60


@pytest.mark.parametrize("text", ["25:00", "soon", "mon 07:00", "", "8h", "07:00Z", "T07:00", "070000", "today 07:00"])
def test_what_is_no_time_of_the_clock_is_told(text):
    with pytest.raises(UsageError, match="is no time of the clock"):
        until_when(text, 0.0)
