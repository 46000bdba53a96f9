"""Tests inside source files: main's judge, and the product around them is the change's."""

import pytest
from support.cases import cases

from noface.integrity.inner_tests import with_main_tests

CMAKE = """project(half C)
add_executable(half half.c)
add_test(NAME six COMMAND half 6)
set_tests_properties(six PROPERTIES
  PASS_REGULAR_EXPRESSION "^3$")
"""


def test_what_ctest_runs_and_wants_is_main_s_and_how_it_is_built_the_change_s():
    now = CMAKE.replace("half.c", "half.c halve.c").replace("^3$", "^.$") + "add_test(NAME eight COMMAND half 8)\n"
    assert with_main_tests("src/CMakeLists.txt", CMAKE, now) == CMAKE.replace("half.c", "half.c halve.c")
    assert with_main_tests("CMakeLists.txt", CMAKE, CMAKE.replace("half.c", "halve.c")) is None
    gone = CMAKE.replace("add_test(NAME six COMMAND half 6)\n", "")
    assert "add_test(NAME six" in (with_main_tests("CMakeLists.txt", CMAKE, gone) or "")


C = """int less(int a, int b) { return a < b; }
#ifdef SHOP_TEST_MAIN
#if defined(__linux__)
#include <stdio.h>
#endif
int main(void) { return less(1, 2) ? 0 : 1; }
#endif
int more(void);
"""
WITH_ELSE = C.replace("#endif\nint more", "#else\nint x;\n#endif\nint more")
RUST = """//! A crate.

/// Doubles.
///
/// ```
/// assert_eq!(shop::twice(4), 8);
/// ```
#[must_use]
pub fn twice(n: u32) -> u32 {
    n * 2
}

#[cfg(test)]
mod tests {
    #[test]
    fn doubles() { assert_eq!(super::twice(4), 8); }
}
"""


@pytest.mark.parametrize(
    ("path", "main", "product", "tests"),
    [
        ("less.c", C, ("a < b", "a > b"), ("? 0 : 1", "? 0 : 0")),
        ("less.cpp", C, ("a < b", "a > b"), ("int main(void) {", "int main(void) { return 0;")),
        ("lib.rs", RUST, ("n * 2", "n * 3"), ("super::twice(4), 8", "super::twice(4), 12")),
    ],
)
def test_a_product_is_judged_by_mains_tests_in_it(path, main, product, tests):
    change = main.replace(*product).replace(*tests)
    assert change != main.replace(*product)
    assert with_main_tests(path, main, change) == main.replace(*product)


@cases(
    ("path", "main", "change"),
    [
        ("less.c", C, C.replace("a < b", "a <= b")),
        ("less.c", WITH_ELSE, WITH_ELSE.replace("int x;", "int y;")),
        ("less.c", C.removesuffix("#endif\nint more(void);\n"), C),
        ("less.c", C.replace("SHOP_TEST_MAIN", "LATEST"), C.replace("SHOP_TEST_MAIN", "LATEST").replace("0 : 1", "1")),
        ("less.java", C, C.replace("0 : 1", "0 : 0")),
        ("lib.rs", RUST, RUST.replace("Doubles", "Makes twice as much of it")),
        ("lib.rs", RUST, RUST.replace("n * 2", "n + n")),
    ],
)
def test_where_no_test_of_mains_is_altered_nothing_is_put_back(path, main, change):
    assert with_main_tests(path, main, change) is None


def test_what_is_lost_is_put_back_and_what_is_new_is_taken_out():
    bare = C.replace(C[C.index("#ifdef") : C.index("int more")], "")
    assert "int main(void)" in (with_main_tests("less.c", C, bare) or "")
    assert with_main_tests("less.c", bare, C) == bare
