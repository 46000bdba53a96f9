"""Which gates a change may excuse itself from, and which excuses nobody is asked about."""

import sys
from pathlib import Path

import pytest
from support.cases import cases

from noface.attempt.excused import measures
from noface.model.gate import GateKind, GateSpec


@cases(
    ("command", "kind", "measured"),
    [
        ("pytest --cov=shop --cov-fail-under=90", GateKind.TEST, True),
        ("npx c8 --check-coverage node --test", GateKind.TEST, True),
        ("python -m unittest discover -s tests", GateKind.TEST, False),
        ("pytest --cov", GateKind.LINT, False),
    ],
)
def test_a_test_gate_that_measures_coverage_is_told_from_one_that_does_not(command, kind, measured):
    assert measures(GateSpec("x", command, kind)) is measured


RUFF = f"{Path(sys.executable).with_name('ruff')} check --isolated --no-cache --select E4,E5,F --line-length 60 ."
MAIN = {
    "shop/__init__.py": "",
    "shop/core.py": "def total(prices):\n    return sum(prices)\n",
    "shop/late.py": "import json\n\nX = json\nimport abc  # noqa: E402\n\nY = abc\n",
    "shop/long.py": f"X = '{'x' * 60}'  # noqa: E501 - an address\n",
}
CHANGES = {
    "a library that nobody uses": ({"shop/__init__.py": "import json  # noqa: F401\n"}, False),
    "another rule beside": ({"shop/__init__.py": "from .core import total  # noqa: F401, F811\n"}, False),
    "all rules": ({"shop/__init__.py": "from .core import total  # noqa\n\nX = Y  # noqa because\n"}, False),
    "a re-export": ({"shop/__init__.py": "from .core import total  # noqa: F401\n"}, True),
    "a re-export over several lines": (
        {"shop/__init__.py": "from shop.core import (  # noqa: F401\n    total,\n)\n"},
        True,
    ),
    "a module that registers itself": ({"shop/apps.py": "def ready():\n    from . import core  # noqa: F401\n"}, True),
    "a probe": (
        {"shop/fast.py": "try:\n    import numpy  # noqa: F401\nexcept ImportError:\n    FAST = False\nelse:\n    FAST = True\n"},
        True,
    ),
    "what main excuses, together": (
        {"shop/both.py": f"X = 1\nfrom abc import A, B, C, D, {'e' * 40}  # noqa: E402,E501\n\nY = (A, B, C, D, {'e' * 40})\n"},
        True,
    ),
    "an excuse that excuses nothing": ({"shop/once.py": "X = 1  # noqa: F811\n"}, True),
    "what only this run has excused": (
        {"shop/twice.py": "def f():\n    return 1\n\n\ndef f():  # noqa: F811\n    return 2\n"},
        False,
    ),
}  # fmt: skip


FIRST = ("a library that nobody uses", "a re-export", "what main excuses, together")


@pytest.mark.parametrize("names", [FIRST, pytest.param((*CHANGES,), marks=pytest.mark.thorough)])
def test_an_excuse_is_asked_about_unless_it_is_the_project_s_custom_or_of_an_import_that_is_meant(project, names):
    for name, text in MAIN.items():
        project.write(name, text)
    project.config(gate=RUFF)
    text = (project.path / "noface.toml").read_text()
    project.write("noface.toml", text.replace('name = "check"\n', 'name = "check"\nkind = "lint"\n'))
    steps = {name: [{"write": path, "text": text} for path, text in CHANGES[name][0].items()] for name in names}
    project.play(*[(str(number), 0, each) for number, each in enumerate(steps.values(), 1)])
    for number, name in enumerate(steps, 1):
        project.issue(number, name, max_attempts=1)
    project.commit()
    done = project.noface("run")
    outcomes = {name: project.attempts(str(number))[0]["outcome"] for number, name in enumerate(steps, 1)}
    wanted = {name: "PASSED" if lands else "GATE_TAMPERING" for name, (_, lands) in CHANGES.items() if name in names}
    assert outcomes == wanted, done.stdout
