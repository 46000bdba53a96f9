"""Which files a worker is given whose agent finds none by itself."""

from noface.extras.given_files.read import FILES_MAX, given_files
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind

TRACKED = (
    "src/shop/order.py", "src/shop/stock.py", "src/money.py", "src/__init__.py", "src/shop/__init__.py",
    "tests/test_order.py", "tests/test_stock.py", "conftest.py", "README.md",
)  # fmt: skip
FAILURE = Failure(
    FailureKind.TEST_FAILURE,
    "1 failed",
    rule="r",
    location="tests/test_stock.py:3",
    excerpt='File "src/shop/stock.py", line 9',
)


def given(issue, failure=None, changed=(), tracked=TRACKED):
    return given_files(
        issue, failure, changed, tracked, lambda path: path == "conftest.py", lambda path: "test_" in path
    )


def test_what_the_issue_s_paths_name_comes_first_and_a_pattern_that_means_few_files_is_expanded():
    assert given(Issue("1", "One", paths=("src/money.py", "new.py"))) == (("src/money.py",), ())
    assert given(Issue("1", "One", "See order.py.", paths=("src/shop/**",)))[0] == (
        "src/shop/order.py", "src/shop/stock.py", "src/shop/__init__.py",
    )  # fmt: skip


def test_a_pattern_that_means_many_files_only_says_where_the_work_lies():
    many = tuple(f"lib/m{number}.py" for number in range(40))
    assert given(Issue("1", "One", "Mend lib/m7.py.", paths=("lib/**",)), tracked=many) == (("lib/m7.py",), ())
    named = " ".join(many)
    assert len(given(Issue("1", "One", named), tracked=many)[0]) == FILES_MAX


def test_files_are_named_in_full_or_by_a_name_that_no_other_has():
    assert given(Issue("1", "Mend money.py", "and src/shop/order.py; __init__.py; money")) == (
        ("src/money.py", "src/shop/order.py"), (),
    )  # fmt: skip


def test_what_the_failure_names_is_given_and_a_test_that_nobody_else_names_is_only_read():
    issue = Issue("1", "One")
    assert given(issue, FAILURE, ("src/money.py", "gone.py")) == (
        ("src/shop/stock.py", "src/money.py"),
        ("tests/test_stock.py",),
    )
    assert given(Issue("1", "One", paths=("tests/**",)), FAILURE)[1] == ()
    assert given(issue, FAILURE, ("tests/test_stock.py",))[1] == ()


def test_what_must_not_be_changed_is_only_read():
    assert given(Issue("1", "One", "It stands in conftest.py and README.md.")) == (("README.md",), ("conftest.py",))
