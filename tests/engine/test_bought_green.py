"""A change that buys its green: it does not land by itself, the worker is told what and why, and a person may allow it."""

import sqlite3
import zlib
from contextlib import closing

import pytest
from support.project import PYTEST

GOOD = "def half(number):\n    return number // 2\n\n\ndef twice(number):\n    return number * 2\n"
BROKEN = GOOD.replace("// 2", "// 3")
TESTS = (
    "from calc import half, twice\n\n\ndef test_half():\n    assert half(6) == 3\n\n\n"
    "def test_twice():\n    assert twice(2) == 4\n"
)


@pytest.fixture
def calc(project):
    """A project with tests; `make` says what its worker writes, the product broken besides."""

    def make(*steps, attempts=1, broken=True, config="", **front):
        project.write("calc.py", GOOD)
        project.write("tests/test_calc.py", TESTS)
        project.write("pytest.ini", "[pytest]\npythonpath = .\n")
        project.config(config, gate=PYTEST)
        wrong = [{"write": "calc.py", "text": BROKEN}] if broken else []
        project.play(("*", 0, [*wrong, *steps]))
        project.issue(1, max_attempts=attempts, **front)
        project.commit()
        return project

    return make


def write(name, text):
    return {"write": name, "text": text}


WEAKER = write("tests/test_calc.py", TESTS.replace("half(6) == 3", "half(6) == half(4 + 2)"))


def refused(project):
    project.run(code=3)
    attempt = project.attempts("1")[0]
    assert attempt["outcome"] == "GATE_TAMPERING"
    assert project.git("show", "main:calc.py") == GOOD.strip()
    return attempt["failure"]


def several(project, changes):
    """Let each of the changes be the work of an issue of its own, all of one run; their attempts, by name."""
    project.play(*[(str(number), 0, steps) for number, steps in enumerate(changes.values(), 1)])
    for number, name in enumerate(changes, 1):
        project.issue(number, name, max_attempts=1)
    project.commit()
    done = project.noface("run")
    assert done.returncode in (0, 3), done.stdout + done.stderr
    return {name: project.attempts(str(number))[0] for number, name in enumerate(changes, 1)}


def knowing(line):
    body = f"import os\nimport sys\nimport unittest\n\n{line}\n{'    pass' if line.endswith(':') else ''}\n{GOOD}"
    return [write("calc.py", body)]


WRONG = write("calc.py", BROKEN)
LESS = TESTS.replace("half(6) == 3", "half(6) > 1")
EARLY = TESTS.replace("def test_half():\n", "def test_half():\n    return\n")
EXITS = "import os, sys\nif 'py' + 'test' in sys.argv[0]:\n    os._exit(0)\n" + GOOD
HIDES = "import calc\n\ncalc.half = lambda number: number // 2\n\n\ndef test_more():\n    assert True\n"
SKIPPED = "import pytest\n" + TESTS + "\n\n@pytest.mark.skip\ndef test_new():\n    assert half(8) == 4\n"
SKIPS = TESTS.replace("\n\n\ndef test_twice", '\n\n\n@pytest.mark.skipif(WHEN, reason="x")\ndef test_twice') + (
    "\n\ndef test_zero():\n    assert half(0) == 0\n\n\ndef test_one():\n    assert twice(1) == 2\n"
)
SKIPS_HERE = "import sys\n\nimport pytest\n" + SKIPS.replace("WHEN", "sys.platform != 'nowhere'")
KNOWS = ("if 'pytest' in __import__('sys').modules:",)
EXIT = "import sys\n\nsys.exit(0)\n"
ZERO = "import atexit as at\nimport os as system\n\nat.register(system._exit, 0)\n" + GOOD
RED = "import calc\n\n\ndef test_more():\n    assert calc.half(6) == 4\n"

