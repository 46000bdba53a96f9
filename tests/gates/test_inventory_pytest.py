import sys

import pytest
from support.cases import first_ones
from support.reported_gate import run_plain, run_reported

from noface.integrity.inventory import compared

PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider --disable-plugin-autoload"
TESTS = """
import pytest

def test_adds():
    assert 1 + 1 == 2

class TestGroup:
    def test_inner(self):
        pass

@pytest.mark.parametrize("value", [1, "a b", object()], ids=repr)
def test_each(value):
    pass
"""
ALL = [
    "tests/test_it.py::TestGroup::test_inner",
    "tests/test_it.py::test_adds",
    "tests/test_it.py::test_each['a b']",
    "tests/test_it.py::test_each[1]",
    "tests/test_it.py::test_each[<object object at 0x…>]",
]


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    (folder / "tests").mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "tests" / "test_it.py").write_text(TESTS)
    return folder


def write(checkout, name, text):
    path = checkout / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_each_test_is_named_from_the_checkout_on(checkout):
    ran = run_reported(checkout, PYTEST)
    assert (ran.exit_code, ran.ids("PASSED"), ran.inventory.complete) == (0, ALL, True)
    assert ran.inventory.runners == ("pytest",)


def test_each_way_to_end_has_its_outcome(checkout):
    write(
        checkout,
        "tests/test_it.py",
        """
import pytest
def test_passes(): pass
def test_fails(): assert False
def test_skips(): pytest.skip("now")
@pytest.mark.skip
def test_marked(): pass
@pytest.mark.xfail
def test_xfails(): assert False
@pytest.mark.xfail
def test_xpasses(): pass
@pytest.mark.xfail(strict=True)
def test_xpasses_strictly(): pass
@pytest.fixture
def broken(): raise RuntimeError
def test_setup(broken): pass
@pytest.fixture
def breaks_after():
    yield
    raise RuntimeError
def test_teardown(breaks_after): pass
""",
    )
    ran = run_reported(checkout, PYTEST)
    short = {outcome: [name.partition("::")[2] for name in ran.ids(outcome)] for outcome in ("FAILED", "SKIPPED")}
    assert ran.ids("PASSED") == ["tests/test_it.py::test_passes"]
    assert short["FAILED"] == ["test_fails", "test_setup", "test_teardown", "test_xpasses_strictly"]
    assert short["SKIPPED"] == ["test_marked", "test_skips", "test_xfails", "test_xpasses"]


START = f"PYTHONPATH=.:$PYTHONPATH {PYTEST}"
EXIT = "import os\ndef pytest_{}(): os._exit(0)\n"
# The file, what it says, the command: then how many are gone, how many skipped, and whether the run broke off.
CHEATS = {
    "a hook": ("conftest.py", "def pytest_collection_modifyitems(items): del items[1:]\n", PYTEST, (4, 0, False)),
    "an early exit": ("conftest.py", EXIT.format("runtest_teardown"), PYTEST, (5, 0, True)),
    "a skip of all": (
        "conftest.py",
        "import pytest\n@pytest.fixture(autouse=True)\ndef no(): pytest.skip('later')\n",
        PYTEST,
        (0, 5, False),
    ),
    "another pytest": ("pytest.py", "print('5 passed in 0.01s')\n", PYTEST, (5, 0, False)),
    "a narrower pattern": ("pytest.ini", "[pytest]\naddopts = -k adds\n", PYTEST, (4, 0, False)),
    "pytest.exit": (
        "conftest.py",
        "import pytest\ndef pytest_runtest_logfinish(): pytest.exit('', returncode=0)\n",
        PYTEST,
        (4, 0, True),
    ),
    "an expected failure": (
        "conftest.py",
        "import pytest\ndef pytest_itemcollected(item): item.add_marker('xfail')\n",
        PYTEST,
        (0, 5, False),
    ),
    "another start": (
        "sitecustomize.py",
        "import os\nos.write(1, b'5 passed in 0.01s\\n')\nos._exit(0)\n",
        START,
        (5, 0, False),
    ),
}


@pytest.mark.parametrize("cheat", first_ones(CHEATS, 4))
def test_what_hides_tests_from_a_green_gate_shows(checkout, cheat):
    file, text, command, expected = CHEATS[cheat]
    main = run_reported(checkout, command)
    write(checkout, file, text)
    now = run_reported(checkout, command)
    assert now.exit_code in {0, 5}  # 5: no tests at all
    short = compared(main.inventory, now.inventory)
    assert (len(short.gone), len(short.skipped), short.broken_off) == expected
    assert short.short


