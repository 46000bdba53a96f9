"""What starts now, whatever the night is like: properties of `core/schedule.py` (L9, N1)."""

from hypothesis import given, settings
from hypothesis import strategies as st
from test_schedule import NOW, S, issue, resting

from noface.core.issue import IssueState
from noface.core.schedule import plan

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


@settings(deadline=None, max_examples=300)
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


@settings(deadline=None, max_examples=300)
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


@settings(deadline=None, max_examples=300)
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


@settings(deadline=None, max_examples=200)
@given(NIGHTS, st.sampled_from(NAMES), st.sampled_from([S.BLOCKED, S.APPROVAL, S.RUNNING]))
def test_what_becomes_of_one_issue_stops_none_that_does_not_depend_on_it(night, name, status):
    before = Night(**night)
    after = Night(**{**night, "states": {**night["states"], name: (status, None, False)}})
    for one in before.plan(len(NAMES)).start:
        probe = before.wait(one) is not None
        if one.id != name and name not in one.depends_on and not probe:
            assert one in after.plan(len(NAMES)).start


@settings(deadline=None, max_examples=200)
@given(NIGHTS)
def test_only_what_waits_for_a_person_is_hopeless(night):
    told = Night(**night)
    for waiting in told.plan(0).waiting:
        if waiting.hopeless:
            assert waiting.until is None
            assert any(
                state.status in (S.BLOCKED, S.APPROVAL, S.SKIPPED) and not told.done(name)
                for name, state in told.states.items()
            )
