"""What files of main are to the gates, by who uses them; no gate runs."""

import subprocess
from pathlib import Path

import pytest
from support.cases import cases

from noface.attempt.parts import Parts
from noface.attempt.protected_files import reached
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.integrity.judges import Part
from noface.model.gate import GateKind, GateSpec

FILES = {
    "pyproject.toml": "[project.scripts]\nshop = 'shop.cli:main'\n",
    "shop/__init__.py": "",
    "shop/core.py": "from shop.snapshots import store\nimport shop.ab_test\nopen('rates.json')\nROOT / 'templates'\n",
    "shop/cli.py": "from shop.core import main\n",
    "shop/snapshots/store.py": "def keep(): pass\n",
    "shop/ab_test.py": "def split(): pass\n",
    "shop/testing.py": "def check(a, b):\n    if a != b:\n        raise AssertionError(a)\n",
    "shop/data/rates.json": "{}",
    "shop/data/unused.json": "{}",
    "shop/templates/mail.txt": "hello",
    "cases/a.txt": "1",
    "golden/deep/a.out": "1",
    "recorded/a.out": "1",
    "bin/shop": "#!/bin/sh\n",
    "README.md": "# shop\n",
    "pytest.ini": "[pytest]\naddopts = -p shop.strict\n",
    "shop/strict.py": "def pytest_configure(config): pass\n",
    "checks/run.py": "from checks.table import ROWS\nfrom shop.core import main\n",
    "checks/table.py": "ROWS = [1]\n",
    "tests/test_a.py": "from shop.testing import check\nfrom shop.core import main\n(TOP / 'cases').glob('*')\n",
    "tests/helper.py": "def x(): pass\n",
    "lone/__init__.py": "VERSION = 1\n",
    "lone/sums.py": "def check_sum(n): return n\n\n\ndef total(n):\n    return check_sum(n)\n",
    "site/index.html": "<p>",
    "shop/pages.py": "open('index.html')\n",
    "tests/test_sums.py": "from lone.sums import total\n",
    "lone/half.py": "def half(n): return n // 2\n",
    "tests/test_lone.py": "import lone\nfrom lone.half import half\n",
    "web/src/index.ts": "import { Row } from './types'\nimport { face } from './avatar.js'\n",
    "web/src/types.ts": "export type Row = number\n",
    "web/src/avatar.js": "export const face = 1\n",
    "web/lib/check.js": "function same(a, b) { if (a !== b) throw new Error(a) }\n",
    "web/test/a.test.js": "const { same } = require('../lib/check')\nconst face = require('../src/avatar')\n",
    "jest.config.js": "module.exports = {}\n",
    "match/match.go": "package match\n",
    "match/match_test.go": "package match\n",
    "shop/half.py": 'def half(n):\n    """>>> half(2)\n    1\n    """\n',
    "shop/twice.py": "def twice(n):\n    return n + n\n\n\ndef test_twice():\n    assert twice(2) == 4\n",
    "proofs/check_half.py": "from shop.twice import twice\n\n\ndef test_half():\n    assert twice(1) == 2\n",
    "crate/src/lib.rs": "mod range;\n",
    "checks/size.sh": "test -e shop\n",
    "ruff.toml": "extend = 'lint/base.toml'\n",
    "lint/base.toml": "",
    "crate/tests/range.rs": "use crate::range;\n",
}
GATES = tuple(
    GateSpec(name, command, GateKind.TEST)
    for name, command in (
        ("unit", "pytest"),
        ("table", "python -m checks.run"),
        ("program", "python shop/cli.py"),
        ("scripts", "for each in ./checks/*.sh; do sh $each; done"),
    )
)
LISTED = {"README.md", "shop/half.py", "shop/twice.py", "proofs/check_half.py"}
NEW = {
    "shop/core.py": FILES["shop/core.py"]
    + "from shop.snapshots import disk\nimport shop.bc_test\nimport conftest\nopen('fees.json')\nopen('ruff.toml')\n",
    "shop/snapshots/disk.py": "def keep(): pass\n",
    "shop/bc_test.py": "def split(): pass\n",
    "shop/fixtures/fees.json": "{}",
    "shop/data/other.json": "{}",
    "shop/ruff.toml": "",
    "shop/spec/ruff.toml": "",
    "conftest.py": "",
    "tests/test_new.py": "import shop.core\n",
    "tests/helpers/more.py": "",
    "tests/test_more.py": "from tests.helpers import more\n",
    "web/src/index.ts": FILES["web/src/index.ts"] + "import { up } from './jest.setup.js'\n",
    "web/src/jest.setup.js": "export const up = 1\n",
}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("parts")

    def git(*args):
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *args], cwd=folder, check=True)

    git("init", "-q", "-b", "main")
    for branch, files in (("main", FILES), ("change", NEW)):
        git("checkout", "-q", "-B", branch)
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        git("add", "-A")
        git("commit", "-qm", branch)
    plumbing = Plumbing(discover(folder, "main"))
    main, calls = plumbing.main(), reached(plumbing, plumbing.main(), GATES)
    yield Parts(plumbing, main, calls, LISTED, plumbing.tree("change"))
    plumbing.close()