@pytest.mark.parametrize(
    "forgery",
    ["def pytest_sessionfinish(session): session.exitstatus = 0", "import os\ndef pytest_unconfigure(): os._exit(0)"],
)
def test_a_forged_result_shows_as_the_failure_it_is(checkout, forgery):
    main = run_reported(checkout, PYTEST)
    write(checkout, "tests/test_it.py", TESTS.replace("1 + 1 == 2", "1 + 1 == 3"))
    write(checkout, "conftest.py", forgery)
    now = run_reported(checkout, PYTEST)
    assert now.exit_code == 0
    assert compared(main.inventory, now.inventory).failed == ("tests/test_it.py::test_adds",)


def test_a_module_that_cannot_be_collected_failed(checkout):
    write(checkout, "tests/test_more.py", "import no_such_module\n")
    ran = run_reported(checkout, PYTEST)
    assert ran.ids("FAILED") == ["tests/test_more.py"]
    assert not ran.inventory.complete


def test_workers_are_counted_once(checkout):
    write(checkout, "tests/test_it.py", TESTS.replace(", object()", ""))
    ran = run_reported(checkout, f"{sys.executable} -m pytest -q -p no:cacheprovider -n 2")
    assert (ran.ids("PASSED"), ran.inventory.complete) == ([*ALL[:4]], True)
    assert len(list((ran.folder / "reports").iterdir())) == 1


def test_what_tests_run_is_not_counted_and_sees_the_projects_environment(checkout):
    write(
        checkout,
        "tests/test_inner.py",
        """
import os, subprocess, sys
pytest_plugins = "pytester"
def test_in_process(pytester):
    pytester.makepyfile("def test_a(): pass\\ndef test_b(): assert 0")
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1, failed=1)
def test_as_a_child(pytester):
    pytester.makepyfile("def test_a(): pass")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
def test_environment():
    assert os.environ["PYTHONPATH"] == "own"
    assert "NODE_OPTIONS" not in os.environ
    assert not [name for name in sys.path if "preload" in name]
""",
    )
    write(checkout, "conftest.py", "pytest_plugins = 'pytester'\n")
    ran = run_reported(checkout, f"{PYTEST} -p pytester tests/test_inner.py", PYTHONPATH="own")
    assert ran.exit_code == 0
    assert ran.ids("PASSED") == [
        f"tests/test_inner.py::{name}" for name in ("test_as_a_child", "test_environment", "test_in_process")
    ]


def test_a_program_that_starts_pytest_twice_is_counted(checkout):
    write(checkout, "tests/test_other.py", "def test_b(): pass\n")
    write(
        checkout,
        "run.py",
        "import pytest, subprocess, sys\n"
        "arguments = ['-q', '-p', 'no:cacheprovider', '--disable-plugin-autoload']\n"
        "pytest.main([*arguments, 'tests/test_it.py'])\n"
        "subprocess.run([sys.executable, '-m', 'pytest', *arguments, 'tests/test_other.py'])\n",
    )
    ran = run_reported(checkout, f"{sys.executable} run.py")
    assert (ran.ids("PASSED"), ran.inventory.complete) == ([*ALL, "tests/test_other.py::test_b"], True)


@pytest.mark.parametrize("command", ["PYTHONPATH=src {}", "env -u PYTHONPATH {}"])
def test_a_gate_with_a_path_of_its_own_runs_and_is_known_by_its_count(checkout, command):
    ran = run_reported(checkout, command.format(PYTEST))
    assert (ran.exit_code, ran.inventory.tests, ran.inventory.count) == (0, (), 5)
    write(checkout, "pytest.ini", "[pytest]\naddopts = -k adds\n")
    now = run_reported(checkout, command.format(PYTEST))
    assert compared(ran.inventory, now.inventory).fewer == (5, 1)


def test_output_is_as_without(checkout):
    command = f"{PYTEST} -rA -vv | sed -E 's/[0-9.]+s//g; s/0x[0-9a-f]+//g'"
    plain = run_plain(checkout, command)
    ran = run_reported(checkout, command)
    assert (ran.stdout, ran.stderr) == (plain.stdout, plain.stderr)


def test_the_projects_own_start_module_still_starts(checkout):
    write(checkout, "own/sitecustomize.py", "import builtins\nbuiltins.begun = True\n")
    write(
        checkout,
        "tests/test_it.py",
        "def test_own():\n    assert begun\n    import sitecustomize\n    assert 'own' in sitecustomize.__file__\n",
    )
    ran = run_reported(checkout, PYTEST, PYTHONPATH=str(checkout / "own"))
    assert ran.ids("PASSED") == ["tests/test_it.py::test_own"]


def test_a_start_module_that_raises_says_so_as_ever(checkout):
    write(checkout, "own/sitecustomize.py", "raise ValueError('own')\n")
    command = f"{sys.executable} -c 'print(1)'"
    env = {"PYTHONPATH": str(checkout / "own")}
    ran, plain = run_reported(checkout, command, **env), run_plain(checkout, command, **env)
    assert (ran.stdout, ran.stderr) == (plain.stdout, plain.stderr)
    assert "ValueError: own" in ran.stderr
