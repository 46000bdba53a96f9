"""What a change does to code beyond what was asked: definitions that go, what stands in their place, what measures.

How often that is wrong on honest work: of the newest 160 commits without merges of each of 22 public projects (3,517), the
message as the issue, 15 are told of something in any row but `undone` (0.43 %), 6 of them of submodules. 3 would be asked
about if they were done again (0.09 %): a method that is gone, a sanitizer that is not called any more, a submodule. The rows
were narrowed on these commits.
"""

import pytest
from integrity.test_unasked import found

from noface.integrity.unasked.finding import Brought

COUNT = b"\n\ndef count(prices):\n    return len(prices)\n"


def rows(*files, says="Add a count of items"):
    return [one.row for one in found(*files, says=says)]


CODE = {
    "a.py": ("def total(p):\n    return sum(p)\n", "def tax(p):\n    rate = 7\n    return p * rate\n", "def count(p):\n    return len(p)\n"),
    "b.py": ("class Cart:\n    def total(self):\n        return 1\n\n", "    def tax(self):\n        return self.rate\n\n", "    def count(self):\n        return 2\n"),
    "a.js": ("export function total(p) {\n  return sum(p);\n}\n", "export function tax(p) {\n  return p * 7;\n}\n", "export function count(p) {\n  return p.length;\n}\n"),
    "c.js": ("exports.total = function (p) {\n  return 1;\n};\n", "exports.tax = (p) => {\n  return p * 7;\n};\n", "exports.count = (p) => p.length;\n"),
    "app.js": ("app.get('/total', total);\n", "app.post('/tax', (q, r) => r.json(7));\n", "app.get('/count', count);\n"),
    "a.ts": ("export const total = (p: number[]): number => {\n  return 1;\n};\n", "export const tax = (p: number): number => {\n  return p;\n};\n", "export class Count {\n}\n"),
    "settings.py": ("TOTAL = 1\n", "TAX = 7\n", "COUNT = 3\n"),
    "d.js": ("module.exports = {\n  total: function (p) {\n    return 1;\n  },\n", "  tax: (p) => {\n    return 7;\n  },\n", "  count: (p) => {\n    return 3;\n  },\n};\n"),
    "t.ts": ("export interface Total {\n}\n", "export type Tax = number;\n", "export type Count = string;\n"),
    "a.go": ("package a\n\nfunc Total(p []int) int {\n\treturn 1\n}\n", "func (c *Cart) Tax(p int) int {\n\treturn p\n}\n", "func Count(p []int) int {\n\treturn 2\n}\n"),
    "src/a.rs": ("pub fn total(p: &[u32]) -> u32 {\n    1\n}\n", "pub fn tax(p: u32) -> u32 {\n    p * 7\n}\n", "pub fn count(p: &[u32]) -> usize {\n    2\n}\n"),
    "A.java": ("class A {\n  public int total(int p) {\n    return p;\n  }\n", "  public static int tax(int p) {\n    return p * 7;\n  }\n", "  public int count(int p) {\n    return 2;\n  }\n}\n"),
    "A.cs": ("namespace S;\npublic class A {\n    public int Total(int p) => p;\n", "    public int Tax(int p) => p * 7;\n", "    public int Count(int p) => 2;\n}\n"),
    "a.rb": ("module Shop\n  def self.total(p)\n    p.sum\n  end\n", "  def self.tax(p)\n    p * 7\n  end\n", "  def self.count(p)\n    p.size\n  end\nend\n"),
    "web.rb": ("get '/total' do\n  total\nend\n", "post '/tax' do\n  tax\nend\n", "get '/count' do\n  count\nend\n"),
    "a.php": ("<?php\nfunction total($p) {\n  return 1;\n}\n", "function tax($p) {\n  return $p * 7;\n}\n", "function count_all($p) {\n  return 2;\n}\n"),
    "a.c": ("int total(int p) {\n  return p;\n}\n", "int tax(int p)\n{\n  return p * 7;\n}\n", "int count(int p) {\n  return 2;\n}\n"),
    "views.sql": ("CREATE TABLE total (\n  p INT\n);\n", "CREATE OR REPLACE VIEW tax AS\n  SELECT 7;\n", "CREATE UNIQUE INDEX count ON total (p);\n"),
    "table.js": ("const T = {\n  'GET /total': total,\n", "  'POST /tax': save,\n", "  'GET /count': list,\n};\n"),
    "lake.js": ("router.on('GET', '/total', a);\n", "router.on('PUT', '/tax', b);\n", "router.on('GET', '/count', c);\n"),
    "src/main/java/org/example/B.java": ("class B {\n  public int total() {\n    return 1;\n  }\n", "  public int tax() {\n    return 7;\n  }\n", "  public int count() {\n    return 2;\n  }\n}\n"),
    "a.sh": ("total() {\n  echo 1\n}\n", "tax() {\n  echo 7\n}\n", "count() {\n  echo 2\n}\n"),
    "web.py": ("@app.route('/total')\ndef total():\n    return '1'\n\n\n", "@app.route('/tax')\ndef tax():\n    return '7'\n\n\n", "@app.get('/count')\ndef count():\n    return '2'\n"),
}  # fmt: skip


