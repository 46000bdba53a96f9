import sys

import pytest
from support.cases import first_ones
from support.reported_gate import run_reported

from noface.integrity.inventory import compared

UNITTEST = f"{sys.executable} -m unittest"
TESTS = """
import unittest

class TestSums(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(1 + 1, 2)
    def test_each(self):
        for value in (1, 2):
            with self.subTest(value=value):
                self.assertTrue(value)

class TestLater(unittest.IsolatedAsyncioTestCase):
    async def test_waits(self):
        pass

if __name__ == "__main__":
    unittest.main()
"""
ALL = ["test_it.py::TestLater::test_waits", "test_it.py::TestSums::test_adds", "test_it.py::TestSums::test_each"]


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "test_it.py").write_text(TESTS)
    return folder


@pytest.mark.parametrize("command", [UNITTEST, f"{sys.executable} test_it.py", f"{UNITTEST} -v test_it"])
def test_each_test_is_named_by_its_file(checkout, command):
    ran = run_reported(checkout, command)
    assert (ran.exit_code, ran.ids("PASSED"), ran.inventory.complete) == (0, ALL, True)
    assert ran.inventory.runners == ("unittest",)


def test_each_way_to_end_has_its_outcome(checkout):
    text = """
import unittest

class TestIt(unittest.TestCase):
    def test_passes(self): pass
    def test_fails(self): self.fail()
    def test_errs(self): raise ValueError
    def test_skips(self): self.skipTest("now")
    @unittest.skip("always")
    def test_marked(self): pass
    @unittest.expectedFailure
    def test_xfails(self): self.fail()
    @unittest.expectedFailure
    def test_xpasses(self): pass
    def test_parts(self):
        with self.subTest("first"): pass
        with self.subTest("second"): self.fail()
        with self.subTest("third"): self.skipTest("now")

class TestClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise ValueError
    def test_never(self): pass

@unittest.skip("class")
class TestSkipped(unittest.TestCase):
    def test_skipped(self): pass
"""
    (checkout / "test_it.py").write_text(text)
    (checkout / "test_broken.py").write_text("import no_such_module\n")
    ran = run_reported(checkout, UNITTEST)
    short = {kind: {name.rpartition("::")[2] for name in ran.ids(kind)} for kind in ("PASSED", "FAILED", "SKIPPED")}
    assert short == {
        "PASSED": {"test_passes"},
        "FAILED": {"test_fails", "test_errs", "test_xpasses", "test_parts", "unittest.loader._FailedTest.test_broken"},
        "SKIPPED": {"test_skips", "test_marked", "test_xfails", "test_skipped"},
    }


CHEATS = {
    "a skip": ("self.assertEqual(1 + 1, 2)", "self.skipTest('later')", (0, 1, 0, False)),
    "an early exit": ("self.assertEqual(1 + 1, 2)", "import os; os._exit(0)", (2, 0, 0, True)),
    "a forged result": (
        "import unittest",
        "import unittest\nunittest.TestResult.wasSuccessful = lambda self: True\nunittest.TestCase.assertEqual = 0",
        (0, 0, 1, False),
    ),
    "a test by another name": ("def test_adds", "def adds", (1, 0, 0, False)),
    "a filter": (
        "import unittest",
        "import unittest\ndef load_tests(l, t, p): return unittest.TestSuite()",
        (3, 0, 0, False),
    ),
    "a forged exit code": (
        "self.assertEqual(1 + 1, 2)",
        "import atexit, os; atexit.register(os._exit, 0); 1 / 0",
        (0, 0, 1, False),
    ),
}


@pytest.mark.parametrize("cheat", first_ones(CHEATS, 3))
def test_what_hides_tests_from_a_green_gate_shows(checkout, cheat):
    old, new, expected = CHEATS[cheat]
    main = run_reported(checkout, UNITTEST)
    (checkout / "test_it.py").write_text(TESTS.replace(old, new, 1))
    now = run_reported(checkout, UNITTEST)
    assert now.exit_code == 0
    short = compared(main.inventory, now.inventory)
    assert (len(short.gone), len(short.skipped), len(short.failed), short.broken_off) == expected


def test_what_tests_run_is_not_counted_and_sees_the_projects_environment(checkout):
    text = """
import os, subprocess, sys, unittest

class Inner(unittest.TestCase):
    def runTest(self): self.fail()

class TestIt(unittest.TestCase):
    def test_inside(self):
        result = unittest.TestResult()
        Inner().run(result)
        self.assertEqual(len(result.failures), 1)
        unittest.TextTestRunner(stream=open(os.devnull, "w")).run(Inner())
    def test_as_a_child(self):
        self.assertEqual(os.environ.get("PYTHONPATH"), None)
        done = subprocess.run([sys.executable, "-m", "unittest", "other"], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)

def load_tests(loader, tests, pattern):
    return loader.loadTestsFromTestCase(TestIt)
"""
    (checkout / "test_it.py").write_text(text)
    (checkout / "other.py").write_text(TESTS)
    ran = run_reported(checkout, UNITTEST)
    assert (ran.exit_code, ran.inventory.complete) == (0, True), ran.stderr
    assert ran.ids("PASSED") == ["test_it.py::TestIt::test_as_a_child", "test_it.py::TestIt::test_inside"]
    assert ran.ids("FAILED") == []


def test_a_run_that_stops_at_its_first_failure_is_not_complete(checkout):
    text = TESTS.replace("self.assertEqual(1 + 1, 2)", "self.assertEqual(1 + 1, 3)")
    (checkout / "test_it.py").write_text(text)
    assert run_reported(checkout, UNITTEST).inventory.complete
    ran = run_reported(checkout, f"{UNITTEST} --failfast")
    assert (ran.ids("FAILED"), ran.inventory.complete) == (["test_it.py::TestSums::test_adds"], False)
