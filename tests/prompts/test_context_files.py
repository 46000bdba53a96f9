"""Which files of the project an unsure worker is shown (K3, P7)."""

from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind
from noface.prompts.context_files import context_files

TRACKED = ("src/shop/order.py", "src/shop/stock.py", "tests/test_order.py", "docs/order/design.md", "README.md")
FAILURE = Failure(FailureKind.AGENT_CONFUSION, "where is the order?", rule="r", location="src/shop/stock.py:3")


def found(issue, failure=None, named=(), most=5):
    return context_files(issue, failure, named, TRACKED, most)


def test_files_that_are_named_come_first_and_those_an_answer_names_before_all():
    issue = Issue("7", "Seven", "See src/shop/order.py for how it is done.")
    matched = found(issue, FAILURE, ("tests/test_order.py",))
    assert matched == ("tests/test_order.py", "src/shop/stock.py", "src/shop/order.py")


def test_what_is_not_named_is_looked_for_by_name_and_words():
    by_name = found(Issue("7", "Seven", "the file order.py is wrong"))
    assert by_name == ("src/shop/order.py",)
    by_words = found(Issue("7", "Order design"))
    assert by_words[0] == "docs/order/design.md"


def test_where_nothing_fits_nothing_is_shown():
    assert found(Issue("7", "Zebra crossing")) == ()
    assert found(Issue("7", "?")) == ()


def test_no_more_are_shown_than_asked_for_and_none_that_are_not_tracked():
    issue = Issue("7", "Seven", "src/shop/order.py src/shop/stock.py /etc/passwd ../secret.py")
    assert found(issue, most=1) == ("src/shop/order.py",)
    assert set(found(issue)) <= set(TRACKED)
