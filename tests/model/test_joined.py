"""Several issues whose work is proven together are one issue: each may change what it may alone."""

from noface.integrity.judges import lifted
from noface.model.issue import Issue, joined

A = Issue("a", "Add a cart", "Please.", paths=("shop/**",), may_change=("tests/test_cart.py",))
B = Issue("b", "Sell it", paths=("sales/**",), accept=("make sales",))


def test_one_issue_is_itself():
    assert joined((A,)) is A


def test_together_they_may_change_what_one_of_them_may():
    both = joined((A, B))
    assert (both.paths, both.accept) == (("shop/**", "sales/**"), ("make sales",))
    assert [lifted("tests/test_cart.py", each) for each in (A, B, both)] == [True, False, True]


def test_an_issue_without_paths_leaves_them_all_without():
    assert joined((A, Issue("c", "Anything"))).paths == ()