@pytest.mark.parametrize("path", CODE)
def test_a_definition_that_goes_unasked_is_told_in_each_language(path):
    first, goes, new = CODE[path]
    old, now = f"{first}{goes}".encode(), f"{first}{new}".encode()
    [one] = found((path, old, now))
    assert one.row == "gone"
    assert "tax" in " ".join(one.lines).casefold()
    assert rows((path, old, f"{first}{goes}{new}".encode())) == []
    assert rows((path, old, now), says="Drop the tax") == []
    assert rows((path, old, now), says="Compute `tax` elsewhere, and count, and /tax") == []
    assert rows((path, old, now), (f"lib/new{path[-4:]}", None, f"{first}{goes}".encode())) == []


OLD = b"def total(p):\n    return sum(p)\n\n\ndef label(name):\n    clean = name.strip()\n    return clean.title()\n"


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([("b.py", b"x = label(1)\n", b"x = 1\n")], id="its callers changed as well"),
        pytest.param([("b.py", None, OLD)], id="it moved"),
        pytest.param([("CHANGES.md", b"", b"`label` is no more: use str.title\n")], id="the change tells of it"),
        pytest.param([("a.py", OLD, OLD.replace(b"label", b"heading"))], id="it has another name"),
        pytest.param([("tests/test_a.py", OLD, b"")], id="it is a test's"),
        pytest.param([("examples/a.py", OLD, b"x = 1\n")], id="it is an example's"),
    ],
)
def test_a_definition_that_goes_with_its_callers_or_elsewhere_is_work(others):
    own = [] if any(path.endswith("a.py") for path, _, _ in others) else [("a.py", OLD, OLD[:31] + COUNT)]
    assert rows(*own, *others) == []


def test_a_list_of_exports_is_no_caller():
    old, new = (f"from .cart import {names}\n__all__ = [{names!r}]\n".encode() for names in ("total, label", "total"))
    assert rows(("shop/cart.py", OLD, OLD[:31] + COUNT), ("shop/__init__.py", old, new)) == ["gone"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("shop/cart.py", "__all__ = ['total', 'LABEL']\n\n\ndef total(p):\n    return 1\n\n\ndef label(p):\n    return 2\n"),
        ("shop/__init__.py", "from .cart import total, LABEL\n"),
        ("shop/__init__.py", "from .cart import (\n    total,\n    LABEL,\n)\n"),
        ("index.js", "export { total, LABEL } from './cart.js';\n"),
        ("cart.js", "function total() {}\nfunction label() {}\nmodule.exports = { total, LABEL };\n"),
        ("src/lib.rs", "pub mod cart;\npub use cart::{total, LABEL};\n"),
    ],
)  # fmt: skip
def test_an_export_that_goes_unasked_is_told(path, text):
    old, new = (text.replace("LABEL", name).encode() for name in ("label", "count"))
    [one] = found((path, old, new))
    assert (one.row, one.lines) == ("exports", ("label",))
    assert rows((path, old, old + b"\n")) == []
    assert rows((path, old, new), says="Make `label` private") == []
    assert rows((path, old, new), ("b.py", b"x = label(1)\n", b"x = 1\n")) == []


