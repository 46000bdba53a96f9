"""`noface retry` and `noface skip`: what they change, and what they refuse."""

import pytest
from support.cli_story import red_test, write_issue

from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind


def refused(project, *args):
    done = project.noface(*args)
    assert done.returncode == 2, done.stdout
    assert done.stdout == ""
    return done.stderr


def test_unblocking_starts_the_counters_again_and_keeps_the_note(project, night):
    done = project.noface("retry", "2", "--note", "Split at the first comma.")
    assert done.returncode == 0
    row = night.reader.issue("002")
    assert (row.status, row.reason, row.epoch, row.attempts) == ("ready", "retried by a person", 1, 0)
    assert (row.note, row.block) == ("Split at the first comma.", None)
    assert "your note: Split at the first comma." in project.noface("show", "2").stdout


def test_a_skipped_issue_can_be_unblocked_by_name(project, night):
    night.status("005", "skipped", "already satisfied")
    assert project.noface("retry", "5").returncode == 0
    assert night.reader.issue("005").status == "ready"


@pytest.fixture
def morning(project, night):
    """Three issues are blocked, for two kinds of failures; 005.2 is a part of an issue that goes on without it."""
    login = Failure(FailureKind.AUTH, "Not logged in", "r", signature="a")
    for issue in ("003", "006"):
        night.attempt(issue, 1, login, model="small", charged=False).block(issue, FailureKind.AUTH, "Not logged in")
    night.divide("005", "Write the header").attempt("005.1", 1, red_test()).block("005.1").status("005.1", "blocked")
    return night


def statuses(night, *issues):
    return [str(night.reader.issue(issue).status) for issue in issues]


def test_all_blocked_issues_or_those_of_a_kind_are_tried_again_with_a_line_each(project, morning):
    done = project.noface("retry", "--kind", "auth")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "003  Paginate the list of orders: ready; it was blocked for AUTH\n"
        "006  Limit the size of uploads: ready; it was blocked for AUTH\n"
        "The counters start again. Next: noface run\n"
    )
    assert statuses(morning, "002", "003", "006") == ["blocked", "ready", "ready"]
    assert [issue["id"] for issue in project.shown("retry", "--all")["retry"]] == ["002", "005.1"]
    assert statuses(morning, "002", "005.1") == ["ready", "ready"]
    assert project.noface("retry", "--all").stdout == "Nothing is blocked.\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--kind", "ATH"), "there is no kind of failure ATH"),
        (("--kind", "NETWORK"), "no issue is blocked for NETWORK"),
        (("2", "--all"), "name the issues to retry, or use --all, or --kind: one of them"),
        ((), "name the issues to retry, or use --all, or --kind"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_changes_nothing(project, morning, args, said):
    assert said in refused(project, "retry", *args)
    assert statuses(morning, "002", "003", "006") == ["blocked"] * 3


@pytest.mark.parametrize("issue", ["2", "5", "6"])
def test_any_issue_that_is_not_under_way_can_be_retried(project, night, issue):
    epoch = night.reader.issue(f"00{issue}").epoch
    assert project.noface("retry", issue).returncode == 0
    row = night.reader.issue(f"00{issue}")
    assert (row.status, row.until, row.epoch, row.attempts) == ("ready", None, epoch + 1, 0)


@pytest.mark.parametrize("verb", ["skip", "retry"])
def test_before_the_first_run_there_is_nothing_to_give_back(project, verb):
    write_issue(project.path, "1-x", "One")
    assert "nothing has run yet" in refused(project, verb, "1")
    assert not project.state.exists()


def test_an_issue_whose_file_is_gone_cannot_be_given_back(project, night):
    (project.path / "issues" / "002-login.md").unlink()
    (project.path / "issues" / "003-page.md").unlink()
    assert "its file is gone" in refused(project, "retry", "2")


def test_unblocking_can_name_a_model_and_how_many_attempts(project, night):
    done = project.noface("retry", "2", "--model", "big", "--attempts", "7")
    assert done.returncode == 0
    assert ": ready, with big, up to 7 attempts" in " ".join(done.stdout.split())
    state = night.reader.states()["002"]
    assert (state.wanted_model, state.wanted_attempts) == ("big", 7)
    project.noface("retry", "2")
    state = night.reader.states()["002"]
    assert (state.wanted_model, state.wanted_attempts) == (None, None), "they hold until it is given back again"


def test_a_model_with_a_slip_is_met_with_the_model_meant(project, night):
    assert 'Did you mean "small"?' in refused(project, "retry", "2", "--model", "smal")
    assert night.reader.issue("002").status == "blocked"


@pytest.mark.parametrize("attempts", ["0", "51"])
def test_attempts_out_of_bounds_are_refused(project, night, attempts):
    assert "--attempts takes 1 to 50" in refused(project, "retry", "2", "--attempts", attempts)


def test_a_note_too_long_for_a_prompt_is_refused(project, night):
    assert "at most 10,000" in refused(project, "retry", "2", "--note", "x" * 10_001)


@pytest.mark.parametrize("verb", ["skip", "retry"])
def test_an_epic_leaves_the_work_to_its_parts(project, night, verb):
    night.divide("005", "Write the header")
    assert "noface show 005" in refused(project, verb, "5")


@pytest.mark.parametrize(("parent", "said"), [("running", "goes on without it"), ("merged", "has landed")])
def test_a_part_that_its_parent_does_without_stays_where_it_is(project, night, parent, said):
    night.divide("005", "Write the header").status("005.1", "skipped", "taken back").status("005", parent)
    assert said in refused(project, "retry", "005.1")


def test_skipped_issues_are_left_undone_until_they_are_retried(project, night):
    assert project.noface("skip", "2", "5").stdout.endswith(": skipped\n")
    assert statuses(night, "002", "005") == ["skipped", "skipped"]
    assert [each["was"] for each in project.shown("skip", "2")["skip"]] == ["skipped"]
    assert project.noface("retry", "2").returncode == 0
    assert statuses(night, "002") == ["ready"]


@pytest.mark.parametrize(("issue", "said"), [("1", "merged already"), ("4", "waits to land"), ("7", "is running")])
@pytest.mark.parametrize("verb", ["skip", "retry"])
def test_what_is_under_way_or_done_stays_and_with_it_all_that_is_named(project, night, verb, issue, said):
    assert said in refused(project, verb, "2", issue)
    assert statuses(night, "002") == ["blocked"]
