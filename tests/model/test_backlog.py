"""The pure checks of a backlog: ids, duplicates, dependencies, cycles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import cases

from noface.model.backlog import check, id_problem, nearest, without_unknown_models
from noface.model.issue import Backlog, Issue
from noface.model.listed import IssueFault
from noface.model.worker_run import ModelSpec


def issue(issue_id, *depends_on):
    return Issue(id=issue_id, title=f"Issue {issue_id}", depends_on=depends_on, source=f"issues/{issue_id}.md")


def ids(backlog):
    return [each.id for each in backlog.issues]


def problems(backlog):
    return {fault.id: fault.problem for fault in backlog.faults}


def hints(backlog):
    return {fault.id: fault.hint for fault in backlog.faults}


def test_sound_issues_come_in_the_natural_order_of_their_ids():
    backlog = check([issue("login"), issue("10"), issue("9"), issue("002"), issue("api")])
    assert ids(backlog) == ["002", "9", "10", "api", "login"]
    assert backlog.faults == ()


@pytest.mark.parametrize("good", ["7", "007", "a", "login-page", "v1.2_x", "a" * 64, "x.locks", "HEAD"])
def test_ids_that_fit_a_branch_name_are_usable(good):
    assert id_problem(good) is None


@cases(
    "bad",
    [
        "",
        "-x",
        ".x",
        "_x",
        "a b",
        "a/b",
        "../x",
        "a..b",
        "x.lock",
        "x.",
        "a" * 65,
        "ü",
        "a\n",
        "a\x1b",
        "a\udc80",
        "a:b",
    ],
)
def test_ids_that_git_or_a_terminal_would_choke_on_are_refused(bad):
    problem = id_problem(bad)
    assert problem is not None
    assert problem.isprintable()


def test_all_holders_of_one_id_are_faulty_and_7_is_007():
    backlog = check([issue("7"), issue("007"), issue("8")])
    assert ids(backlog) == ["8"]
    assert set(problems(backlog)) == {"7", "007"}
    for problem in problems(backlog).values():
        assert "issues/7.md" in problem
        assert "issues/007.md" in problem


def test_an_issue_is_faulty_when_a_broken_file_has_the_same_id():
    broken = IssueFault(source="issues/7-broken.md", problem="not UTF-8", id="007")
    backlog = check([issue("7")], [broken])
    assert backlog.issues == ()
    assert "issues/7-broken.md" in problems(backlog)["7"]


def test_a_number_finds_the_issue_however_it_is_padded():
    backlog = check([issue("007"), issue("8", "7"), issue("9", "0007", "7")])
    assert {each.id: each.depends_on for each in backlog.issues} == {"007": (), "8": ("007",), "9": ("007",)}


def test_an_unknown_dependency_is_named_with_the_nearest_id():
    backlog = check([issue("login-page"), issue("b", "login-pgae")])
    assert ids(backlog) == ["login-page"]
    assert "'login-pgae'" in problems(backlog)["b"]
    assert hints(backlog)["b"] == "Did you mean login-page?"


@pytest.mark.parametrize("written", ["7-login", "#7", "007-login.md", "0007"])
def test_the_number_in_a_wrongly_written_dependency_is_recognised(written):
    assert nearest(written, ["5", "007", "17"]) == "007"


def test_a_dependency_on_a_merged_issue_is_met_though_the_issue_is_gone():
    backlog = check([issue("8", "7")], merged={"007"})
    assert [each.depends_on for each in backlog.issues] == [("007",)]


def test_a_dependency_on_a_merged_issue_is_met_though_its_file_is_broken_now():
    broken = IssueFault(source="issues/7.md", problem="not UTF-8", id="7")
    assert ids(check([issue("8", "7")], [broken], merged=["7"])) == ["8"]


def test_a_dependency_on_a_faulty_issue_is_a_fault_that_names_the_file_to_mend():
    broken = IssueFault(source="issues/7-x.md", problem="not UTF-8", id="7")
    backlog = check([issue("8", "7"), issue("9")], [broken])
    assert ids(backlog) == ["9"]
    assert "'7'" in problems(backlog)["8"]
    assert "issues/7-x.md" in hints(backlog)["8"]


def test_faults_spread_to_everything_that_waits_for_them():
    backlog = check([issue("a", "gone"), issue("b", "a"), issue("c", "b"), issue("d")])
    assert ids(backlog) == ["d"]
    assert "'b'" in problems(backlog)["c"]


def test_an_issue_that_depends_on_itself_is_faulty():
    backlog = check([issue("a", "a"), issue("b")])
    assert ids(backlog) == ["b"]
    assert problems(backlog)["a"] == "depends on itself"


def test_the_whole_cycle_is_printed_once_and_all_its_members_are_faulty():
    backlog = check([issue("a", "b"), issue("b", "c"), issue("c", "a"), issue("d")])
    assert ids(backlog) == ["d"]
    said = problems(backlog)
    assert said["a"] == "dependency cycle: a -> b -> c -> a"
    assert set(said) == {"a", "b", "c"}
    assert sum("->" in problem for problem in said.values()) == 1
    assert "faulty itself" in said["b"]
    assert "faulty itself" in said["c"]


def test_an_issue_that_waits_for_a_cycle_is_faulty_but_not_called_part_of_it():
    said = problems(check([issue("a", "b"), issue("b", "a"), issue("c", "a")]))
    assert "cycle" not in said["c"]
    assert "'a'" in said["c"]


def test_a_cycle_of_ten_thousand_issues_is_found():
    ring = [issue(str(at), str((at + 1) % 10_000)) for at in range(10_000)]
    backlog = check(ring)
    assert len(backlog.faults) == 10_000
    assert problems(backlog)["0"].endswith("-> 9999 -> 0")


NAMES = st.sampled_from(["1", "01", "2", "3", "4", "a", "A", "b", "c", "-x", "gone"])


@given(st.lists(st.tuples(NAMES, st.lists(NAMES, max_size=4)), max_size=12), st.sets(NAMES, max_size=3))
def test_every_issue_is_either_sound_with_all_it_needs_or_faulty(drawn, merged):
    given_issues = [issue(name, *needs) for name, needs in drawn]
    backlog = check(given_issues, merged=merged)
    assert len(backlog.issues) + len(backlog.faults) == len(given_issues)
    sound = {each.id: each for each in backlog.issues}
    settled = {name.lstrip("0").lower() for name in merged}
    remaining = dict(sound)
    while startable := [
        each for each in remaining.values() if all(need.lstrip("0").lower() in settled for need in each.depends_on)
    ]:
        for each in startable:
            settled.add(each.id.lstrip("0").lower())
            del remaining[each.id]
    assert remaining == {}, "a sound issue could never start"


MODELS = {name: ModelSpec(name=name, agent="claude", tier=tier) for name, tier in (("small", 1), ("big", 3))}


def fault_of(issue):
    backlog = without_unknown_models(Backlog((issue, Issue(id="2", title="b"))), MODELS)
    assert [each.id for each in backlog.issues] == ["2"]
    return backlog.faults[0]


def test_a_word_at_the_end_of_a_name_means_the_first_that_has_it():
    assert nearest("opus", ["mini-opus"]) == "mini-opus"
    assert nearest("opus", ["claude-haiku", "claude-opus", "mini-opus"]) == "claude-opus"
    assert nearest("claude-opuss", ["claude-haiku", "claude-opus", "mini-opus"]) == "claude-opus"


def test_an_issue_whose_model_nobody_configured_is_faulty_and_the_nearest_is_named():
    fault = fault_of(Issue(id="1", title="a", model="smal", source="issues/1-a.md"))
    assert fault.problem == "model = 'smal' is no model of the configuration"
    assert (fault.hint, fault.source, fault.id) == ("did you mean small?", "issues/1-a.md", "1")


def test_an_issue_whose_tier_is_above_every_model_is_faulty():
    fault = fault_of(Issue(id="1", title="a", tier=4))
    assert fault.problem == "tier = 4 is above every model of the configuration"
    assert fault.hint == "The highest tier there is 3."


def test_an_issue_whose_own_model_is_below_its_own_tier_is_faulty():
    fault = fault_of(Issue(id="1", title="a", model="small", tier=2))
    assert fault.problem == "model = 'small' has tier 1, below the issue's own tier = 2"


def test_issues_that_the_models_can_work_on_stay_as_they_are():
    issues = (Issue(id="1", title="a", model="big", tier=3), Issue(id="2", title="b", tier=2), Issue(id="3", title="c"))
    backlog = Backlog(issues)
    assert without_unknown_models(backlog, MODELS) is backlog