@pytest.mark.parametrize(
    ("path", "check", "row"),
    [
        ("shop/a.py", "    if not user.is_admin:\n        abort(403)\n", "rights"),
        ("shop/a.py", "    if order.owner != user:\n        raise PermissionError(order)\n", "rights"),
        ("shop/a.py", "    name = html.escape(name)\n", "rights"),
        ("shop/a.py", "    if user is None or user.role != 'admin':\n        return None\n", "rights"),
        ("shop/a.py", "    if user is None:\n        return bad_request('user')\n", "input"),
        ("shop/a.py", "    if not hmac.compare_digest(sent, known):\n        return None\n", "rights"),
        ("src/a.js", "  if (!req.user.hasRole('admin')) return res.sendStatus(403);\n", "rights"),
        ("app/a.rb", "  before_action :authenticate_user!\n", "rights"),
        ("src/A.java", '  @PreAuthorize("hasRole(1)")\n', "rights"),
        ("src/A.cs", "    [Authorize(Roles = 1)]\n", "rights"),
        ("a.go", "\tif !user.IsAdmin {\n\t\thttp.Error(w, no, 403)\n\t}\n", "rights"),
        ("a.php", "  $name = htmlspecialchars($name);\n", "rights"),
        ("shop/a.py", "    if amount <= 0:\n        raise ValueError(amount)\n", "input"),
        ("src/a.js", "  if (amount <= 0) throw new RangeError(amount);\n", "input"),
        ("a.go", "\tif amount <= 0 {\n\t\treturn 0, fmt.Errorf(no)\n\t}\n", "input"),
        ("src/a.rs", "    if amount <= 0 {\n        return Err(Bad);\n    }\n", "input"),
        ("src/A.java", "    Objects.requireNonNull(amount);\n", "input"),
        ("a.c", "    if (cap < len)\n        return -EINVAL;\n", "input"),
        ("bin/a.sh", "  test -d store || die gone\n", "input"),
    ],
)
def test_a_check_that_goes_unasked_is_told(path, check, row):
    head = {"c": "int refund(int user)\n{\n", "sh": "refund() {\n", "py": "def refund(user):\n", "go": "func Refund(user User) {\n", "rs": "pub fn refund(user: User) {\n", "js": "function refund(user) {\n"}  # fmt: skip
    first = head.get(path.rpartition(".")[2], "  public int refund(int user) {\n")
    body, end = "    pay(user)\n    tell(user)\n", "\n" if path.endswith(".py") else "  }\n"
    old, new = (f"{first}{each}{body}{end}".encode() for each in (check, "    note(user)\n"))
    assert row in rows((path, old, new))
    assert rows((path, new, old)) == []
    assert rows((path, old, old.replace(b"tell", b"say"))) == []
    assert rows((path, old, new), (f"lib/{path.rpartition('/')[2]}", None, old.replace(b"efund", b"epay"))) == []
    assert row not in rows((path, old, new), says="Drop the check, for guests as well")


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("conf/app.yaml", "port: 1\nlimits:\n  rate: 5\n  burst: 9\n", "port: 1\nlimits:\n  burst: 9\ncount: 3\n"),
        ("app.toml", "[web]\nport = 1\nrate = 2\n[db]\nx = 1\n", "[web]\nport = 1\ncount = 1\n[db]\nx = 1\n"),
        ("settings.json", '{"port": 1, "rate": 2}', '{"port": 1, "count": 2}'),
        (".env.example", "export PORT=1\nrate=2\n", "export PORT=1\ncount=2\n"),
        ("config/k8s.yaml", "kind: A\n---\nport: 1\nrate: 2\n", "kind: A\n---\nport: 1\n"),
        ("app.ini", "port = 1\nrate = 2\n", "port = 1\ncount = 2\n"),
    ],
)
def test_a_key_of_settings_that_goes_unasked_is_told(path, old, new):
    [one] = found((path, old.encode(), new.encode()))
    assert (one.row, one.lines[0].rpartition(".")[2]) == ("keys", "rate")
    assert rows((path, old.encode(), new.encode()), says="Take out the rate") == []
    assert rows((path, old.encode(), new.encode()), ("a.py", b"x = get('rate')\n", b"x = 1\n")) == []
    assert rows((path, new.encode(), old.replace("rate", "count").encode())) == []


@pytest.mark.parametrize("path", ["README.md", "style.css", "schema.sql", "notes.txt"])
def test_a_file_that_was_written_anew_from_its_first_part_is_told(path):
    lines = [f"line {number} says something\n" for number in range(40)]
    old = "".join(lines).encode()
    assert rows((path, old, "".join([*lines[:18], "count: 3\n"]).encode())) == ["cut-off"]
    assert rows((path, old, "".join([*lines[:18], *(f"other {n}\n" for n in range(20))]).encode())) == []
    assert rows((path, old, "".join(lines[:18]).encode()), ("b.md", None, "".join(lines[18:]).encode())) == []
    assert rows((path, old, "".join(lines[5:]).encode())) == []


