"""Which tests look at the product no longer, though they keep all that they assert, in several languages.

On the newest 120 commits each of 79 public projects (9,480 without merges, of which 2,741 touch tests) something is found
in one: tests of a module for compatibility that call Python's own functions instead. Eleven of the projects (1,320
commits) were looked at only when the rules stood; one commit there, whose scripts for tests were taken for tests, was
mended afterwards. Before, each version was mended by what it found: at first in 6 of 4,080 commits.
"""

import pytest

from noface.integrity.looking import looked_at_less
from noface.integrity.origins import Side
from noface.integrity.tampering import is_code, is_test_file

PY = {
    "shop/__init__.py": "from shop.price import total\n",
    "shop/price.py": "import time\nfrom shop.rates import fetch\n\n\ndef total(prices):\n    return sum(prices)\n",
    "shop/rates.py": "def fetch():\n    return {}\n",
    "tests/helpers.py": "from shop import total\n\n\ndef basket(*prices):\n    return total(prices)\n",
    "tests/conftest.py": "import pytest\nimport shop\n\n\n@pytest.fixture\ndef sums():\n    return shop.total\n",
    "tests/test_price.py": (
        "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n    assert total([]) == 0\n"
    ),
}
FIXTURE = {**PY, "tests/test_price.py": "def test_total(sums):\n    assert sums([1, 2]) == 3\n"}
MODULE = {**PY, "tests/test_price.py": "import shop\n\n\ndef test_total():\n    assert shop.total([1, 2]) == 3\n"}
CASE = {
    **PY,
    "tests/test_price.py": (
        "import unittest\nfrom shop import total\n\n\nclass PriceTest(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"
    ),
}
JS = {
    "package.json": '{"name": "shop"}',
    "lib/shop.js": "exports.total = (prices) => prices.reduce((a, b) => a + b, 0);\n",
    "test/shop.test.js": (
        'const test = require("node:test");\nconst assert = require("node:assert");\n'
        'const { total } = require("../lib/shop");\n\n'
        'test("total", () => {\n  assert.equal(total([1, 2]), 3);\n});\n'
    ),
}
TS = {
    "src/shop.ts": "export function total(prices: number[]) {\n  return 3;\n}\n",
    "src/shop.test.ts": (
        'import { expect, it } from "vitest";\nimport { total } from "./shop";\n\n'
        'it("adds up", () => {\n  expect(total([1, 2])).toBe(3);\n});\n'
    ),
}
GO = {
    "go.mod": "module example.org/shop\n",
    "shop.go": "package shop\n\nfunc Total(p []int) int {\n\treturn 3\n}\n",
    "shop_test.go": (
        'package shop\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n'
        '\tif Total([]int{1, 2}) != 3 {\n\t\tt.Fatal("no")\n\t}\n}\n'
    ),
}
OF_PACKAGE = {
    **GO,
    "shop_test.go": GO["shop_test.go"]
    .replace("package shop\n", 'package shop_test\n\nimport "example.org/shop"\n')
    .replace("if Total", "if shop.Total"),
}
RUST = {
    "Cargo.toml": '[package]\nname = "a-shop"\n',
    "src/lib.rs": "pub fn total(p: &[u32]) -> u32 {\n    3\n}\n",
    "tests/shop.rs": ("use a_shop::total;\n\n#[test]\nfn adds_up() {\n    assert_eq!(total(&[1, 2]), 3);\n}\n"),
}
JAVA = {
    "src/main/java/Shop.java": "class Shop {\n  static int total(int a) { return a; }\n}\n",
    "src/test/java/ShopTest.java": (
        "class ShopTest {\n  @Test\n  void total() {\n    assertEquals(3, Shop.total(3));\n  }\n}\n"
    ),
}
COPY = "def total(prices):\n    return sum(prices)\n"


def changed(tree, writes):
    """Return a tree with some files written: whole, or by what stands in the place of what."""
    made = dict(tree)
    for path, text in writes.items():
        made[path] = tree[path].replace(*text) if isinstance(text, tuple) else text
        assert made[path] != tree.get(path), path
    return {path: text for path, text in made.items() if text}


def losses(tree, writes):
    new = changed(tree, writes)
    touched = [path for path in {**tree, **new} if tree.get(path) != new.get(path)]
    main = Side(frozenset(tree), lambda path: tree[path])
    others = tuple(path for path in touched if path in new and is_code(path))
    now = Side(frozenset(new), lambda path: new[path], frozenset(new) - frozenset(tree), others)
    return looked_at_less(main, now, tuple(filter(is_test_file, touched)))


