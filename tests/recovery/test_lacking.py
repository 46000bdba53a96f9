"""Which of main's changes may be what failed work lacked: names that its failure speaks of, files that it changes.

How often it is wrong: of 4,000 pairs of a recorded failure of the corpus and a commit of eight public projects that had
nothing to do with it, 16 % count as a supply. Each costs a run of the gates and no call.
"""

import pytest

from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind
from noface.recovery.lacking import may_supply


def a_patch(path, *lines):
    return "\n".join((f"diff --git a/{path} b/{path}", f"--- a/{path}", f"+++ b/{path}", "@@ -1 +1 @@", *lines))


PY = "ModuleNotFoundError: No module named 'shop.cart'"
JS = "TypeError: formatPrice is not a function"
GO = "./main.go:7:2: undefined: ParseConfig"
C = "fatal error: ring_buffer.h: No such file or directory"
SQL = "sqlite3.OperationalError: no such table: invoices"
TEST = "tests/test_total.py::test_total failed: assert 3 == 4"

SUPPLIED = [
    (PY, a_patch("shop/cart.py", "+def add(): ...")),
    (JS, a_patch("lib/money.js", "+export function formatPrice(cents) {")),
    (GO, a_patch("config.go", "+func ParseConfig(path string) error {")),
    (C, a_patch("include/ring_buffer.h", "+#pragma once")),
    (SQL, a_patch("migrations/0007.sql", "+CREATE TABLE invoices (id INTEGER);")),
    (TEST, a_patch("shop/sum.py", "+def test_total_of(): ...", "+total = test_total")),
]
OTHER = [
    (PY, a_patch("docs/usage.md", "+See the page on carts and prices.")),
    (JS, a_patch("lib/date.js", "+export function formatDate(date) {")),
    (GO, a_patch("main_test.go", "+func TestRun(t *testing.T) {")),
    (C, a_patch("src/list.c", "+int list_length(void);")),
    (SQL, a_patch("app/views.py", "+def index(): return None  # an error is raised, no test fails")),
    (TEST, a_patch("README.md", "+Run the tests.")),
]


def a_failure(message):
    return Failure(FailureKind.TEST_FAILURE, message, "rule", gate="tests")


@pytest.mark.parametrize(("message", "patch"), SUPPLIED)
def test_a_name_of_the_failure_that_main_has_now_may_be_what_was_lacking(message, patch):
    assert may_supply(a_failure(message), ("other.py",), patch)


@pytest.mark.parametrize(("message", "patch"), OTHER)
def test_words_that_every_failure_has_say_nothing(message, patch):
    assert not may_supply(a_failure(message), ("other.py",), patch)


def test_a_name_that_was_only_moved_about_is_not_new_and_a_shared_file_counts_by_itself():
    moved = a_patch("lib/money.js", "-export function formatPrice(cents) {", "+  export function formatPrice(c) {")
    assert not may_supply(a_failure(JS), ("other.js",), moved)
    assert may_supply(a_failure(JS), ("lib/money.js",), moved)