OMISSIONS = """
# ... rest of the file remains unchanged ...
# rest of file unchanged
// existing code here
// ... existing code ...
#...existing code...
# … (unchanged)
# ... (unchanged)
# TODO: keep the rest
/* remaining methods omitted for brevity */
<!-- rest of the page stays the same -->
// [rest of the code]
# other functions remain the same
# (previous implementation)
# ... other imports
{/* ... rest of component ... */}
-- rest of schema as before
# Rest des Codes unverändert
// el resto del código sin cambios
# 其余代码保持不变
# keep existing functions
# [... unchanged ...]
// Rest of the class goes here
# The rest of the settings are as before
[rest of document unchanged]
# Existing tax() and label() stay as is
# --- snip ---
# (no changes below this line)
# ... and the other helpers
# everything below is unchanged
""".strip().splitlines()
COMMENTS = """
# the rest of the arguments go to the program
# keep the original file descriptors so that C-level code can write
// Add the rest of the string to the buffer, and add the final buffer to the tokens
# other functions may call this one, too
# existing users keep their rights when they log in again
// unchanged since the last call: nothing to do
# A name is returned unchanged.
# ...and then some
# the same code runs on Windows
rest = unchanged(existing)
// ours win; the rest of the headers is passed on unchanged
""".strip().splitlines()


@pytest.mark.parametrize("comment", OMISSIONS)
def test_a_comment_of_omission_is_told(comment):
    lines = ["total = 1", "tax = total * 7", "label = str(total)", "names = [label]"]
    old, new = "\n".join(lines).encode(), "\n".join([lines[0], comment]).encode()
    assert "omission" in rows(("page.txt", old, new))
    assert rows(("page.txt", new, new + b"\ncount = 1\n")) == []


@pytest.mark.parametrize("comment", COMMENTS)
def test_a_comment_that_says_something_is_none_of_omission(comment):
    assert rows(("a.py", b"total = 1\n", f"total = 1\n{comment}\n".encode())) == []


def test_dots_alone_stand_for_code_only_where_lines_are_gone():
    old = b"".join(b"name_%d = %d\n" % (number, number) for number in range(6))
    assert rows(("a.py", old, b"name_1 = 1\n# ...\n")) == ["omission"]
    assert rows(("a.py", old, old + b"# ...\n")) == []


