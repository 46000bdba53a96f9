"""Tests that ask for other values, in any language, under their own names."""

from support.cases import cases

from noface.integrity.turned import turned, turned_alike, turned_inside


@cases(
    ("path", "text", "other"),
    [
        ("test_a.py", "def test_a():\n    assert half(6) == 3\n", "def test_a():\n    assert half(7) == 8\n"),
        ("test_a.py", "    assert case['total'] == 3\n", "    assert case['total'] == 7\n"),
        ("test_a.py", "    x = 3\n", None),  # asks for nothing
        ("test_a.py", "    with self.assertRaises(ValueError):\n", "    with self.assertRaises(FloatingPointError):\n"),
        ("test_a.py", "    assert f() is True\n", "    assert f() is False\n"),
        ("test_a.py", "    assert f('a\\n') == 'b'\n", "    assert f('q\\n') == 'z'\n"),
        ("test_a.py", "    assert f(\n        1,\n    )\n    y = 2\n", "    assert f(\n        7,\n    )\n    y = 2\n"),
        ("test_a.py", '    """Half of 6 == 3."""\n', None),
        (
            "a.test.js",
            "it('is 3', () => assert.equal(half(6), 3));\n",
            "it('is 3', () => assert.equal(half(7), 8));\n",
        ),
        (
            "a.test.ts",
            "  expect(() => f('a')).toThrow(RangeError);\n",
            "  expect(() => f('q')).toThrow(EvalError);\n",
        ),
        ("a.test.ts", "  expect(f()).toEqual({ row: 2 });\n", "  expect(f()).toEqual({ row: 7 });\n"),
        ("a_test.go", '\tif got != "7" {\n', '\tif got != "3" {\n'),
        ("tests/a.rs", '    assert_eq!(f("2d6+1"), 3);\n', '    assert_eq!(f("2d6+7"), 8);\n'),
        (
            "a_test.go",
            "\tfmt.Println(half(6))\n\t// Output:\n\t// 3\n}\n// 5\n",
            "\tfmt.Println(half(6))\n\t// Output:\n\t// 8\n}\n// 5\n",
        ),
        ("a_test.go", "\t// Output: 3\n", "\t// Output: 7\n"),
        ("README.md", "# 3\n\n    >>> half(6)\n    3\n\nSee 3\n", "# 3\n\n    >>> half(6)\n    2\n\nSee 3\n"),
        ("tests/data/a.json", '{\n  "total": 50,\n}\n', '{\n  "total": 53,\n}\n'),
        ("tests/data/a.txt", "one\n\n", "onq\n\n"),
        ("tests/data/a.txt", "\n", None),
    ],
)
def test_what_is_asked_for_is_another_value_each_time(path, text, other):
    assert turned(path, text) == other


@cases(
    ("path", "text", "other"),
    [
        ("a.py", 'def f():\n    """Is 3.\n\n    >>> f()\n    3\n    """\n    assert 1 == 1\n', "    2\n"),
        ("a.py", 'def f():\n    """Is 3."""\n', None),
        ("a.rs", "/// ```\n/// assert_eq!(f(), 3);\n/// ```\nfn f() -> i32 { 3 }\n", "f(), 8)"),
        ("a.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n    fn t() { assert_eq!(f(1), 3); }\n}\n", "f(7), 8)"),
        ("a.c", "int f;\n#ifdef TEST\nint main(void) { assert(f == 3); }\n#endif\n", "f == 7)"),
    ],
)
def test_tests_and_examples_inside_a_source_ask_for_other_values_and_the_rest_stays(path, text, other):
    now = turned_inside(path, text)
    assert (now is None) if other is None else (other in now and len(now) == len(text))


def test_what_is_equal_in_a_test_is_not_so_any_more():
    assert turned("test_a.py", "    assert f('same') == 'same'\n") == "    assert f('samq') == 'samz'\n"


@cases(
    ("text", "line"),
    [
        ("def test_a():\n    n = 6\n    assert half(6) == n\n", "    assert half(7) == n"),  # equal values stay equal
        ("@parametrize('n', [6])\ndef test_a(n):\n    assert half(n) == 3\n", "@parametrize('n', [7])"),  # names stay
        ("def test_a():\n    assert half(6) == 3\n", "    assert half(7) == 8"),
    ],
)
def test_values_are_turned_alike(text, line):
    assert line in turned_alike("test_a.py", text).splitlines()
