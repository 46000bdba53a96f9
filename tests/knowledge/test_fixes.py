"""What mended a failure: the difference of two patches, and which failures a change can mend (S7, N16)."""

import pytest

from noface.knowledge.fixes import LINES_MAX, Fix, fix_of, in_workers_hands, parts_of
from noface.model.failure import Failure
from noface.model.patch import ChangedLine
from noface.model.taxonomy import FailureKind


def patch(path, *lines):
    return f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,9 +1,9 @@\n" + "".join(
        f"{line}\n" for line in lines
    )


def red(message="the basket of ann is empty", kind=FailureKind.TEST_FAILURE, **more):
    return Failure(kind, message, rule="r", **{"gate": "unit", "signature": "s", **more})


def test_a_mend_is_what_the_attempt_that_passed_has_and_the_failed_one_has_not():
    failed = patch("src/a.py", "-old", "+kept", "+wrong") + patch("notes.txt", "+a note")
    passed = patch("src/a.py", "-old", "+kept", "+right", "-other")
    mend = fix_of(failed, passed)
    assert mend.lines == (
        ChangedLine("src/a.py", True, "wrong"),
        ChangedLine("src/a.py", True, "other"),
        ChangedLine("src/a.py", False, "right"),
        ChangedLine("notes.txt", True, "a note"),
    )
    assert mend.files == ("src/a.py", "notes.txt")
    assert mend.excerpt() == "src/a.py\n- wrong\n- other\n+ right\nnotes.txt\n- a note"


def test_a_line_that_the_failed_attempt_had_removed_comes_back():
    assert fix_of(patch("a.py", "-guard()"), patch("a.py", "+x")).lines == (
        ChangedLine("a.py", False, "guard()"),
        ChangedLine("a.py", False, "x"),
    )


def test_another_solution_and_no_difference_tell_nothing():
    assert not fix_of(patch("a.py", "+x"), patch("a.py", "+x")).telling
    assert not Fix((ChangedLine("a.py", False, "  "),)).telling, "blank lines alone mended nothing"
    assert fix_of("", patch("a.py", *(f"+{n}" for n in range(LINES_MAX)))).telling
    assert not fix_of("", patch("a.py", *(f"+{n}" for n in range(LINES_MAX + 1)))).telling


def test_an_excerpt_is_bounded_and_drives_no_terminal():
    lines = tuple(ChangedLine("a.py", False, "\x1b[2J" + "x" * 999) for _ in range(20))
    excerpt = Fix(lines).excerpt()
    assert excerpt.endswith("\n… and 8 more lines")
    assert "\x1b" not in excerpt
    assert max(map(len, excerpt.splitlines())) <= 162


@pytest.mark.parametrize(
    ("failure", "teaches"),
    [
        (red(), True),
        (red(kind=FailureKind.LINT_FAILURE), True),
        (red("Error: connect ETIMEDOUT 10.0.0.1:443"), False),
        (red("requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://x"), False),
        (red("OSError: [Errno 28] No space left on device"), False),
        (red(kind=FailureKind.ENVIRONMENT), False),
        (red(kind=FailureKind.RATE_LIMITED, gate=None), False),
        (red(kind=FailureKind.TIMEOUT), False),
        (red(kind=FailureKind.NO_DIFF, gate=None), False),
        (red(kind=FailureKind.REVIEW_REJECTED, gate=None), False),
        (red(charged=False), False),
    ],
)
def test_only_what_a_change_can_mend_teaches(failure, teaches):
    assert in_workers_hands(failure) is teaches


def test_a_failure_concerns_where_it_happened_what_failed_and_what_was_changed():
    failure = red(location="src/shop/cart.py:7", failing_tests=("tests/test_cart.py::test_total[a b]", "total"))
    assert parts_of(failure, ("setup.py", "src/shop/cart.py")) == ("src/shop/cart.py", "setup.py", "tests/test_cart.py")
    assert parts_of(red(), ()) == ()
