"""A change that has other versions of tools installed is judged with main's; what its product uses stays its own.

Real virtual environments, and wheels of a few lines that are unpacked as an installer would. The checker refuses what
is unfinished, from its second version on; it loads plug-ins by entry points.
"""

import json
import sys
import zipfile

import pytest

from noface.attempt.main_tools import combine

GOOD = "def half(number):\n    return number // 2\n"
UNFINISHED = GOOD + "# unfinished\n"
CHECKER = """\
import importlib.metadata
import pathlib
import sys

strict = {strict}
for point in importlib.metadata.entry_points(group="checker.rules"):
    strict = point.load().strict(strict)
text = pathlib.Path("calc.py").read_text()
sys.exit("calc.py is unfinished" if strict and "unfinished" in text else 0)
"""
RULES = {"entry_points.txt": "[checker.rules]\nforgive = forgive\n"}


def wheel(folder, name, version, text, needs=(), **more):
    """Make a wheel with one module."""
    info = f"{name}-{version}.dist-info"
    required = "".join(f"Requires-Dist: {each}\n" for each in needs)
    files = {
        f"{name}.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        **{f"{info}/{path}": content for path, content in more.items()},
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        for path, content in files.items():
            file.writestr(path, content)


@pytest.fixture
def checked(project):
    """A project that a checker judges which setup installs, and whose product uses a library."""
    wheels = project.folder / "wheels"
    wheels.mkdir()
    for version, strict in (("1.0", False), ("2.0", True), ("3.0", True)):
        wheel(wheels, "checker", version, CHECKER.format(strict=strict))
    wheel(wheels, "forgive", "1.0", "def strict(known):\n    return False\n", **RULES)
    wheel(wheels, "shapes", "1.0", "SIDES = 4\n")
    wheel(wheels, "shapes", "2.0", "SIDES = 6\n", needs=("paper",))
    wheel(wheels, "paper", "1.0", "SIZE = 4\n")
    install = f"sed s/==/-/ requirements.txt | sed s,.*,{wheels}/\\&-py3-none-any.whl, | xargs -n1 -I@"
    site = ".venv/lib/python*/site-packages"
    setup = f"{sys.executable} -m venv --without-pip .venv && {install} sh -c 'python3 -m zipfile -e @ {site}'"
    lint = '\n[[gates]]\nname = "lint"\nkind = "lint"\ncommand = ".venv/bin/python -m checker"\n'
    unit = ".venv/bin/python -c 'import calc; assert calc.half(6) == 3'"
    project.config(
        f"{lint}\n[project]\nsetup = {json.dumps(setup)}\nsetup_inputs = ['requirements.txt']\nkeep = ['.venv']\n",
        gate=unit,
    )
    project.write("calc.py", GOOD)
    project.write("requirements.txt", "checker==2.0\nshapes==1.0\n")
    project.write("boxes.py", "import shapes\n")
    return project


def pins(*lines):
    return {"write": "requirements.txt", "text": "".join(f"{line}\n" for line in lines)}


def calc(text):
    return {"write": "calc.py", "text": text}


BOUGHT = {
    "an older checker": [pins("checker==1.0", "shapes==1.0"), calc(UNFINISHED)],
    "a plug-in that the product imports": [
        pins("checker==2.0", "shapes==1.0", "forgive==1.0"),
        calc("import forgive\n" + UNFINISHED),
    ],
}
HONEST = {
    "a newer library of the product, with what it needs": [
        pins("checker==2.0", "shapes==2.0", "paper==1.0"),
        calc("import paper\nimport shapes\n\nassert shapes.SIDES == 6\n" + GOOD),
    ],
    "a newer checker": [pins("checker==3.0", "shapes==1.0"), calc(GOOD + "\n")],
    "Use checker 1.0 again": [pins("checker==1.0", "shapes==1.0"), calc(UNFINISHED)],
}


FIRST = ("a plug-in that the product imports", "an older checker", "a newer library of the product, with what it needs")


@pytest.mark.parametrize("names", [FIRST, pytest.param((*BOUGHT, *HONEST), marks=pytest.mark.thorough)])
def test_tools_that_judge_come_in_mains_versions(checked, names):
    changes = {name: (BOUGHT | HONEST)[name] for name in names}
    checked.play(*[(str(number), 0, steps) for number, steps in enumerate(changes.values(), 1)])
    for number, name in enumerate(changes, 1):
        checked.issue(number, name if name.startswith("Use") else "Half", max_attempts=1)
    checked.commit()
    checked.run(code=3)
    statuses = dict(zip(changes, checked.statuses().values(), strict=True))
    attempts = {name: checked.attempts(str(number))[0]["failure"] for number, name in enumerate(changes, 1)}
    assert statuses == {name: "approval" if name in BOUGHT else "merged" for name in names}
    assert {name: attempts[name]["rule"] for name in BOUGHT} == dict.fromkeys(BOUGHT, "judge-altered")
    told = attempts["an older checker"]["message"]
    assert "checker 1.0 (main has 2.0)" in told
    assert "lint" in told


@pytest.mark.thorough
def test_an_environment_that_cannot_be_made_once_more_is_charged_to_nobody(checked):
    count = checked.folder / "count"
    fails = f"echo >> {count}; test $(wc -l < {count}) != 3 || exit 9; "
    settings = (checked.path / "noface.toml").read_text()
    checked.write("noface.toml", settings.replace('setup = "', f'setup = "{fails}'))
    checked.play(("1", 0, HONEST["a newer checker"]))
    checked.issue(1, "Half", max_attempts=1)
    checked.commit()
    checked.run()
    failed, passed = checked.attempts("1")
    assert (failed["charged"], failed["failure"]["rule"]) == (False, "setup-failed")
    assert passed["outcome"] == "PASSED"


def test_a_package_that_names_a_tool_s_folder_as_its_file_takes_nothing_of_it(tmp_path):
    site, product = ".venv/lib/python3/site-packages", frozenset({(".venv", "shapes")})
    for side, version in (("main", "1.0"), ("change", "2.0")):
        wheels, packages = tmp_path / side, tmp_path / side / site
        packages.mkdir(parents=True)
        (wheels / ".venv/pyvenv.cfg").write_text("")
        wheel(wheels, "shapes", version, f"SIDES = {version}\n")
        wheel(wheels, "checker", version, "")
        for name in ("shapes", "checker"):
            zipfile.ZipFile(wheels / f"{name}-{version}-py3-none-any.whl").extractall(packages)
        (packages / "rules").mkdir()
        (packages / "rules/strict.txt").write_text(version)
        for name, path in (("checker", "rules/strict.txt"), ("shapes", "rules")):
            record = packages / f"{name}-{version}.dist-info/RECORD"
            record.write_text(f"{record.read_text()}{path},,\n")
    combine(tmp_path / "change", tmp_path / "main", ".venv", product)
    packages = tmp_path / "main" / site
    assert (packages / "shapes.py").read_text() == "SIDES = 2.0\n"
    assert (packages / "rules/strict.txt").read_text() == "1.0"


REPLACES = """\
import unittest

kept = unittest.TestCase.{name}
def {name}(self, *values, kept=kept):
    {does}
unittest.TestCase.{name} = {name}
"""
LOADED = {"entry_points.txt": "[pytest11]\nteam = team\n"}
UNITTEST = """\
import unittest

from calc import half


class TestHalf(unittest.TestCase):
    def test_half(self):
        self.assertEqual(half(6), 3)
"""
PATCHES = "import importlib\n\nunit = importlib.import_module('unit' + 'test')\nunit.TestCase.assertEqual = lambda *_: None\n\n\n"


@pytest.fixture
def reported(project):
    """A project whose tests pytest runs in an environment of its own, perhaps with a plug-in."""
    wheels = project.folder / "wheels"
    wheels.mkdir()
    tells = "kept(self, *values)"
    wheel(wheels, "team", "1.0", REPLACES.format(name="assertEqual", does=tells), **LOADED)
    both = REPLACES.format(name="assertEqual", does=tells) + REPLACES.format(name="assertNotEqual", does=tells)
    wheel(wheels, "team", "2.0", both, **LOADED)
    wheel(wheels, "team", "3.0", REPLACES.format(name="assertEqual", does="pass"), **LOADED)
    install = f"grep == requirements.txt | sed s/==/-/ | sed s,.*,{wheels}/\\&-py3-none-any.whl, | xargs -r -n1 -I@"
    site = ".venv/lib/python*/site-packages"
    mine = next(path for path in sys.path if path.endswith("site-packages"))
    setup = (
        f"{sys.executable} -m venv --without-pip .venv && for at in {site}; do echo {mine} > $at/pytest.pth; done"
        f" && {install} sh -c 'python3 -m zipfile -e @ {site}'"
    )
    project.config(
        f"\n[project]\nsetup = {json.dumps(setup)}\nsetup_inputs = ['requirements.txt']\nkeep = ['.venv']\n",
        gate=".venv/bin/python -m pytest -q -p no:cacheprovider -p no:xdist",
    )
    project.write("calc.py", GOOD)
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    project.write("tests/test_calc.py", UNITTEST)
    return project


NEW = {
    "the product replaces one beside it": ([pins("team==1.0"), calc(PATCHES + GOOD)], "report-disagrees"),
    "a new plug-in": ([pins("team==1.0"), calc(GOOD + "\n")], None),
}
NEWER = {
    "one that forgives": ([pins("team==3.0"), calc(GOOD.replace("// 2", "// 3"))], "judge-altered"),
    "a newer version": ([pins("team==2.0"), calc(GOOD + "\n")], None),
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("on_main", "changes"),
    [("", NEW), ("team==1.0", NEWER)],
)
def test_a_plug_in_that_replaces_functions_of_its_runner_is_no_product_that_does(reported, on_main, changes):
    reported.write("requirements.txt", f"# tools\n{on_main}\n")
    reported.play(*[(str(number), 0, steps) for number, (steps, _) in enumerate(changes.values(), 1)])
    for number in range(1, len(changes) + 1):
        reported.issue(number, "Half", max_attempts=1)
    reported.commit()
    done = reported.noface("run")
    failures = {name: reported.attempts(str(number))[0]["failure"] for number, name in enumerate(changes, 1)}
    found = {name: failure and failure["rule"] for name, failure in failures.items()}
    assert found == {name: rule for name, (_, rule) in changes.items()}, done.stdout + done.stderr