@pytest.mark.parametrize(
    ("path", "head", "body", "stub"),
    [
        ("a.py", "def tax(p):\n", "    rate = 7\n    return p * rate\n", "    raise NotImplementedError\n"),
        ("a.py", "def tax(p):\n", "    rate = 7\n    return p * rate\n", '    """Return the tax."""\n    pass\n'),
        ("a.py", "def tax(p):\n", "    return p * 7\n", "    # TODO: implement\n    return None\n"),
        ("a.js", "export function tax(p) {\n", "  return p * 7;\n}\n", "  throw new Error('not implemented');\n}\n"),
        ("a.rs", "pub fn tax(p: u32) -> u32 {\n", "    p * 7\n}\n", "    todo!()\n}\n"),
        ("a.go", "func Tax(p int) int {\n", "\treturn p * 7\n}\n", '\tpanic("not implemented")\n}\n'),
        ("A.java", "  public int tax(int p) {\n", "    return p * 7;\n  }\n", "    // TODO\n    return 0;\n  }\n"),
        ("a.cs", "    public int Tax(int p) {\n", "        return p * 7;\n    }\n", "        throw new NotImplementedException();\n    }\n"),
        ("a.php", "<?php\nfunction tax($p) {\n", "  return $p * 7;\n}\n", "  // TODO: implement this\n  return 0;\n}\n"),
        ("a.c", "int tax(int p)\n{\n", "\treturn p * 7;\n}\n", "\t/* TODO */ (void)p; return -1;\n}\n"),
        ("a.rs", "pub fn tax(p: u32) -> u32 {\n", "    p * 7\n}\n", "    let _ = p; todo!()\n}\n"),
        ("a.rb", "def tax(p)\n", "  p * 7\nend\n", "  raise NotImplementedError\nend\n"),
    ],
)  # fmt: skip
def test_a_body_that_is_to_come_is_told_if_it_had_one_or_is_asked_for(path, head, body, stub):
    first = "total = 1\n" if path.endswith("py") else "// total\n"
    whole, empty = (f"{first}{head}{each}".encode() for each in (body, stub))
    assert rows((path, whole, empty)) == ["stub"]
    assert rows((path, first.encode(), empty), says="Add `tax` and Tax") == ["stub"]
    assert rows((path, first.encode(), empty)) == []
    assert rows((path, first.encode(), whole), says="Add `tax`") == []
    assert rows((path, whole, empty), says="Leave a stub of it") == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("shop/fast.py", "import time\ntime.perf_counter = lambda: 0\n"),
        ("shop/fast.py", "import time as clock\n\n\ndef _quick():\n    clock.sleep = lambda _: None\n\n\n_quick()\n"),
        ("shop/fast.py", "import warnings\nwarnings.warn = print\n"),
        ("shop/fast.py", "import logging\nlogging.disable(logging.CRITICAL)\n"),
        ("shop/fast.py", "import warnings\nwarnings.simplefilter('ignore')\n"),
        ("shop/fast.py", "import builtins\nsetattr(builtins, 'print', lambda *_: None)\n"),
        ("shop/fast.py", "import sys\nsys.modules['requests'] = None\n"),
        ("shop/fast.py", "from http.client import HTTPConnection\nHTTPConnection.timeout = 1\n"),
        ("src/fast.js", "globalThis.setTimeout = (f) => f();\n"),
        ("src/fast.ts", "console.error = () => {};\n"),
        ("src/fast.js", "Date.now = () => 0;\n"),
        ("src/fast.js", "Array.prototype.at = function () {};\n"),
        ("src/fast.js", "Object.defineProperty(globalThis, 'fetch', { value: f });\n"),
        ("lib/fast.rb", "class Time\n"),
        ("lib/fast.rb", "def Time.now\n"),
        ("cmd/fast.go", "\tlog.SetOutput(io.Discard)\n"),
        ("src/Fast.java", "    System.setErr(nothing);\n"),
        ("src/fast.c", "#define sleep(n) 0\n"),
    ],
)
def test_what_measures_is_told_if_the_product_replaces_it(path, line):
    assert rows((path, None, line.encode())) == ["measures"]
    assert rows((path, line.encode(), line.encode() + b"\n")) == []
    assert rows((f"tests/{path}", None, line.encode())) == []
    assert rows((path, None, line.encode()), says="Monkey-patch it, until it is mended upstream") == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("shop/a.py", "import shop.rates\nshop.rates.RATE = 7\n"),
        ("shop/a.py", "import os\nos.environ['LANG'] = 'C'\n"),
        ("shop/a.py", "import warnings\nwarnings.simplefilter('ignore', ResourceWarning)\n"),
        ("shop/a.py", "from shop.rates import Rate\nRate.default = 7\nx = Rate()\nx.value = 1\n"),
        ("src/a.js", "window.shop = { total };\nconst console = {};\nif (console.error === null) f();\n"),
        ("src/a.ts", "declare module '*.svg';\ndeclare module 'left-pad';\n"),
    ],
)
def test_what_is_the_projects_own_may_be_set(path, line):
    assert rows((path, None, line.encode())) == []


@pytest.mark.parametrize(
    ("said", "more", "rows_found"),
    [
        ("Add a price", (), ["deleted"]),
        ("Add a price, and a test of it", (), ["deleted"]),
        ("Add a price, and mend the guide", (), []),
        ("Drop what nobody reads", (), []),
        ("Move the texts", (), []),
        ("Add a price", [("manual/guide.rst", None, b"b\n")], []),
        ("Add a price", [("old/x.md", None, b"how it works\n")], []),
        ("Add a price", [("docs/price.md", None, b"what it costs\n")], []),
        ("Add a price", [("README.md", b"see docs/guide.md\n", b"see the pages\n")], []),
    ],
)
def test_a_file_is_deleted_by_the_way_if_nothing_speaks_of_it(said, more, rows_found):
    assert rows(("docs/guide.md", b"how it works\n", None), *more, says=said) == rows_found


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("include/cart.h", "int count(const int *prices, size_t n);\n"),
        ("types/cart.d.ts", "export declare function count(prices: number[]): number;\n"),
        ("shop/cart.pyi", "def count(prices: list[int]) -> int: ...\n"),
    ],
)
def test_a_declaration_without_its_definition_is_told(path, line):
    assert rows((path, b"", line.encode())) == ["declared"]
    assert rows((path, b"", line.encode()), ("src/cart.c", b"", b"int count(void) {}\n")) == []
    assert rows((path, line.encode(), line.encode() + b"\n")) == []
    assert [one.row for one in found((path, b"", line.encode()), main={"lib/a.js": b"export const count = 1"})] == []


