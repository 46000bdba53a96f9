"""Which tests a change concerns most."""

from support.cases import cases

from noface.integrity.nearest import changed_names, nearest
from noface.integrity.strength import all_bodies

TESTS = {
    "tests/test_cart.py": "def test_total():\n    assert total([1, 2]) == 3\n\n\ndef test_tax():\n    assert tax(100) == 19\n",
    "tests/test_all.py": "def test_shop():\n    assert total([2]) + tax(0) == 2\n\n\ndef test_date():\n    assert today()\n",
}
HEAD = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n"


def patch(path, *lines, inside="class Cart:"):
    return HEAD.format(path) + f"@@ -1,1 +1,1 @@ {inside}\n" + "".join(f"{line}\n" for line in lines)


@cases(
    ("change", "most", "names"),
    [
        (patch("cart.py", "-def tax(price):", "+def tax(price, rate):"), 2, ["test_tax", "test_shop"]),
        (patch("cart.py", "-    return sum(items)", "+    return 0", inside="def total(items):"), 1, ["test_total"]),
        (patch("README.md", "-tax", "+total"), 9, []),
        (patch("cart.py", "-    return 1", "+    return 2"), 9, []),
    ],
)
def test_those_come_first_that_name_what_is_changed(change, most, names):
    tests = [body for body in all_bodies(TESTS).values() if body.test]
    assert [body.name for body in nearest(tests, changed_names(change, {"cart.py"}), most)] == names
