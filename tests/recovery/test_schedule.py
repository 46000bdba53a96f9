"""What starts now: the night's order of work."""

from hypothesis import given
from hypothesis import strategies as st

from noface.model.attempt import PastAttempt
from noface.model.failure import Failure
from noface.model.issue import Issue, IssueState
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.recovery.schedule import Breaker, Contest, lost_to_main, plan

NOW = 1000.0
S = IssueStatus


def issue(name, priority=2, *depends_on):
    return Issue(name, f"Issue {name}", priority=priority, depends_on=depends_on)


def resting(until, model="opus"):
    """The circuit breaker of a model whose provider is away until then."""
    return Breaker(model, until, 1, NOW - 100, "RATE_LIMITED", f"{model} is limited")


def planned(issues, statuses=None, *, slots=9, waits=None, models=None, until=None, satisfied=(), at_work=frozenset()):
    states = {i.id: IssueState(i.id) for i in issues}
    states |= {name: IssueState(name, status) for name, status in (statuses or {}).items()}
    states |= {name: IssueState(name, S.WAITING, "backs off", time) for name, time in (until or {}).items()}
    states |= {name: IssueState(name, S.SKIPPED, satisfied=True) for name in satisfied}
    return plan(tuple(issues), states, models or {}, waits or {}, slots, NOW, frozenset(at_work))


def started(*args, **kwargs):
    return [i.id for i in planned(*args, **kwargs).start]


# Order and slots


def test_urgent_issues_start_first_and_equals_in_the_backlog_s_order():
    assert started([issue("a"), issue("b", 0), issue("c"), issue("d", 0), issue("e", 4)]) == ["b", "d", "a", "c", "e"]


def test_an_issue_that_only_lacks_a_slot_does_not_wait_for_anything():
    result = planned([issue("a"), issue("b")], slots=1)
    assert result.waiting == ()


# What depends on what


def test_an_issue_waits_until_its_dependency_is_merged():
    issues = [issue("a"), issue("b", 0, "a")]
    plan_now = planned(issues)
    assert [i.id for i in plan_now.start] == ["a"]
    assert [(w.issue_id, w.reason) for w in plan_now.waiting] == [("b", "waits for a to be merged")]
    for status in (S.RUNNING, S.LANDING, S.WAITING, S.APPROVAL, S.BLOCKED, S.EPIC, S.SKIPPED):
        assert "b" not in started(issues, {"a": status})
    assert started(issues, {"a": S.MERGED}) == ["b"]


def test_all_dependencies_that_are_missing_are_named():
    [waiting] = planned([issue("c", 2, "a", "b", "d")], {"a": S.RUNNING, "b": S.MERGED, "d": S.EPIC}).waiting
    assert waiting.reason == "waits for a, d to be merged"


def test_a_blocked_issue_holds_up_only_what_depends_on_it_near_or_far():
    issues = [issue("a"), issue("b", 2, "a"), issue("c", 2, "b"), issue("d")]
    for status in (S.BLOCKED, S.APPROVAL, S.SKIPPED):
        result = planned(issues, {"a": status})
        assert [i.id for i in result.start] == ["d"]
        assert {w.issue_id for w in result.waiting} == {"b", "c"}


# Retry times


def test_an_issue_waits_for_its_retry_time_and_not_longer():
    issues = [issue("a")]
    [waiting] = planned(issues, until={"a": NOW + 1}).waiting
    assert (waiting.until, waiting.reason) == (NOW + 1, "backs off")
    assert started(issues, until={"a": NOW}) == ["a"]


# Providers that are away


def test_only_issues_of_a_limited_model_wait_for_its_provider():
    issues = [issue("a"), issue("b")]
    models = {"a": "opus", "b": "sonnet"}
    result = planned(issues, waits={"opus": resting(NOW + 60)}, models=models)
    assert [i.id for i in result.start] == ["b"]
    assert [(w.issue_id, w.until, w.reason) for w in result.waiting] == [("a", NOW + 60, "opus is limited")]


def test_a_provider_whose_time_has_come_is_tried_by_one_issue_first():
    issues = [issue("a"), issue("b"), issue("c", 0)]
    models = dict.fromkeys("abc", "opus")
    result = planned(issues, waits={"opus": resting(NOW)}, models=models)
    assert [i.id for i in result.start] == ["c"]
    assert [(w.issue_id, w.reason, w.until) for w in result.waiting] == [
        (name, "opus is being tried by another issue first", None) for name in ("a", "b")
    ]