@cases(
    ("path", "part"),
    [
        ("shop/snapshots/store.py", Part.PRODUCT),  # called as tests' data are
        ("shop/ab_test.py", Part.PRODUCT),
        ("web/src/types.ts", Part.PRODUCT),  # called as settings of tools are
        ("web/src/avatar.js", Part.PRODUCT),
        ("shop/core.py", Part.PRODUCT),
        ("shop/cli.py", Part.PRODUCT),  # a gate starts it, and the manifest declares it
        ("shop/templates/mail.txt", Part.PRODUCT),
        ("shop/data/unused.json", Part.SOFT),
        ("checks/run.py", Part.CONFIG),
        ("checks/size.sh", Part.CONFIG),
        ("golden/deep/a.out", Part.TEST),
        ("README.md", Part.TEST),
        ("shop/half.py", Part.PRODUCT),  # a runner names its examples
        ("shop/twice.py", Part.PRODUCT),  # or tests in it, and somebody uses it
        ("proofs/check_half.py", Part.TEST),
        ("tests/helper.py", Part.TEST),
        ("jest.config.js", Part.CONFIG),
        ("match/match_test.go", Part.TEST),
        ("crate/tests/range.rs", Part.TEST),
        ("shop/snapshots/disk.py", Part.PRODUCT),  # new, and the product uses it
        ("shop/bc_test.py", Part.PRODUCT),
        ("shop/fixtures/fees.json", Part.PRODUCT),
        ("shop/data/other.json", Part.SOFT),  # new, and nothing of the product uses it
        ("shop/ruff.toml", Part.CONFIG),
        ("tests/test_new.py", Part.TEST),
        ("tests/helpers/more.py", Part.TEST),
        ("conftest.py", Part.TEST),  # a tool looks for it by its name
        ("web/src/jest.setup.js", Part.CONFIG),
        ("shop/spec/ruff.toml", Part.TEST),
    ],
)
def test_who_uses_a_file_tells_what_it_is(parts, path, part):
    assert parts(path) is part


@cases(
    ("changed", "judging"),
    [
        (("shop/testing.py", "shop/core.py"), ("shop/testing.py",)),
        (("web/lib/check.js", "web/src/avatar.js"), ("web/lib/check.js",)),
        (("checks/table.py", "shop/core.py"), ("checks/table.py",)),
        (("shop/strict.py", "shop/core.py"), ("shop/strict.py",)),  # a plug-in that settings name
        (("lone/__init__.py", "shop/core.py"), ()),  # it opens a package of the product
        (("shop/testing.py",), ()),  # nothing of the product would be changed
        (("shop/core.py", "shop/ab_test.py"), ()),
        (("tests/helper.py", "shop/core.py"), ()),  # it is put back anyhow
        (("cases/a.txt", "shop/core.py"), ("cases/a.txt",)),
        (("cases/a.txt",), ()),
        (("lone/sums.py", "site/index.html"), ()),  # its own function is called so
        (("cases/new.txt", "shop/core.py"), ()),  # main has it not
        (("recorded/a.out", "shop/data/rates.json", "shop/templates/mail.txt", "shop/core.py"), ()),
        (("bin/shop", "shop/core.py"), ()),  # a program
        (("lint/base.toml", "shop/core.py"), ("lint/base.toml",)),  # settings that settings lead to
        (("cases/a.txt", "shop/testing.py", "shop/core.py"), ("cases/a.txt", "shop/testing.py")),
    ],
)
def test_what_only_judges_use_is_put_back_as_well(parts, changed, judging):
    assert parts.by_use(changed) == judging


@cases(
    ("new", "main"),
    [
        ("web/lib/check", "web/lib/check.js"),  # Node takes the file without an ending first
        ("shop/testing/__init__.py", "shop/testing.py"),
        ("shop/testing.cpython-311-x86_64-linux-gnu.so", "shop/testing.py"),
        ("web/src/avatar.ts", "web/src/avatar.js"),
        ("shop/new.py", ""),
        ("README", ""),
        ("shop/core.py", ""),
    ],
)
def test_a_new_file_may_be_found_in_the_place_of_another(parts, new, main):
    assert parts.stands_for(new) == main
