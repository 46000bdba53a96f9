"""A gate must judge the workspace: neither the person's checkout, nor a copy that was installed once."""

import shutil
import subprocess
import sys
import sysconfig

import pytest
from support.cases import first_ones

from noface.process.sandbox import find_bubblewrap

SANDBOXES = ["none", "bubblewrap"] if find_bubblewrap(shutil.which("bwrap")).works else ["none"]
GATE = "python -m pytest -q -p no:cacheprovider --disable-plugin-autoload"
GOOD, BAD = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a - b\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


@pytest.fixture
def calc(project):
    """A project with its package in src; its worker breaks it. The tests import it from whatever is installed."""
    project.write("src/calc/__init__.py", GOOD)
    project.write("tests/test_calc.py", TEST)
    project.issue(1, max_attempts=1)
    project.play(("1", 0, [{"write": "src/calc/__init__.py", "text": BAD}]))
    return project


def activate(project, *installed, where="environment"):
    """Make an environment with pytest in it, and what `installed` names, as `pip install -e` does; put it on PATH."""
    folder = project.folder / where
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "installed.pth").write_text("\n".join((sysconfig.get_path("purelib"), *map(str, installed))))
    project.env["PATH"] = f"{folder}/bin:{project.environment()['PATH']}"
    return packages


def refused(project, code=2):
    done = project.noface("run")
    assert done.returncode == code, done.stdout + done.stderr
    assert project.attempts("1") == []
    return " ".join(done.stderr.split())


@pytest.mark.thorough
@pytest.mark.parametrize("sandbox", first_ones(reversed(SANDBOXES)))
def test_an_editable_install_of_the_checkout_stops_the_run(calc, sandbox):
    activate(calc, calc.path / "src")
    calc.config(canary=True, gate=GATE, sandbox=sandbox)
    calc.commit()
    said = refused(calc)
    assert "gate check" in said
    assert "an editable install" in said
    assert "allow_leaky_gates" in said


@pytest.mark.thorough
@pytest.mark.parametrize("sandbox", first_ones(reversed(SANDBOXES)))
def test_a_variable_that_leads_into_the_checkout_is_not_passed_on(calc, sandbox):
    activate(calc)
    calc.env["PYTHONPATH"] = f"{calc.path}/src"
    calc.config(canary=True, gate=GATE, sandbox=sandbox)
    calc.commit()
    said = refused(calc)
    assert "passes on main only with your checkout within its reach" in said


def test_a_copy_that_was_installed_is_found_by_the_canary(calc):
    packages = activate(calc)
    shutil.copytree(calc.path / "src/calc", packages / "calc")
    calc.config(canary=True, gate=GATE)
    calc.commit()
    said = refused(calc)
    assert "stays green with every source file of the project broken" in said
    assert "or no test uses the sources" in said


def test_the_canary_flies_once_for_a_gate_and_what_it_runs_with_and_doctor_tells_that_it_is_proven(calc):
    runs = calc.folder / "runs"
    activate(calc)
    calc.write("calc.py", GOOD)
    calc.play(*[(number, 0, [{"write": f"{number}.txt", "text": "b"}]) for number in "12"])
    calc.config(canary=True, gate=f"echo x >> {runs}; {GATE}")
    calc.commit()
    calc.run()
    assert len(runs.read_text().split()) == 3  # main, the canary, the change
    calc.issue(2)
    calc.run()
    assert len(runs.read_text().split()) == 5  # main anew, the change


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("[run]\n", "[run]\nallow_leaky_gates = true\n"),
        pytest.param("canary = true\n", "canary = false\n", marks=pytest.mark.thorough),
    ],
)
def test_who_insists_is_let(calc, key, value):
    activate(calc, calc.path / "src")
    calc.config(canary=True, gate=GATE)
    calc.write("noface.toml", (calc.path / "noface.toml").read_text().replace(key, value))
    calc.commit()
    calc.run()
    assert calc.statuses() == {"1": "merged"}