T, J, V, G, R = "tests/test_price.py", "test/shop.test.js", "src/shop.test.ts", "shop_test.go", "tests/shop.rs"
FROM = "from shop import total\n"
FOUND = [
    ("a copy beside the tests", PY, {T: (FROM, "from tests.reference import total\n"), "tests/reference.py": COPY},
     "takes `total` from tests/reference.py, not from shop/__init__.py"),
    ("a copy, by a relative import", PY, {T: (FROM, "from .reference import total\n"), "tests/reference.py": COPY},
     "takes `total` from tests/reference.py"),
    ("a copy under another name", PY, {T: (FROM, "from tests.reference import sums as total\n"),
     "tests/reference.py": COPY.replace("total", "sums")}, "takes `total` from tests/reference.py"),
    ("a new file that only tests use", PY, {T: (FROM, "from shop_reference import total\n"), "shop_reference.py": COPY},
     "takes `total` from shop_reference.py"),
    ("a function at the head", PY, {T: (FROM, COPY)}, "takes `total` from the tests themselves"),
    ("a function below the import", PY, {T: (FROM, FROM + "\n\n" + COPY)}, "takes `total` from the tests themselves"),
    ("a value at the head", PY, {T: (FROM, "total = sum\n")}, "takes `total` from the tests themselves"),
    ("an import within the test", PY, {T: ("    assert total([1", "    from tests.reference import total\n    assert total([1"),
     "tests/reference.py": COPY}, "takes `total` from tests/reference.py"),
    ("a function within the test", PY, {T: ("    assert total([1", "    total = lambda p: sum(p)\n    assert total([1")},
     "takes `total` from the tests themselves"),
    ("a fixture of the name", PY, {T: ("test_total()", "test_total(total)"),
     "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef total():\n    return sum\n"},
     "takes `total` from tests/conftest.py"),
    ("a fixture that is emptied", FIXTURE, {"tests/conftest.py": ("return shop.total", "return sum")},
     "uses nothing of the product any more (shop, total before)"),
    ("a fixture that shadows", FIXTURE, {T: ("def test", "@pytest.fixture\ndef sums():\n    return sum\n\n\ndef test")},
     "uses nothing of the product any more (sums before)"),
    ("a module under the name", MODULE, {T: ("import shop", "from tests import fake as shop"), "tests/fake.py": COPY},
     "takes `shop` from tests/fake.py"),
    ("a module's function from beside", MODULE, {T: "from tests.fake import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
     "tests/fake.py": COPY}, "takes `total` from tests/fake.py"),
    ("a copy without a name of main's", PY, {T: PY[T].replace(FROM, "from tests.fake import add\n").replace("total(", "add("),
     "tests/fake.py": COPY.replace("total", "add")}, "uses nothing of the product any more"),
    ("assertEqual of its own", CASE, {T: ("    def test", "    def assertEqual(self, a, b):\n        pass\n\n    def test")},
     "takes `assertEqual` from tests/test_price.py, not from its runner"),
    ("a TestCase of its own", CASE, {T: CASE[T].replace("unittest.TestCase", "Lenient").replace(
     FROM, FROM + "from tests.lenient import Lenient\n"), "tests/lenient.py":
     "import unittest\n\n\nclass Lenient(unittest.TestCase):\n    def assertEqual(self, a, b):\n        pass\n"},
     "takes `assertEqual` from tests/lenient.py"),
    ("an expectation that is the result", PY, {T: ("    assert total([1, 2]) == 3\n", "    expected = total([1, 2])\n    assert total([1, 2]) == expected\n")},
     "compares with itself what it tests"),
    ("the product replaced in the test", MODULE, {T: ("test_total():\n", 'test_total(monkeypatch):\n    monkeypatch.setattr(shop, "total", sum)\n')},
     "replaces `shop.total`, which it tests"),
    ("the product replaced before each test", MODULE, {"tests/conftest.py": (
     "@pytest", '@pytest.fixture(autouse=True)\ndef quick(monkeypatch):\n    monkeypatch.setattr("shop.total", sum)\n\n\n@pytest')},
     "replaces `shop.total`, which it tests"),
    ("the product replaced at the head", MODULE, {T: ("import shop\n", "import shop\n\nshop.total = sum\n")},
     "replaces `shop.total`, which it tests"),
    ("require of a double", JS, {J: ('"../lib/shop"', '"./fake"'), "test/fake.js": JS["lib/shop.js"]},
     "takes `total` from test/fake.js, not from lib/shop.js"),
    ("a function of a script", JS, {J: ('const { total } = require("../lib/shop");', "const total = (p) => 3;")},
     "takes `total` from the tests themselves"),
    ("a double of assert", JS, {J: ('"node:assert"', '"./lenient"'), "test/lenient.js": "exports.equal = () => {};\n"},
     "takes `assert` from test/lenient.js, not from outside"),
    ("a lenient assert at the head", JS, {J: ('require("node:assert")', "{ equal() {} }")}, "takes `assert` from the tests themselves"),
    ("a lenient test", JS, {J: ('require("node:test")', 'require("./runner")'), "test/runner.js": "module.exports = () => {};\n"},
     "takes `test` from test/runner.js"),
    ("a module that the runner replaces", JS, {J: ("\n\n", '\n\njest.mock("../lib/shop", () => ({ total: () => 3 }));\n')},
     "replaces lib/shop.js, from which it tests `total`"),
    ("an import of a double beside the product", TS, {V: ('"./shop"', '"./double"'), "src/double.ts": TS["src/shop.ts"]},
     "takes `total` from src/double.ts, not from src/shop.ts"),
    ("an expect of its own", TS, {V: ('{ expect, it } from "vitest"', '{ it } from "vitest";\nimport { expect } from "./quiet"'),
     "src/quiet.ts": "export const expect = () => ({ toBe() {} });\n"}, "takes `expect` from src/quiet.ts, not from outside"),
    ("a function of another package", GO, {G: ("package shop\n", "package shop_test\n\nfunc Total(p []int) int {\n\treturn 3\n}\n")},
     "takes `Total` from the tests themselves, not from shop.go"),
    ("a function in the place of a package's", OF_PACKAGE, {G: OF_PACKAGE[G].replace(
     'import "example.org/shop"\n', "").replace("shop.Total", "Total") + "\nfunc Total(p []int) int {\n\treturn 3\n}\n"},
     "takes `Total` from the tests themselves"),
    ("a package of doubles", OF_PACKAGE, {G: ('"example.org/shop"', 'shop "example.org/shop/internal/fake"'),
     "internal/fake/fake.go": "package fake\n\nfunc Total(p []int) int {\n\treturn 3\n}\n"}, "uses nothing of the product any more (Total, shop before)"),
    ("a closure of the name", GO, {G: ("\tif Total", "\tTotal := func(p []int) int { return 3 }\n\tif Total")},
     "takes `Total` from the tests themselves"),
    ("a module of the tests", RUST, {R: ("use a_shop::total;", "mod reference;\nuse reference::total;"),
     "tests/reference.rs": "pub fn total(p: &[u32]) -> u32 {\n    3\n}\n"}, "takes `total` from tests/reference.rs, not from src/lib.rs"),
    ("a function of Rust", RUST, {R: ("use a_shop::total;", "fn total(p: &[u32]) -> u32 {\n    3\n}")}, "takes `total` from the tests themselves"),
    ("a class of the name", JAVA, {"src/test/java/ShopTest.java": ("  @Test", "  static class Shop {\n    static int total(int a) { return 3; }\n  }\n\n  @Test")},
     "takes `Shop` from the tests themselves"),
]  # fmt: skip


