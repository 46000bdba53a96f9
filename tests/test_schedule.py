"""What starts now: the night's order of work."""

from hypothesis import given
from hypothesis import strategies as st

from noface.core.model import Issue, IssueState
from noface.core.schedule import ModelWait, plan
from noface.core.taxonomy import IssueStatus

NOW = 1000.0
S = IssueStatus


def issue(name, priority=2, *depends_on):
    return Issue(name, f"Issue {name}", priority=priority, depends_on=depends_on)


def planned(issues, statuses=None, *, slots=9, waits=None, models=None, until=None):
    states = {i.id: IssueState(i.id) for i in issues}
    states |= {name: IssueState(name, status) for name, status in (statuses or {}).items()}
    states |= {name: IssueState(name, S.WAITING, "backs off", time) for name, time in (until or {}).items()}
    return plan(tuple(issues), states, models or {}, waits or {}, slots, NOW)


def started(*args, **kwargs):
    return [i.id for i in planned(*args, **kwargs).start]


def test_urgent_issues_start_first_and_equals_in_the_backlog_s_order():
    assert started([issue("a"), issue("b", 0), issue("c"), issue("d", 0), issue("e", 4)]) == ["b", "d", "a", "c", "e"]


def test_no_more_start_than_there_are_slots():
    assert started([issue("a"), issue("b"), issue("c")], slots=2) == ["a", "b"]
    assert started([issue("a")], slots=0) == []


def test_an_issue_waits_until_its_dependency_is_merged():
    issues = [issue("a"), issue("b", 0, "a")]
    plan_now = planned(issues)
    assert [i.id for i in plan_now.start] == ["a"]
    assert [(w.issue_id, w.reason, w.hopeless) for w in plan_now.waiting] == [("b", "waits for a to be merged", False)]
    for status in (S.RUNNING, S.LANDING, S.WAITING, S.APPROVAL, S.BLOCKED, S.EPIC):
        assert "b" not in started(issues, {"a": status})
    assert started(issues, {"a": S.MERGED}) == ["b"]


def test_a_dependency_that_main_satisfied_already_counts_as_merged():
    assert started([issue("a"), issue("b", 2, "a")], {"a": S.SKIPPED}) == ["b"]


def test_a_dependency_that_nobody_knows_is_waited_for():
    assert started([issue("b", 2, "ghost")]) == []


def test_a_blocked_issue_holds_up_only_what_depends_on_it_near_or_far():
    issues = [issue("a"), issue("b", 2, "a"), issue("c", 2, "b"), issue("d")]
    for status in (S.BLOCKED, S.APPROVAL):
        result = planned(issues, {"a": status})
        assert [i.id for i in result.start] == ["d"]
        assert {w.issue_id: w.hopeless for w in result.waiting} == {"b": True, "c": True}


def test_a_dependency_in_a_circle_is_waited_for_without_hanging():
    result = planned([issue("a", 2, "b"), issue("b", 2, "a"), issue("c", 2, "c")])
    assert result.start == ()
    assert [w.hopeless for w in result.waiting] == [False, False, False]


def test_an_issue_waits_for_its_retry_time_and_not_longer():
    issues = [issue("a")]
    [waiting] = planned(issues, until={"a": NOW + 1}).waiting
    assert (waiting.until, waiting.reason) == (NOW + 1, "backs off")
    assert started(issues, until={"a": NOW}) == ["a"]


def test_only_issues_of_a_limited_model_wait_for_its_provider():
    issues = [issue("a"), issue("b")]
    models = {"a": "opus", "b": "sonnet"}
    result = planned(issues, waits={"opus": ModelWait(NOW + 60, "opus is limited")}, models=models)
    assert [i.id for i in result.start] == ["b"]
    assert [(w.issue_id, w.until, w.reason) for w in result.waiting] == [("a", NOW + 60, "opus is limited")]
    assert started(issues, waits={"opus": ModelWait(NOW - 60, "")}, models=models) == ["a", "b"]


def test_what_is_under_way_or_settled_does_not_start():
    for status in (S.RUNNING, S.LANDING, S.MERGED, S.APPROVAL, S.BLOCKED, S.EPIC, S.SKIPPED):
        result = planned([issue("a")], {"a": status})
        assert (result.start, result.waiting) == ((), ())


NAMES = "abcdef"
BACKLOGS = st.lists(
    st.builds(
        lambda name, priority, deps: issue(name, priority, *sorted(deps)),
        st.sampled_from(NAMES),
        st.integers(0, 4),
        st.frozensets(st.sampled_from(NAMES), max_size=3),
    ),
    max_size=6,
    unique_by=lambda i: i.id,
)


@given(BACKLOGS, st.dictionaries(st.sampled_from(NAMES), st.sampled_from(S)), st.integers(0, 4))
def test_every_open_issue_starts_waits_for_a_reason_or_lacks_a_slot(issues, statuses, slots):
    result = planned(issues, statuses, slots=slots)
    open_ones = {i.id for i in issues if statuses.get(i.id, S.READY) in (S.READY, S.WAITING)}
    names = [i.id for i in result.start] + [w.issue_id for w in result.waiting]
    assert len(names) == len(set(names))
    assert set(names) <= open_ones
    assert len(result.start) <= slots
    for i in result.start:
        assert all(statuses.get(d) in (S.MERGED, S.SKIPPED) for d in i.depends_on)
    if len(result.start) < slots:
        assert set(names) == open_ones
    assert [i.priority for i in result.start] == sorted(i.priority for i in result.start)