def test_an_issue_that_lacks_a_slot_is_nobody_s_probe():
    issues, models = [issue("a", 0), issue("b")], {"a": "sonnet", "b": "opus"}
    result = planned(issues, waits={"opus": resting(NOW)}, models=models, slots=1)
    assert ([i.id for i in result.start], result.waiting) == (["a"], ())


# Who has lost to main works alone

LOST = (("log.txt",), ("log.txt", "src/a.py"))


def contested(*issues, lost=(), busy=(), slots=9, **told):
    states = {i.id: IssueState(i.id, until=told.get("until", {}).get(i.id)) for i in issues}
    return plan(tuple(issues), states, {}, {}, slots, NOW, frozenset(), Contest(dict.fromkeys(lost, LOST), tuple(busy)))


def placed(name, *paths, priority=2):
    return Issue(name, name, paths=paths, priority=priority)


def test_who_lost_to_main_starts_once_nothing_else_can_move_it_into_the_same_place():
    result = contested(issue("a"), issue("b"), issue("c"), lost="b", busy=[issue("d")])
    assert [i.id for i in result.start] == ["a"]  # its turn comes first
    assert [w.issue_id for w in result.waiting] == ["b", "c"]
    assert "log.txt" in result.waiting[0].reason
    alone = contested(issue("b"), issue("c"), lost="b")
    assert ([i.id for i in alone.start], [w.issue_id for w in alone.waiting]) == (["b"], ["c"])


def test_nothing_that_could_change_the_same_starts_beside_one_that_works_alone():
    result = contested(issue("a"), placed("b", "src/"), placed("c", "docs/", "log.txt"), lost="d", busy=[issue("d")])
    assert result.start == ()
    assert all("d" in w.reason for w in result.waiting)


def test_issues_with_paths_of_their_own_go_on_beside_it():
    others = [placed("b", "docs/**"), placed("c", "tests/"), placed("e", "src/b.py")]
    assert [i.id for i in contested(*others, lost="a", busy=[issue("a")]).start] == ["b", "c", "e"]
    result = contested(placed("a", "log.txt"), placed("b", "src/"), placed("c", "log.txt"), lost="ab")
    assert [i.id for i in result.start] == ["a", "b"]


def test_one_that_is_to_work_alone_and_cannot_yet_holds_up_nobody():
    result = contested(issue("a"), issue("b"), lost="a", until={"a": NOW + 60})
    assert [i.id for i in result.start] == ["b"]


def past(number, kind, **told):
    failure = Failure(kind, "m", "r", evidence=("log.txt",)) if isinstance(kind, FailureKind) else None
    return PastAttempt(number, "m", 1, str(kind), charged=False, failure=failure, **told)


def test_the_newest_attempt_that_tells_something_says_whether_an_issue_lost_to_main():
    conflict = past(1, FailureKind.MERGE_CONFLICT, changed=("log.txt", "a.py"))
    assert lost_to_main(()) is None
    assert lost_to_main((conflict,)) == (("log.txt",), ("log.txt", "a.py"))
    for nothing in (past(2, "INTERRUPTED"), past(2, FailureKind.RATE_LIMITED), past(2, "PASSED")):
        assert lost_to_main((conflict, nothing)) is not None
    assert lost_to_main((conflict, past(2, FailureKind.TEST_FAILURE))) is None


# Whatever the night is like

NAMES = "abcdefgh"
MODELS = ("opus", "sonnet", "haiku")
STATES = st.builds(
    lambda status, until, satisfied: (status, until, satisfied and status is S.SKIPPED),
    st.sampled_from(S),
    st.none() | st.sampled_from([NOW - 5, NOW, NOW + 5]),
    st.booleans(),
)
NIGHTS = st.fixed_dictionaries(
    {
        "issues": st.lists(
            st.builds(
                lambda name, priority, deps: issue(name, priority, *sorted(deps)),
                st.sampled_from(NAMES),
                st.integers(0, 4),
                st.frozensets(st.sampled_from(NAMES), max_size=2),
            ),
            max_size=8,
            unique_by=lambda i: i.id,
        ),
        "states": st.dictionaries(st.sampled_from(NAMES), STATES),
        "models": st.fixed_dictionaries({name: st.sampled_from(MODELS) for name in NAMES}),
        "waits": st.dictionaries(st.sampled_from(MODELS), st.sampled_from([NOW - 60, NOW, NOW + 60])),
        "at_work": st.frozensets(st.sampled_from(MODELS)),
    }
)