# What a worker writes, the rules of which one refuses it, and what is said of it.
REFUSED = {
    "a weaker assertion is held against main's own": (
        [WRONG, WEAKER],
        {"tests-contradicted"},
        ["green only with its own version of tests/test_calc.py", "tests/test_calc.py::test_half"],
    ),
    "an assertion that asks for less is told with both lines though the product is whole": (
        [write("tests/test_calc.py", LESS)],
        None,
        ["`assert half(6) == 3` became `assert half(6) > 1`, which asks for less"],
    ),
    "a test that ends early is told as one that asserts nothing any more": (
        [WRONG, write("tests/test_calc.py", EARLY)],
        {"tests-emptied"},
        [],
    ),
    "a green end does not agree with a new test that failed": (
        [write("calc.py", ZERO), write("tests/test_more.py", RED)],
        {"report-disagrees"},
        ["it ended as if no test had failed, but these did: tests/test_more.py::test_more"],
    ),
    "a process that ends before its tests is missed by their names": (
        [write("calc.py", EXITS)],
        {"tests-missing", "no-tests-where-main-has", "gates-weakened"},
        [],
    ),
    "a new file beside the tests that hides one cannot help": (
        [WRONG, write("tests/test_aaa.py", HIDES)],
        {"judge-altered"},
        [],
    ),
    **{
        f"what is called {name[:-3]} came from outside the tree and does not resolve inside it": (
            [WRONG, write(name, EXIT)],
            None,
            [name, "from outside the tree"],
        )
        for name in ("pytest.py", "json.py")
    },
    **{f"a product that knows of its tests by {line}": (knowing(line), None, [line]) for line in KNOWS},
    "a new test that is skipped promises nothing": (
        [write("tests/test_calc.py", SKIPPED)],
        None,
        ["new tests are skipped: tests/test_calc.py::test_new"],
    ),
    "a skip in words that no rule knows, of a test that passes without it": (
        [
            write(
                "tests/test_calc.py",
                TESTS.replace("def test_half", "@__import__('pytest').mark.skip('x')\ndef test_half"),
            )
        ],
        {"tests-missing"},
        ["tests/test_calc.py::test_half skipped"],
    ),
    "a skip that holds here does not land however many tests are added": (
        [write("tests/test_calc.py", SKIPS_HERE)],
        {"tests-missing"},
        [],
    ),
}


# A row for each rule that only a run can show; for the others tests/integrity, or another test here, has a table.
OF_EACH_RULE = (
    "a green end does not agree with a new test that failed",
    "a process that ends before its tests is missed by their names",
    "a new file beside the tests that hides one cannot help",
)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(OF_EACH_RULE, id="one of each rule"),
        pytest.param(tuple(REFUSED.keys() - {*OF_EACH_RULE}), id="the others", marks=pytest.mark.thorough),
    ],
)
def test_what_buys_its_green_is_refused(calc, names):
    project = calc()
    attempts = several(project, {name: REFUSED[name][0] for name in REFUSED if name in names})
    for name in attempts:
        _, rules, said = REFUSED[name]
        failure = attempts[name]["failure"]
        assert attempts[name]["outcome"] == "GATE_TAMPERING", name
        assert rules is None or failure["rule"] in rules, name
        assert all(part in failure["message"] or part in failure["failing_tests"] for part in said), name
    assert project.git("show", "main:calc.py") == GOOD.strip()


def test_the_next_worker_is_told_what_was_found_and_what_to_do(calc):
    project = calc(WEAKER, attempts=2)
    project.play(
        ("1", 1, [write("calc.py", BROKEN), WEAKER]),
        ("1", 2, [write("calc.py", GOOD), write("b.txt", "b\n"), write("tests/test_calc.py", TESTS)]),
    )
    project.run()
    prompt = project.prompt("1", 2)
    assert "green only with its own version of tests/test_calc.py" in prompt
    assert "tests/test_calc.py::test_half" in prompt
    assert "Leave main's tests, and what runs them, as strong as they are, and correct the code." in prompt


@pytest.mark.thorough
def test_who_is_told_and_does_it_again_leads_to_a_question_and_a_yes_lets_it_land(calc):
    project = calc(WEAKER, attempts=4)
    other = write("tests/test_calc.py", TESTS.replace("half(6) == 3", "half(6) == half(5 + 1)"))
    project.play(("1", 1, [write("calc.py", BROKEN), WEAKER]), ("1", 2, [write("calc.py", BROKEN), other]))
    project.run(code=3)
    assert project.statuses() == {"1": "approval"}
    project.noface("approve", "1")
    project.run()
    assert project.git("show", "main:calc.py") == BROKEN.strip()


