"""Which file uses which, as imports and names in the texts say."""

from support.cases import cases

from noface.integrity.tampering import has_functions
from noface.integrity.uses import names_file, names_folder, uses_code, word_of

CODE = [
    ("shop/core.py", "from shop.snapshots import store", "shop/snapshots/store.py", True),
    ("shop/core.py", "from .snapshots.store import kept", "shop/snapshots/store.py", True),
    ("shop/a/core.py", "from ..testing import check", "shop/testing.py", True),
    ("tests/test_a.py", "import shop.testing as t", "src/shop/testing.py", True),
    ("shop/core.py", "import testing", "shop/testing.py", True),
    ("other/core.py", "import testing", "shop/testing.py", False),
    ("shop/core.py", "import types", "src/web/types.py", False),
    ("shop/core.py", "# uses the testing module", "shop/testing.py", False),
    ("shop/core.py", "load('shop.backends.file')", "shop/backends/file.py", True),
    ("tests/test_a.py", "import shop.core", "shop/__init__.py", True),
    ("tests/test_a.py", "not python (", "shop/core.py", False),
    ("src/index.ts", "import type { Row } from './types'", "src/types.ts", True),
    ("src/index.ts", "export * from './types.js'", "src/types.ts", True),
    ("src/app.js", "const a = require('./avatar')", "src/avatar.js", True),
    ("src/app.js", "const a = require('./lib')", "src/lib/index.js", True),
    ("test/a.js", "import { same } from '@/lib/check'", "src/lib/check.js", True),
    ("src/app.js", "// avatar", "src/avatar.js", False),
    ("shop/shop.go", "package shop", "shop/price.go", True),
    ("cmd/main.go", 'import "example.org/x/shop"', "shop/price.go", True),
    ("cmd/main.go", 'import "example.org/x/shop"', "check/price.go", False),
    ("src/main.rs", "mod price;", "src/price.rs", True),
    ("src/lib.rs", "use crate::price::total;", "src/price/mod.rs", True),
    ("src/a.c", '#include "check.h"', "src/check.h", True),
    ("run.sh", ". ./lib/check.sh", "lib/check.sh", True),
    ("run.sh", "./tools/check.py cases", "tools/check.py", True),
    ("shop/core.py", "x", "shop/core.py", False),
]


@cases(("path", "text", "target", "used"), CODE)
def test_code_uses_code_as_its_imports_say(path, text, target, used):
    assert uses_code(path, text, target) is used
    assert not used or word_of(target) in text, "it is looked for by this word"


@cases(
    ("path", "text", "target", "sure"),
    [
        ("shop/core.py", "import shop.snapshots.store", "shop/snapshots/store.py", True),
        ("match/match.go", "package match", "match/match_test.go", False),
        ("cmd/main.go", 'import "example.org/x/testing"', "testing/check.go", True),
        ("match/match.go", "package match", "match/testing.go", False),
        ("src/lib.rs", "mod range;", "tests/range.rs", False),
        ("src/lib.rs", "pub mod spec;", "src/spec/mod.rs", True),
        ("src/main.rs", "mod testing;", "src/testing.rs", True),
        ("src/shop.rs", "mod spec;", "src/shop/spec.rs", True),
        ("src/lib.rs", "#[cfg(test)]\nmod tests;", "src/tests.rs", False),
        ("src/a.rs", "use crate::fixtures::orders;", "src/fixtures/orders.rs", True),
        ("src/shop/Cart.java", "import shop.testing.Helper;", "src/shop/testing/Helper.java", True),
        ("src/Cart.php", "use Shop\\Spec\\Sheet;", "src/Spec/Sheet.php", True),
        ("lib/shop.rb", "require 'shop/spec/sheet'", "lib/shop/spec/sheet.rb", True),
        ("src/a.c", '#include "fixtures/orders.h"', "src/fixtures/orders.h", True),
        ("bin/total.sh", "total=3", "tests/total.sh", False),
        ("bin/total.sh", ". ../tests/total.sh", "tests/total.sh", True),
        ("src/Cart.java", "new CartTest()", "src/test/CartTest.java", False),
    ],
)
def test_what_is_called_a_test_is_the_product_only_where_that_is_sure(path, text, target, sure):
    assert uses_code(path, text, target, surely=True) is sure


@cases(
    ("text", "target", "file", "folder"),
    [
        ('open(HERE / "rates.json")', "shop/data/rates.json", True, False),
        ("for f in cases/*.txt; do", "cases/a.txt", False, True),
        ('(TOP / "cases").glob("*.txt")', "cases/a.txt", False, True),
        ('include_str!("../cases/a.txt")', "cases/a.txt", True, True),
        ("# in all cases", "cases/a.txt", False, False),
        ("rates.json5 my-rates.json", "rates.json", False, False),
        ("rates.json", "rates.json", True, False),
    ],
)
def test_a_text_names_a_file_or_its_folder(text, target, file, folder):
    assert (names_file(text, target), names_folder(text, target)) == (file, folder)


@cases(
    ("text", "functions"),
    [
        ("ROWS = [(1, 2)]\n", False),
        ("import os\nROWS = {1: 2}\n", False),
        ("def f():\n    pass\n", True),
        ("export const f = (a) => a\n", True),
        ("pub fn f() {}\n", True),
        ("module.exports = { a: 1 };\n", False),
    ],
)
def test_code_without_functions_is_data(text, functions):
    assert has_functions(text) is functions
