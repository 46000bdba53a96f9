"""What main's tests have lost by a change; no gate runs."""

import tempfile
from pathlib import Path

from support.cases import cases
from support.git_ground import a_repository, tree_of

from noface.attempt.examine import weaker_tests
from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.model.issue import Issue

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
        (PACKAGE + "func Golden(t any, name, got string) {}\n", APART, ["2 fewer"]),
        (PACKAGE + GOLDEN.format("Golden"), REPORT.format("", "_ = golden"), ["2 fewer"]),  # nobody uses it
    ],
)
def test_a_helper_of_tests_that_moves_to_a_package_of_its_own_takes_nothing_along(tmp_path, helper, tests, losses):
    folder = a_repository(Path(tempfile.mkdtemp(dir=tmp_path)) / "shop", IN_TESTS)
    now = tree_of(folder, {**IN_TESTS, "internal/testutil/golden.go": helper, "report_test.go": tests})
    plumbing = Plumbing(discover(folder, "main"))
    with plumbing.blobs() as blobs:
        found = weaker_tests(blobs, Issue("1", "One"), plumbing.changes("main", now))
    plumbing.close()
    assert [f"{found.fewer} fewer"] * bool(found.fewer) == losses
    assert bool(found.lost) is bool(losses)