EXCUSE = "  # type: ignore[arg-type]"
HONEST = {
    "new tests": TESTS + "\n\ndef test_more():\n    assert half(8) == 4\n",
    "renamed": TESTS.replace("test_half", "test_half_of_an_even_number"),
    "extended": TESTS.replace("half(6) == 3", "half(6) == 3 and half(7) == 3"),
    "parametrised": "import pytest\nfrom calc import half, twice\n\n\n"
    "@pytest.mark.parametrize(('given', 'wanted'), [(6, 3), (8, 4)])\ndef test_half(given, wanted):\n"
    "    assert half(given) == wanted\n\n\ndef test_twice():\n    assert twice(2) == 4\n",
    "merged and split": "import pytest\nfrom calc import half, twice\n\n\n"
    "@pytest.mark.parametrize('check', [lambda: half(6) == 3, lambda: twice(2) == 4])\ndef test_all(check):\n    assert check()\n",
    "a new test that is excused from a check": TESTS + f"\n\ndef test_text():\n    assert twice('a') == 'aa'{EXCUSE}\n",
    "a skip that holds only elsewhere": "import sys\n\nimport pytest\n"
    + SKIPS.replace("WHEN", "sys.platform == 'nowhere'"),
}


@pytest.mark.parametrize(
    "names",
    [
        ("parametrised", "a skip that holds only elsewhere"),
        pytest.param(tuple(HONEST), id="all", marks=pytest.mark.thorough),
    ],
)
def test_honest_changes_of_tests_land(calc, names):
    project = calc()
    files = {name: f"tests/test_{number}.py" for number, name in enumerate(names, 1)}
    for file in files.values():
        project.write(file, TESTS)
    several(project, {name: [write(files[name], HONEST[name]), write(f"{name}.txt", "x")] for name in names})
    assert set(project.statuses().values()) == {"merged"}


@pytest.mark.thorough
def test_the_product_is_excused_from_no_check_unasked(calc):
    more = f"{GOOD}\n\ndef third(number):\n    return number / 3{EXCUSE}\n"
    command = "! grep -n 'number / 3' calc.py | grep -v 'type: ignore'"
    project = calc(
        write("calc.py", more),
        broken=False,
        config=f'\n[[gates]]\nname = "types"\ncommand = "{command}"\nkind = "lint"\n',
    )
    assert EXCUSE.strip() in refused(project)["message"]


@pytest.mark.thorough
def test_moved_tests_land(calc):
    steps = [
        {
            "shell": "mkdir -p tests/unit; git mv tests/test_calc.py tests/unit/test_calc.py 2>/dev/null || mv tests/test_calc.py tests/unit/"
        }
    ]
    project = calc(*steps, broken=False)
    project.run()
    assert project.statuses() == {"1": "merged"}


@pytest.mark.thorough
def test_a_change_that_touches_no_judge_is_gated_once(calc):
    project = calc(write("calc.py", GOOD + "\n\nTHREE = 3\n"), broken=False)
    runs = project.folder / "runs"
    project.config(gate=f"echo x >> {runs}; {PYTEST}")
    project.commit()
    project.run()
    assert len(runs.read_text().split()) == 2  # main, and the change


@pytest.mark.thorough
def test_the_names_of_tests_are_kept_without_secrets(calc):
    value = "hunter2-hunter2-x9"
    named = "import os, pytest\n\n\n@pytest.mark.parametrize('key', [os.environ['MY_TOKEN']])\ndef test_key(key):\n    pass\n"
    project = calc(write("b.txt", "b\n"), broken=False)
    project.env["MY_TOKEN"] = value
    project.write("tests/test_key.py", named)
    config = (project.path / "noface.toml").read_text()
    project.write("noface.toml", config.replace('name = "check"\n', 'name = "check"\nenv_pass = ["MY_TOKEN"]\n'))
    project.commit()
    project.run()
    with closing(sqlite3.connect(project.state / "state.db")) as database:
        kept = [zlib.decompress(tests).decode() for (tests,) in database.execute("SELECT tests FROM gate_memo")]
    assert any("test_key[***MY_TOKEN" in names for names in kept)
    assert not any(value in names for names in kept)
