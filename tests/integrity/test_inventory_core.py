import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.integrity.inventory import (
    Inventory,
    Outcome,
    Shortfall,
    agreed,
    base_of,
    compared,
    each_once,
    inventory,
    joined,
    merged,
    steady,
)
from noface.model.codec import decode, encode

OUTCOMES = {"P": Outcome.PASSED, "F": Outcome.FAILED, "S": Outcome.SKIPPED}


def run(text, *, complete=True, count=None):
    """Return an inventory written as "id=P other=S"."""
    pairs = [word.rpartition("=") for word in text.split()]
    return inventory([(name, OUTCOMES[end]) for name, _, end in pairs], "pytest", complete=complete, count=count)


names = st.text("ab[]:# 1", min_size=1, max_size=6)
runs = st.lists(st.tuples(names, st.sampled_from(Outcome)), max_size=8).map(lambda tests: inventory(tests, "pytest"))


def test_what_passed_on_main_must_be_there_and_pass():
    main = run("a=P b=P c=P d=P e=S f=F")
    assert compared(main, run("a=P b=S c=F e=P new=F")) == Shortfall(gone=("d",), skipped=("b",), failed=("c",))


def test_more_is_no_shortfall():
    assert not compared(run("a=P b=F c=S"), run("a=P b=P c=P d=F")).short


def test_a_run_that_broke_off_shows_where_mains_did_not():
    cut = run("a=P", complete=False)
    assert compared(run("a=P"), cut) == Shortfall(broken_off=True)
    assert not compared(cut, cut).short


def test_nothing_reported_at_all_is_everything_gone():
    assert compared(run("a=P b=P"), None) == Shortfall(gone=("a", "b"), broken_off=True)


def test_numbers_are_compared_where_main_has_no_names():
    main = run("", count=3)
    assert compared(main, run("", count=2)).fewer == (3, 2)
    assert not compared(main, run("", count=3)).short
    assert not compared(main, run("a=P b=P c=P d=S")).short
    assert compared(main, run("a=P b=P c=S")).fewer == (3, 2)


def test_a_name_that_stands_there_twice_is_counted_whatever_the_order():
    main = run("a=P a=S a=P")
    assert [name for name, _ in main.tests] == ["a", "a #2", "a #3"]
    assert compared(main, run("a=S a=P a=P")) == Shortfall()
    assert compared(main, run("a=P")).gone == ("a #2",)
    assert compared(main, run("a=S a=S a=P")).skipped == ("a #2",)


def test_runs_of_one_gate_are_joined():
    joint = merged([run("a=P b=S c=P"), run("a=F b=P d=P", complete=False)])
    assert joint == Inventory(run("a=F b=P c=P d=P").tests, complete=False, runners=("pytest",))
    assert merged([]) is None
    assert merged([run("", count=2), run("", count=3)]).count == 5


def test_ids_that_differ_between_runs_of_one_code_are_compared_by_their_number():
    main = agreed(
        run("t::r[0.17]=P t::r[0.3]=P t::a[x]=P t::a[y]=P"), run("t::r[0.9]=P t::r[0.4]=P t::a[x]=P t::a[y]=P")
    )
    assert main.unsteady == ("t::r",)
    assert not compared(main, run("t::r[0.5]=P t::r[0.6]=P t::a[x]=P t::a[y]=P")).short
    assert compared(main, run("t::r[0.5]=P t::a[x]=P t::a[y]=P")).gone == ("t::r",)
    assert compared(main, run("t::r[0.5]=P t::r[0.6]=F t::a[x]=P t::a[y]=P")).failed == ("t::r",)
    assert compared(main, run("t::r[0.5]=S t::r[0.6]=S t::a[x]=P t::a[z]=P")) == Shortfall(
        gone=("t::a[y]",), skipped=("t::r", "t::r")
    )


def test_without_a_second_run_other_parameters_are_other_tests():
    assert compared(run("t::a[hard]=P"), run("t::a[easy]=P")).gone == ("t::a[hard]",)


def test_what_passed_in_one_of_two_runs_is_not_required():
    main = agreed(run("a=P b=P c=P d=P"), run("a=P b=F c=S"))
    assert [name for name, outcome in main.tests if outcome is Outcome.PASSED] == ["a"]
    assert not compared(main, run("a=P")).short


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("a/test_b.py::test_c[1-x]", "a/test_b.py::test_c"),
        ("app/[id]/page.test.ts::sums 17 and 4", "app/[id]/page.test.ts::sums 0 and 0"),
        ("adds #12", "adds"),
        ("t.py::test_1[a] #2", "t.py::test_0"),
    ],
)
def test_the_base_of_an_id(name, base):
    assert base_of(name) == base


@given(runs)
def test_a_run_falls_short_of_itself_in_nothing_and_is_kept_as_json(one):
    assert compared(one, one) == Shortfall()
    assert agreed(one, one) == one
    assert merged([one, one]) == one
    assert decode(Inventory, json.loads(json.dumps(encode(one)))) == one


@given(runs, runs)
def test_neither_of_two_runs_falls_short_of_what_they_agree_on(one, other):
    main = agreed(one, other)
    assert not compared(main, one).short
    assert not compared(main, other).short


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/work/slot-1/a/test_b.py::test_c", "a/test_b.py::test_c"),
        ("t.py::test[<object object at 0x7f0cf15a5c40>]", "t.py::test[<object object at 0x…>]"),
        ("t.py::test[0xff]", "t.py::test[0xff]"),
        ("t.py::test[/tmp/pytest-of-me/pytest-12/x0/a.txt]", "t.py::test[…]"),
        ("t.js::reads /tmp/abc-123/file, twice", "t.js::reads …, twice"),
        ("t.py::test[/work/slot-1/data/x.json]", "t.py::test[data/x.json]"),
        ("t.py::test[a\nb\x1b[31m\ud800]", "t.py::test[a b ?]"),
        ("src/tmp/x.py::test", "src/tmp/x.py::test"),
    ],
)
def test_an_id_is_the_same_in_each_checkout_and_run(name, expected):
    assert steady(name, ("/work/slot-1",)) == expected


def test_an_id_is_bounded():
    assert len(steady("x" * 100_000)) == 2_000


@pytest.mark.parametrize(
    ("root", "name", "expected"),
    [
        ("/work/api", "tests/test_a.py::test_b[../x]", "/work/api/tests/test_a.py::test_b[../x]"),
        ("/work/api", "../lib/test_a.py::test_b", "/work/lib/test_a.py::test_b"),
        ("/work/api", "/else/test_a.py::test_b", "/else/test_a.py::test_b"),
        ("/work", "../../../x.py::t", "/x.py::t"),
    ],
)
def test_a_path_counts_from_the_folder_of_the_run(root, name, expected):
    assert joined(root, name) == expected


def test_each_test_of_mains_passes_once_where_a_second_run_of_it_lacks():
    main = inventory(
        [("a", Outcome.PASSED), ("a", Outcome.PASSED), ("b", Outcome.PASSED), ("c", Outcome.SKIPPED)], "jest"
    )
    assert each_once(main, inventory([("a", Outcome.PASSED), ("b", Outcome.PASSED)], "jest"))
    assert not each_once(main, inventory([("a", Outcome.PASSED)], "jest"))
    assert not each_once(main, inventory([("a", Outcome.PASSED), ("b", Outcome.SKIPPED)], "jest"))
    assert not each_once(
        main, inventory([("a", Outcome.PASSED), ("b", Outcome.PASSED), ("new", Outcome.FAILED)], "jest")
    )
