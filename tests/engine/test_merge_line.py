"""The merge queue's line, in thousands of nights of which it is known who breaks whom."""

import random
from dataclasses import replace

import pytest
from support.queue_model import Night, World, limit, throughput

from noface.engine.landing.line import MergeLine, Stack, ends_of_prefixes

WORLDS = {
    "breaks main": World(red=0.2),
    "breaks each other": World(red=0.02, pairs=0.2),
    "one slot": World(slots=1, red=0.1, pairs=0.1),
    "withdrawn while stacked": World(red=0.1, withdrawn=0.3, spread=0.5),
    "conflicts inside the stack": World(red=0.05, conflicts=0.3, spread=0.5),
    "a person commits": World(red=0.05, person=0.2, spread=0.5),
    "each by itself": World(red=0.1, each=True, withdrawn=0.1, spread=0.3),
    "for pull requests": World(red=0.1, apart=True, withdrawn=0.1, spread=0.3),
    "all at once": World(slots=8, workers=60, red=0.1, pairs=0.1, withdrawn=0.1, conflicts=0.1, person=0.1, spread=1.0),
    "a queue of one": World(workers=1, agent=5.0, red=0.2),
}


@pytest.mark.parametrize("seeds", [range(30), pytest.param(range(30, 400), marks=pytest.mark.thorough)])
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_what_lands_is_green_nobody_is_forgotten_and_no_innocent_is_rejected(world, seeds):
    for seed in seeds:
        night = Night(world, seed).play()
        assert not night.faults, seed
        assert not night.innocent, seed


@pytest.mark.parametrize("flaky", [0.03, 0.1])
def test_gates_that_fail_now_and_then_land_nothing_red_and_hardly_reject_anybody(flaky):
    nights = [Night(World(candidates=300, red=0.05, flaky=flaky, spread=0.3), seed).play() for seed in range(20)]
    assert not any(night.faults for night in nights)
    innocent = sum(len(night.innocent) for night in nights) / sum(night.world.candidates for night in nights)
    assert innocent < flaky / 3, "one gate after another rejects as many as its gate fails"


@pytest.mark.parametrize(
    ("slots", "red", "at_least"), [(1, 0.05, 2.5), (2, 0.05, 4.5), (4, 0.05, 8.0), (1, 0.2, 0.8), (4, 0.2, 2.0)]
)
def test_it_lands_so_much_in_the_time_of_a_gate_and_no_more_than_can_be_known(slots, red, at_least):
    # A tenth less: here the night is short, and its end counts.
    lands = throughput(World(slots, workers=32, candidates=600, red=red))
    assert 0.9 * at_least <= lands <= limit(red, slots)


def test_a_red_prefix_inside_a_longer_green_one_lands_with_it():
    line = MergeLine()
    for name in "abc":
        line.add(name)
    stacks = line.begin(line.wanted(3, "abc"), 3)
    assert stacks == (Stack(("a",)), Stack(("a", "b")), Stack(("a", "b", "c")))
    assert not line.ended(stacks[1], green=False).lands
    verdict = line.ended(stacks[2], green=True)
    assert verdict.lands == (stacks[2],)
    assert verdict.moot == (stacks[0],)


def test_only_the_gap_steps_aside_and_a_single_suspect_is_proven_once_more():
    line = MergeLine()
    for name in "abcd":
        line.add(name)
    one, two, three, four = line.begin(line.wanted(4, "abcd"), 4)
    verdicts = [line.ended(stack, green=stack == one) for stack in (one, two, three, four)]
    assert [verdict.lands for verdict in verdicts] == [(), (), (), (one,)]
    assert line.line == ["c", "d"]
    assert line.search() == Stack(("b",), 1)
    assert line.ended(Stack(("b",), 1), green=False).rejected == "b"


def test_who_is_red_in_the_gap_and_alone_on_main_is_rejected_and_the_rest_goes_back_to_the_line():
    line = MergeLine()
    for name in "abc":
        line.add(name)
    (whole,) = line.begin(line.wanted(1, "ab"), 1)
    assert not line.ended(whole, green=False).lands
    half = line.search()
    assert half == Stack(("a",), 1)
    assert line.ended(half, green=False).rejected == "a"
    assert line.line == ["b", "c"]


def test_who_is_left_red_when_the_others_are_withdrawn_is_proven_by_itself_before_it_is_rejected():
    line = MergeLine()
    for name in "ab":
        line.add(name)
    one, _ = line.begin(line.wanted(2, "ab"), 2)
    assert line.ended(one, green=False).rejected is None
    assert line.withdraw("b").rejected is None
    assert (line.line, line.search()) == ([], Stack(("a",), 1))


def test_a_red_result_is_looked_at_again_only_if_it_rejects():
    # In a round of several it would hold up the slots of the others for three gates, and be proven once more anyway.
    line = MergeLine()
    for name in "abc":
        line.add(name)
    stacks = line.begin(line.wanted(2, "abc"), 2)
    assert not any(map(line.decides, stacks))
    assert line.withdraw("b").rejected is None
    assert line.ended(stacks[0], green=False).rejected is None
    assert line.decides(line.search())
    (alone,) = line.begin(line.wanted(2, "c"), 2)
    assert line.decides(alone)


def test_a_result_that_says_nothing_has_the_next_go_alone():
    line = MergeLine()
    for name in "ab":
        line.add(name)
    whole = line.begin(line.wanted(1, "ab"), 1)[-1]
    assert line.ended(whole, green=None).rejected is None
    assert line.wanted(4, "ab") == ("a",)


def test_suspects_whose_proofs_say_nothing_are_not_searched_for_ever():
    line = MergeLine()
    line.line = [*"abcdefgh"]
    line.ended(line.begin(line.wanted(1, line.line), 1)[0], green=False)
    searches = sum(1 for _ in range(9) if (stack := line.search()) is not None and line.ended(stack, green=None))
    assert searches < 5
    assert sorted(line.line) == list("abcdefgh")


def test_prefixes_divide_the_chance_of_the_first_red_evenly():
    assert ends_of_prefixes(3, 4, 0.05) == (1, 2, 3)
    assert ends_of_prefixes(20, 1, 0.05) == (20,)
    dice = random.Random(1)
    for _ in range(500):
        count, slots, red = dice.randint(1, 80), dice.randint(1, 16), dice.uniform(0.005, 0.6)
        ends = ends_of_prefixes(count, slots, red)
        assert ends[-1] == count
        assert len(ends) <= slots or count <= slots
        assert list(ends) == sorted({*ends})
        assert ends[0] >= 1


def test_the_simulation_would_notice_a_line_that_lands_what_is_red():
    night = Night(replace(WORLDS["breaks main"], red=0.5), 1)
    night.line.ended = lambda stack, **_: MergeLine.ended(night.line, stack, green=True)
    assert any("red on main" in fault for fault in night.play().faults)