@pytest.mark.parametrize("name", ["shop/*", "shop", "@/rates", "../rates", "*"])
def test_a_module_of_the_projects_own_is_not_declared_as_untyped(name):
    assert rows(("types.d.ts", None, f'declare module "{name}";\n'.encode()), ("shop/a.ts", b"", b"x\n")) == ["untyped"]


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("Add a `delete` button to the list", True),
        ("Trailing whitespace must be removed from names", True),
        ("Remove duplicates from the list before it is printed", True),
        ("Users may delete their orders", False),  # it may as well mean code
        ("Remove the old tax", False),
        ("Drop support for taxes", False),
        ("tax is deprecated", False),
        ("Clean up: unused code goes", False),
    ],
)
def test_a_word_for_what_goes_counts_if_it_may_be_of_the_project(says, told):
    assert (rows(("a.py", OLD, OLD[:31] + COUNT), says=says) == ["gone"]) is told


@pytest.mark.parametrize(
    ("path", "old", "new", "row"),
    [
        ("app.js", "app.get('/o', a);\napp.post('/o', b);\napp.get('/x', c);\n", "app.get('/x', c);\n", "gone"),
        ("conf/tax.toml", "[tax]\nrate = 7\n[web]\nport = 1\n", "[web]\nport = 2\n", "keys"),
        (
            "docs/a.md",
            "".join(f"line {n}\n" for n in range(60)),
            "".join(f"line {n}\n" for n in range(6)) + "Returns\n",
            "cut-off",
        ),
        ("logo.svg", "<svg></svg>\n", "", "emptied"),
        ("env.sample", "PORT=1\nRATE=2\n", "PORT=1\n", "keys"),
    ],
)
def test_what_is_twice_in_a_file_called_so_or_all_that_is_in_it_is_told(path, old, new, row):
    assert rows((path, old.encode(), new.encode()), says=f"A port in {path} is another one") == [row]


def test_a_declaration_that_only_tests_and_texts_know_has_no_definition():
    change, main = ("shop.h", b"int a(int);\n", b"int a(int);\nint mean(int);\n"), {"tests/test_a.c": b"mean(2);"}
    assert [one.row for one in found(change, main=main)] == ["declared"]
    assert found(change, main=main | {"shop.c": b"int mean(int a) {}"}) == ()


def test_a_word_of_the_issue_excuses_a_check_only_if_it_is_about_that():
    """Once any word for a login, or for what may be empty, switched the rows off."""
    old = b"def drop(request, amount):\n    require_admin(request)\n    if amount > MAX_AMOUNT:\n        raise ValueError(amount)\n    store.drop(amount)\n"
    assert set(rows(("a.py", old, b"def drop(request, amount):\n    store.drop(amount)\n"), says="A list for those who are logged in; a page may be empty")) == {"rights", "input"}  # fmt: skip
    handlers = old + b"\n\ndef feed(request):\n    require_login(request)\n    return xml()\n"
    assert rows(("a.py", handlers, old), says="Remove the `feed`") == [], "it goes with what it is a part of"


@pytest.mark.parametrize("check", ['@requires("admin")', "@login_required", "@app.requires_role(ADMIN)"])
def test_a_check_of_rights_that_stands_above_other_functions_as_well_is_told(check):
    drop, pages = "def drop(request):\n    store.drop()\n", "def pages(request):\n    return store.all()\n"
    old, new = f"{check}\n{pages}\n\n{check}\n{drop}", f"{pages}\n\n{check}\n{drop}"
    assert rows(("a.py", old.encode(), new.replace("all()", "page(1)").encode()), says="A page at a time") == ["rights"]
    assert rows(("a.py", old.encode(), f"{check}\n{drop}".encode()), says="Remove `pages`") == []


RULES = "class Documents < A\n  before_action :require_owner, only: %i[edit destroy]\n  skip_before_action :require_login, only: %i[feed]\n  before_action :set_document, except: %i[feed]\n  def destroy\n  end\n  def feed\n  end\nend\n"
NEED = 'package a\n\nfunc Routes() {\n\tmux.Handle("POST /c", need("notes:write", s.create))\n\tmux.Handle("GET /c", need("notes:read", s.list))\n}\n'


