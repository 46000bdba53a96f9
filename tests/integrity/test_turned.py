"""Tests that ask for other values, in any language, under their own names."""

from support.cases import cases

from noface.integrity.turned import kept, turned, turned_alike, turned_inside


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
        ("a_test.go", '\t\tt.Errorf("of a: got %s, %05d")\n', '\t\tt.Errorf("of a: goq %s, %05d")\n'),
        ("test_a.py", '    assert f() == 3, "got %s" % 1\n', '    assert f() == 7, "goz %s" % 8\n'),
        ("tests/a.rs", '    assert_eq!(f("2d6+1"), 3);\n', '    assert_eq!(f("2d6+7"), 8);\n'),
        (
            "a_test.go",
            "\tfmt.Println(half(6))\n\t// Output:\n\t// 3\n}\n// 5\n",
            "\tfmt.Println(half(6))\n\t// Output:\n\t// 8\n}\n// 5\n",
        ),
        ("a_test.go", "\t// Output: 3\n", "\t// Output: 7\n"),
        ("README.md", "# 3\n\n    >>> half(6)\n    3\n\nSee 3\n", "# 3\n\n    >>> half(6)\n    2\n\nSee 3\n"),
        ("tests/data/a.json", '{\n  "total": 50,\n}\n', '{\n  "total": 55,\n}\n'),
        ("tests/data/a.txt", "one\n\n", "onl\n\n"),
        ("tests/data/a.txt", "\n", None),
        ("tests/data/cases.csv", "1-4,3-8;1-8\n7,1-2;1-2,7\n", "1-4,3-8;1-5\n7,1-2;1-2,2\n"),
        (
            "tests/data/a.json",
            '{\n  "items": [\n    {"a": 1, "b": 2}\n  ]\n}\n',
            '{\n  "items": [\n    {"a": 1, "b": 9}\n  ]\n}\n',
        ),
    ],
)
def test_what_is_asked_for_is_another_value_each_time(path, text, other):
    assert turned(path, text) == other


def test_what_names_a_file_stays_so_that_no_test_misses_it():
    stays = kept(("tests/golden/report.txt", "tests/test_a.py"), {})
    text = '    assert_golden("report.txt", "total 3")\n'
    assert turned("tests/test_a.py", text, stays) == text.replace("total 3", "total 7")


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


TREE = ("shop.py", "tests/test_shop.py", "tests/cases/basic.json", "tests/cases/basic-out.txt", "tests/cases/7")
HOLDER = "def test_a(cents):\n    assert half(case['text']) == cents\n"
STAYS = kept(TREE, {"tests/test_shop.py": HOLDER})


@cases(
    ("path", "text", "other"),
    [
        ("test_a.py", "    check('basic', 'basics')\n", "    check('basic', 'basicp')\n"),  # names a file by its stem
        ("test_a.py", "    f('tests/cases', '../cases/basic.json')\n", None),
        ("test_a.py", "    f(glob('*.json'), f'{name}-out.txt', f'cases/{name}.json')\n", None),
        ("test_a.py", "    f('other.json', 7)\n", "    f('other.jsos', 2)\n"),
        ("a.test.js", "  check('basic', 'x');\n", "  check('basic', 'e');\n"),
        ("a.json", '{"total": 50, "of": ["2.50", true, null]}', '{"total": 55, "of": ["2.58", false, null]}'),
        (
            "a.json",
            '["half", "cents", "text", "basic", "cases/basic.json"]',
            None,
        ),  # code goes by it, or it names a file
        ("a.json", '{"a": "don\'t \\n\\"x\\""}', '{"a": "don\'t \\n\\"b\\""}'),
        ("a.yaml", "a: two words\nb: 'one: x'\nc: [1, -2]\n", "a: two wordy\nb: 'one: b'\nc: [3, -6]\n"),
        ("a.toml", 'cents = 250\ntext = "2.50"\n', 'cents = 256\ntext = "2.58"\n'),
        ("a.csv", "cents,text\n250,2.50 EUR\n", "cents,text\n256,2.50 EUS\n"),
        (
            "a.snap",
            "exports[`price 1`] = `\n<b>\n  2.50\n</b>\n`;\n",
            "exports[`price 1`] = `\n<b>\n  2.58\n</b>\n`;\n",
        ),
        ("a.txt", "\n", None),
    ],
)
def test_data_is_turned_like_code_and_what_names_a_file_stays(path, text, other):
    assert turned_alike(path, text, STAYS) == other


def test_equal_values_stay_equal_over_all_files_and_others_do_not_become_so():
    numbers = [f"{number}" for number in range(1_000)]
    words = [f"{word}{end}" for word in ("", "a", "one ") for end in "abcdefghijklmnopqrstuvwxyzABC"]
    for values in (numbers, words):
        code = turned_alike("test_a.py", "".join(f"check('{value}')\n" for value in values))
        data = turned_alike("a.json", "".join(f'"{value}",\n' for value in reversed(values)))
        now = [line[7:-2] for line in code.splitlines()]
        assert now == [line[1:-2] for line in reversed(data.splitlines())]
        assert len({*now}) == len(values)
        assert all(one != other for one, other in zip(now, values, strict=True))


def test_with_another_shift_each_value_is_another_one_again():
    text = "f('a', 'B', 3, 250, '2.50')\n"
    assert len({turned_alike("test_a.py", text, shift=shift) for shift in range(9)} - {text, None}) == 9


@cases(
    ("path", "text"),
    [
        ("a_test.go", 'import (\n\t"testing"\n\n\t"example.org/shop/money"\n)\n'),
        ("a_test.go", 'import "example.org/shop/money"\n'),
        ("a.test.js", "const assert = require('node:assert/strict');\n"),
        ("a.test.ts", "import { Cart } from '@shop/cart2';\n"),
        ("a.test.ts", "import {\n  Cart,\n} from '@shop/cart2';\n"),
    ],
)
def test_what_is_imported_stays(path, text):
    assert turned_alike(path, text) is None