class Night:
    """A random night, and what the rules say of each issue in it, one at a time."""

    def __init__(self, issues, states, models, waits, at_work):
        self.issues = tuple(issues)
        self.states = {
            name: IssueState(name, status, until=until, satisfied=satisfied)
            for name, (status, until, satisfied) in states.items()
        }
        self.models = models
        self.waits = {model: resting(until, model) for model, until in waits.items()}
        self.at_work = at_work

    def plan(self, slots):
        return plan(self.issues, self.states, self.models, self.waits, slots, NOW, self.at_work)

    def done(self, name):
        status, satisfied = self.states[name].status, self.states[name].satisfied
        return status is S.MERGED or (status is S.SKIPPED and satisfied)

    def open_now(self, one):
        """Whether nothing but a provider or a slot can keep an issue from starting."""
        state = self.states.get(one.id, IssueState(one.id))
        met = all(name in self.states and self.done(name) for name in one.depends_on)
        return state.status in (S.READY, S.WAITING) and met and (state.until is None or state.until <= NOW)

    def wait(self, one):
        return self.waits.get(self.models[one.id])


@given(NIGHTS, st.integers(0, 5))
def test_every_open_issue_starts_waits_for_a_reason_or_lacks_a_slot(night, slots):
    told = Night(**night)
    result = told.plan(slots)
    open_ones = {i.id for i in told.issues if told.states.get(i.id, IssueState(i.id)).status in (S.READY, S.WAITING)}
    names = [i.id for i in result.start] + [w.issue_id for w in result.waiting]
    assert len(names) == len(set(names))
    assert set(names) <= open_ones
    assert len(result.start) <= slots
    assert all(w.reason for w in result.waiting)
    if len(result.start) < slots:
        assert set(names) == open_ones
    assert [i.priority for i in result.start] == sorted(i.priority for i in result.start)


@given(NIGHTS)
def test_whoever_can_start_does_however_many_others_are_blocked(night):
    told = Night(**night)
    start = {i.id for i in told.plan(len(NAMES)).start}
    for one in told.issues:
        free = told.open_now(one) and told.wait(one) is None
        if free:
            assert one.id in start
        if one.id in start:
            assert told.open_now(one)


@given(NIGHTS)
def test_nobody_starts_with_a_model_that_is_away_and_one_at_most_tries_it_again(night):
    told = Night(**night)
    start = told.plan(len(NAMES)).start
    for model, wait in told.waits.items():
        mine = [one for one in start if told.models[one.id] == model]
        if wait.open(NOW) or model in told.at_work:
            assert mine == []
        else:
            ready = [one for one in told.issues if told.open_now(one) and told.models[one.id] == model]
            assert len(mine) == min(1, len(ready))


@given(NIGHTS, st.sampled_from(NAMES), st.sampled_from([S.BLOCKED, S.APPROVAL, S.RUNNING]))
def test_what_becomes_of_one_issue_stops_none_that_does_not_depend_on_it(night, name, status):
    before = Night(**night)
    after = Night(**{**night, "states": {**night["states"], name: (status, None, False)}})
    for one in before.plan(len(NAMES)).start:
        probe = before.wait(one) is not None
        if one.id != name and name not in one.depends_on and not probe:
            assert one in after.plan(len(NAMES)).start


@given(NIGHTS, st.frozensets(st.sampled_from(NAMES)), st.frozensets(st.sampled_from(NAMES)), st.integers(0, 5))
def test_nobody_is_beside_one_that_works_alone_and_somebody_always_starts(night, lost, at_work, slots):
    told = Night(**night)
    busy = tuple(one for one in told.issues if one.id in at_work)
    issues = tuple(one for one in told.issues if one.id not in at_work)
    contest = Contest(dict.fromkeys(lost, LOST), busy)
    found = plan(issues, told.states, told.models, {}, slots, NOW, frozenset(), contest)
    beside = (*busy, *found.start)
    for one in found.start:
        if one.id in lost:
            assert beside == (one,)
    if any(one.id in lost for one in busy):
        assert found.start == ()
    if not busy and slots and any(told.open_now(one) for one in issues):
        assert found.start


def test_an_issue_that_has_used_its_share_comes_after_all_others_and_starts_where_there_are_none():
    dear, other, needs_it = issue("1", 0), issue("2", 3), issue("3", 1, "1")
    states = {name: IssueState(name) for name in "123"}
    late = plan((dear, other, needs_it), states, {}, {}, 2, NOW, late=("1",))
    assert [each.id for each in late.start] == ["2", "1"]
    assert [each.id for each in plan((dear, needs_it), states, {}, {}, 1, NOW, late=("1",)).start] == ["1"]