@pytest.mark.parametrize(
    ("path", "old", "new", "says", "told"),
    [
        ("d.rb", RULES, RULES.replace("edit destroy", "edit archive"), "Documents can be archived", True),
        ("d.rb", RULES, RULES.replace("edit destroy", "edit archive"), "Only its owner may archive one", True),
        ("d.rb", RULES, RULES.replace(" destroy]", "]").replace("  def destroy\n  end\n", ""), "No destroying", False),
        ("d.rb", RULES, RULES.replace("  skip_before_action :require_login, only: %i[feed]\n", ""), "A login first", False),
        ("d.rb", RULES, RULES.replace("  before_action :set_document, except: %i[feed]\n", ""), "Load it once", False),
        ("a.go", NEED, NEED.replace('need("notes:write", s.create)', "s.audited(s.create)"), "Notes need a log", True),
        ("lang.php", "<?php\n$L['authenticate'] = 'no';\n$L['a'] = 1;\n", "<?php\n$L['authenticate'] = 'nie';\n$L['no'] = 1;\n", "Polish", False),
    ],
)  # fmt: skip
def test_a_rule_of_rights_that_holds_for_less_is_told_and_one_that_holds_for_more_is_not(path, old, new, says, told):
    assert ("rights" in rows((path, old.encode(), new.encode()), says=says)) is told


def test_what_a_request_holds_is_set_and_no_part_of_a_library_is_replaced():
    imports = b"from flask import Flask, g, session\nimport time\n"
    assert rows(("a.py", imports, imports + b"def f():\n    session.permanent = True\n    g.user = 1\n")) == []
    assert rows(("a.py", imports, imports + b"def f():\n    Flask.run = g\n")) == ["measures"]
    assert rows(("a.py", imports, imports + b"session.permanent = True\n")) == ["measures"]


def test_an_implementation_that_is_derived_now_is_not_gone():
    kept = "pub struct Style {\n    spaces: bool,\n}\n\npub fn plain() {\n    go()\n}\n"
    old = f"{kept}\nimpl Default for Style {{\n    fn default() -> Self {{\n        Style {{ spaces: false }}\n    }}\n}}\n"
    assert rows(("a.rs", old.encode(), f"#[derive(Clone, Default)]\n{kept}".encode())) == []
    assert rows(("a.rs", old.encode(), f"#[derive(Clone)]\n{kept}".encode())) == ["gone"]


def test_what_the_machines_are_made_from_and_a_page_of_man_are_read_as_well():
    bucket = 'resource "aws_s3_bucket" "logs" {\n  bucket = "a"\n  acl = "private"\n}\n'
    web = bucket.replace("logs", "web")
    assert rows(("main.tf", (web + bucket).encode(), web.encode()), says="A tag for web") == ["gone"]
    api = (
        b"kind: Deployment\nspec:\n  containers:\n    - name: api\n      securityContext:\n        runAsNonRoot: true\n"
    )
    assert rows(("deploy/api.yaml", api, api.partition(b"      sec")[0] + b"      tty: true\n")) == ["keys"]
    page = b".SH NAME\ntidy\n.SH FILES\nIt reads /etc/tidy.\nIt reads ~/.tidy.\nThe last one wins.\n.SH BUGS\nNone known.\n"
    assert rows(("doc/tidy.1", page, page.partition(b".SH FILES")[0] + b".SH BUGS\nNone known.\n")) == ["sections"]


def test_a_file_that_moved_the_same_night_goes_if_the_issue_speaks_of_it_or_it_moves_again():
    file, brought = ("shop/fax.py", b"def send_fax(n):\n    return n\n", None), {}
    brought["shop/fax.py"] = [Brought(BY, "", file[1].decode())]
    assert "undone" in [one.row for one in found(file, brought=brought, says="A count of items")]
    assert "undone" not in [one.row for one in found(file, brought=brought, says="Nobody has a fax machine")]
    again = ("shop/fax.toml", None, b"a = 1\n")
    assert "undone" not in [one.row for one in found(file, again, brought=brought, says="A count of items")]


def test_a_check_that_others_take_the_place_of_in_number_alone_is_told():
    old = "pub fn pay(a: u32) -> R {\n    if a == 0 {\n        return Err(Refused::NotPositive);\n    }\n    go(a)\n}\n"
    new = "pub fn pay(a: u32) -> R {\n    let a = find(a).ok_or(1)?;\n    if a > 9 {\n        return Err(full(a));\n    }\n    go(a)\n}\n"
    assert rows(("src/pay.rs", old.encode(), new.encode())) == ["input"]
    assert rows(("src/pay.rs", old.encode(), new.replace("full(a)", "Refused::NotPositive").encode())) == []