@pytest.mark.parametrize(("tree", "writes", "how"), [each[1:] for each in FOUND], ids=[each[0] for each in FOUND])
def test_a_test_that_looks_at_the_product_no_longer_is_found(tree, writes, how):
    found = losses(tree, writes)
    assert found
    assert how in found[0].how


HONEST = [
    ("renamed in the product", PY, {"shop/price.py": ("def total", "def summed"), "shop/__init__.py": "from shop.price import summed\n",
     T: PY[T].replace("total", "summed").replace("test_summed", "test_total")}),
    ("renamed, with a helper of the old name", PY, {"shop/price.py": ("def total", "def summed"), "shop/__init__.py": "from shop.price import summed\n",
     "tests/helpers.py": "from shop import summed\n", T: PY[T].replace(FROM, "from shop import summed\n\n\ndef total(prices):\n    return summed(prices)\n")}),
    ("moved in the product", PY, {T: (FROM, "from shop.price import total\n")}),
    ("moved to a new module, which the old one re-exports", PY, {"shop/sums.py": COPY, "shop/price.py": "from shop.sums import total\n",
     T: (FROM, "from shop.sums import total\n")}),
    ("the package renamed", PY, {**{path: "" for path in PY if path.startswith("shop/")},
     **{path.replace("shop/", "store/"): text.replace("shop", "store") for path, text in PY.items() if path.startswith("shop/")},
     **{path: text.replace("shop", "store") for path, text in PY.items() if path.startswith("tests/")}}),
    ("by a helper that uses it", PY, {T: PY[T].replace(FROM, "from tests.helpers import basket\n").replace("total([1, 2])", "basket(1, 2)").replace("total([])", "basket()")}),
    ("by a fixture", PY, {T: PY[T].replace(FROM, "").replace("test_total()", "test_total(sums)").replace(" total(", " sums(")}),
    ("a wrapper of the name", PY, {T: (FROM, "import shop\n\n\ndef total(prices):\n    return shop.total(list(prices))\n")}),
    ("a double for a dependency", PY, {T: ("def test_total():\n", 'def test_total(monkeypatch):\n    monkeypatch.setattr("shop.rates.fetch", dict)\n    monkeypatch.setattr("shop.price.time.time", int)\n')}),
    ("a clock and an environment", PY, {T: ("def test_total():\n", 'def test_total(monkeypatch):\n    monkeypatch.setenv("TZ", "UTC")\n    monkeypatch.setattr(time, "time", int)\n')}),
    ("parametrised", PY, {T: FROM + '\n\n@pytest.mark.parametrize(("prices", "sum"), [([1, 2], 3), ([], 0)])\ndef test_total(prices, sum):\n    assert total(prices) == sum\n'}),
    ("parametrised by the function", PY, {T: FROM + '\n\n@pytest.mark.parametrize("total", [total, shop.total])\ndef test_total(total):\n    assert total([1, 2]) == 3\n    assert total([]) == 0\n'}),
    ("moved to another file", PY, {T: "", "tests/unit/test_sums.py": PY[T]}),
    ("from a module to its name", MODULE, {T: MODULE[T].replace("import shop", "from shop import total").replace("shop.total", "total")}),
    ("from a name to a module", PY, {T: PY[T].replace(FROM, "import shop\n").replace(" total(", " shop.total(")}),
    ("all names", PY, {T: (FROM, "from shop import *\n")}),
    ("a relative import", {**PY, "shop/tests/__init__.py": "", "shop/tests/test_a.py": PY[T]}, {"shop/tests/test_a.py": (FROM, "from ..price import total\n")}),
    ("a setUp", CASE, {T: CASE[T].replace("    def test", "    def setUp(self):\n        self.price = total\n\n    def test").replace("(total(", "(self.price(")}),
    ("a TestCase with a setUp", CASE, {T: CASE[T].replace("class PriceTest", "class Case(unittest.TestCase):\n    def setUp(self):\n        self.x = 1\n\n\nclass PriceTest").replace("Test(unittest.TestCase)", "Test(Case)")}),
    ("by a method of an object", PY, {"shop/__init__.py": "from shop.price import total, Basket\n", T: FROM.replace("total", "Basket") + "\n\ndef test_total():\n    total = Basket(1, 2).total\n    assert total == 3\n    assert Basket().total == 0\n"}),
    ("the same twice, beside its values", PY, {T: ("    assert total([])", "    again = [1, 2]\n    assert total(again) == total([2, 1])\n    assert total([])")}),
    ("by the package's name", JS, {J: ('"../lib/shop"', '"shop"')}),
    ("by what is built", JS, {J: ('"../lib/shop"', '"../dist/shop.js"')}),
    ("by an alias", TS, {V: ('"./shop"', '"@/shop"')}),
    ("by import in place of require", JS, {J: ('const { total } = require("../lib/shop");', 'import { total } from "../lib/shop.js";')}),
    ("made before each test", JS, {J: ('const { total } = require("../lib/shop");', 'const shop = require("../lib/shop");\nlet total;\nbeforeEach(() => {\n  total = shop.total;\n});')}),
    ("a helper of a script", JS, {J: JS[J].replace('{ total } = require("../lib/shop")', '{ sum } = require("./helper")').replace("total([", "sum(["),
     "test/helper.js": 'const { total } = require("../lib/shop");\nexports.sum = (p) => total(p);\n'}),
    ("another assert from outside", JS, {J: ('"node:assert"', '"chai"')}),
    ("an expect that is extended", TS, {V: ('{ expect, it } from "vitest"', '{ it } from "vitest";\nimport { expect } from "../test/expect"'),
     "test/expect.ts": 'import { expect } from "vitest";\nexpect.extend({});\nexport { expect };\n'}),
    ("a word of another language", PY, {T: ("def test_total():\n", 'def test_total():\n    mock.module("shop")\n')}),
    ("a spy that calls through", JS, {J: ("\n  assert", '\n  jest.spyOn(shop, "total");\n  assert')}),
    ("another package of Go", GO, {G: GO[G].replace("package shop\n\nimport ", 'package shop_test\n\nimport "example.org/shop"\nimport ').replace("if Total", "if shop.Total")}),
    ("a helper of Go", GO, {G: GO[G].replace("if Total([]int{1, 2})", "if sum(1, 2)") + "\nfunc sum(p ...int) int {\n\treturn Total(p)\n}\n"}),
    ("a helper of Rust", RUST, {R: RUST[R].replace("total(&[1, 2])", "sum(&[1, 2])") + "\nfn sum(p: &[u32]) -> u32 {\n    total(p)\n}\n"}),
    ("the whole path in Rust", RUST, {R: RUST[R].replace("use a_shop::total;\n\n", "").replace("total(&", "a_shop::total(&")}),
]  # fmt: skip


@pytest.mark.parametrize(("tree", "writes"), [each[1:] for each in HONEST], ids=[each[0] for each in HONEST])
def test_honest_work_on_tests_loses_nothing(tree, writes):
    assert losses(tree, writes) == ()
