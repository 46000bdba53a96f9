"""What data of main's tests has lost by a change, and by the landings of a run before it; no gate runs."""

import json
import subprocess

import pytest
from support.cases import cases

from noface.attempt.earlier_tests import EarlierTests
from noface.attempt.parts import Parts
from noface.attempt.protected_files import reached
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.model.attempt import AttemptOrder
from noface.model.gate import GateKind, GateSpec
from noface.model.issue import Issue
from noface.model.worker_run import ModelSpec
from noface.process.reads import Reads

UNIT = GateSpec("unit", "pytest", GateKind.TEST)
TEST = "from shop import price\n\n\ndef test_price():\n    for cents, text in load('cases.json'):\n        assert price(cents) == text\n"
AT_FIRST = {"shop.py": "def price(cents):\n    return str(cents)\n", "tests/test_shop.py": TEST}


def rows(first, last=6):
    return json.dumps([[f"in {each}", f"out {each}"] for each in range(first, last)])


@pytest.fixture
def lost(tmp_path):
    """What the last of some commits has lost, if those before it are landings of the run, or somebody else's."""

    folder = tmp_path

    def git(*args):
        done = subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *args],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(files):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True, parents=True)
            path.unlink() if text is None else path.write_text(text)
        git("add", "-A")
        git("commit", "-qm", "x")
        return git("rev-parse", "HEAD")

    def ask(steps, *, reads=None):
        nonlocal folder
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        git("init", "-q", "-b", "main")
        first, *since = [commit(step) for step in (AT_FIRST | steps[0], *steps[1:])]
        *landings, now = since
        main = landings[-1] if landings else first
        plumbing = Plumbing(discover(folder, "main"))
        model = ModelSpec("m", "command")
        order = AttemptOrder("r", "t", Issue("1", "One"), 1, model, "", main, main, 0, "", (UNIT,))
        noted = {"unit": Reads(*map(frozenset, reads), tree=plumbing.tree(main))} if reads else {}
        parts = Parts(plumbing, main, reached(plumbing, main, (UNIT,)), noted)
        with plumbing.blobs() as blobs:
            found = EarlierTests(plumbing, blobs, order, parts).weaker(plumbing.changes(main, now))
        plumbing.close()
        return [*(f"{loss.test} {loss.how}" for loss in found.lost), *([f"{found.fewer} fewer"] if found.fewer else [])]

    return ask


DATA = "tests/cases.json"
MOST = [f"{DATA} holds 8 in place of 24 values"]


@cases(
    ("steps", "more", "found"),
    [
        ([{DATA: rows(0)}, {DATA: rows(4)}], {}, MOST),
        ([{DATA: rows(0)}, {DATA: rows(4)}, {DATA: rows(3)}], {}, []),  # gives some back
        ([{DATA: rows(0)}, {DATA: None}], {"reads": ((), (DATA,))}, []),  # no gate reads it
        ([{DATA: rows(0)}, {DATA: None}], {"reads": ((DATA,), ())}, [f"{DATA} is gone (it held 24 values)"]),
        ([{"cases.json": rows(0)}, {"cases.json": rows(4)}], {}, []),  # data by its use, if a gate is known to read it
        (
            [{"cases.json": rows(0)}, {"cases.json": "[]"}],
            {"reads": (("cases.json",), ())},
            ["cases.json holds nothing"],
        ),
        ([{DATA: rows(0)}, {DATA: None, "examples/cases.json": rows(0)}], {}, []),  # moved as it is
    ],
)
def test_data_that_loses_its_cases_is_found(lost, steps, more, found):
    said = lost(steps, **more)
    assert len(said) == len(found)
    assert all(one.startswith(other) for one, other in zip(said, found, strict=True))


GOLDEN = """\
func {0}(t *testing.T, name, got string) {{
\tt.Helper()
\twant, err := os.ReadFile("testdata/" + name)
\tif err != nil {{
\t\tt.Fatalf("no golden %s", err)
\t}}
\tif got != string(want) {{
\t\tt.Fatalf("got %q, want %q", got, want)
\t}}
}}
"""
REPORT = (
    'package shop\n\nimport (\n\t"testing"\n{0})\n\nfunc TestReport(t *testing.T) {{\n\t{1}(t, "a.txt", Report())\n}}\n'
)
IN_TESTS = {"go.mod": "module shop\n", "report_test.go": REPORT.format("", "golden") + "\n" + GOLDEN.format("golden")}
APART = REPORT.format('\t"shop/internal/testutil"\n', "testutil.Golden")
PACKAGE = "package testutil\n\n"


@cases(
    ("helper", "tests", "losses"),
    [
        (PACKAGE + GOLDEN.format("Golden"), APART, []),
        (PACKAGE + GOLDEN.format("Golden").replace("got != string(want)", "false"), APART, ["1 fewer"]),
        (PACKAGE + "func Golden(t any, name, got string) {}\n", APART, ["2 fewer"]),
        (PACKAGE + GOLDEN.format("Golden"), REPORT.format("", "_ = golden"), ["2 fewer"]),  # nobody uses it
    ],
)
def test_a_helper_of_tests_that_moves_to_a_package_of_its_own_takes_nothing_along(lost, helper, tests, losses):
    assert lost([IN_TESTS, {"internal/testutil/golden.go": helper, "report_test.go": tests}]) == losses