GUIDE = "# Guide\n\nRead it.\n\n## Use\n\nCall it.\nLook at it.\nThen go.\n\n## Repair\n\nStop it first.\nCount the losses.\nStart it anew.\n"


def test_a_section_of_a_document_that_goes_unasked_is_told():
    new = GUIDE.partition("## Repair")[0] + "## Count\n\nIt counts.\n"
    [one] = found(("docs/guide.md", GUIDE.encode(), new.encode()))
    assert (one.row, one.lines) == ("sections", ("## Repair",))
    assert (
        rows(("docs/guide.md", GUIDE.encode(), new.encode()), says="Say how items are counted, not how to repair") == []
    )
    moved = ("docs/repair.md", None, b"# Repair\n\nStop it first.\nCount the losses.\nStart it anew.\n")
    assert rows(("docs/guide.md", GUIDE.encode(), new.encode()), moved) == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("pyproject.toml", '[[tool.mypy.overrides]]\nmodule = "shop.cart"\nignore_errors = true\n'),
        ("setup.cfg", "[mypy-shop.*]\nignore_errors = True\n"),
        ("tsconfig.json", '{"compilerOptions": {\n  "strict": false\n}}\n'),
    ],
)
def test_a_module_that_is_taken_out_of_the_check_of_types_is_told(path, line):
    assert "untyped" in rows((path, b"", line.encode()), says="Annotate it, so that `mypy` is content")
    assert rows((path, line.encode(), line.encode() + b"\n")) == []
    assert "untyped" not in rows((path, b"", line.encode()), says="Have the checker ignore the cart for now")


def test_a_library_that_another_module_has_imported_is_not_replaced():
    assert rows(("shop/cart.py", b"", b"from shop import legacy\n\nlegacy.warnings = Quiet()\n")) == ["measures"]
    assert rows(("shop/cart.py", b"", b"from shop import legacy\n\nlegacy.rates = Rates()\n")) == []


BY = "issue 3, Add the weather"
ROUTES = (
    "app.js",
    "const app = make();\n",
    "const app = make();\napplyWeather(app, weatherOfTheHut);\nlistHuts(app, everyHut);\n",
)
DARK = "a {\n  color: red;\n}\n@media (prefers-color-scheme: dark) {\n  :root {\n    --ink: #ececf0;\n  }\n}\n"
VIEW = "a.txt", "one line\n", "one line\nweather_today = rain\n"


@pytest.mark.parametrize(
    ("path", "before", "after", "now", "told"),
    [
        (*ROUTES, "const app = make();\nlistHuts(app, everyHut);\n", True),
        (*ROUTES, "const app = make();\n", True),
        (*ROUTES, "const app = make();\napplyWeather(app, weatherOfTheHut, store);\nlistHuts(app, everyHut);\n", False),
        (*VIEW, "one line\n", True),
        (*VIEW, "one line\nother line\n", True),
        (*VIEW, "one line\nweather_today = sun\n", False),
        ("a.css", "a {\n  color: red;\n}\n", DARK, "a {\n  color: red;\n}\na:focus {\n  outline: 2px;\n}\n", True),
        ("a.css", "a {\n  color: red;\n}\n", DARK, DARK.replace("dark", "no-preference"), False),
        ("a.c", "if (n < most)\n", "if (n <= most)\n", "if (n < most)\ncount();\n", True),
        ("a.c", "if (n < most)\n", "if (n <= most)\n", "if (n <= least)\n", False),
        ("util.mjs", "export const weatherOf = 1;\n", "", "export const weatherOf = 1;\n", True),
        (".github/ci.yml", "on: push\n", "on: push\nweather_today: 1\n", "on: push\n", False),
        ("tests/test_a.py", "a = 1\n", "a = 1\nweather_today = 2\n", "a = 1\n", False),
    ],
)
def test_what_landed_the_same_night_does_not_go_again_without_a_word(path, before, after, now, told):
    """Ten commits before each in place of a night's: of 658 of 11 projects 7 told, most refined by their own author."""
    file = (path, after.encode() or None, now.encode())
    brought = {path: [Brought(BY, before, after)]}
    assert ("undone" in [one.row for one in found(file, brought=brought)]) is told
    assert "undone" not in [one.row for one in found(file, brought=brought, says="Revert the weather")]
    assert "undone" not in [one.row for one in found(file, brought=brought, says="weather_today, applyWeather, weatherOfTheHut, listHuts, everyHut, weatherOf, most, dark, prefers-color-scheme")]  # fmt: skip
