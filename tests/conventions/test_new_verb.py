"""A new verb is a page, a module of the command line and a line of the table of verbs: nothing else changes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

from support import ROOT

PAGE = '''"""The page of `noface greet`."""

from typing import NamedTuple


class Greeting(NamedTuple):
    """A greeting."""

    text: str


def greeting_page(document: Greeting, width: int) -> list[str]:
    """Return the lines of the page."""
    return [document.text[:width]]
'''
VERB = '''"""`noface greet`: greet."""

from noface.cli.verb import VerbResult, answers
from noface.ui.greet import Greeting, greeting_page


@answers()
def greet() -> VerbResult:
    """Greet whoever reads this."""
    return VerbResult(Greeting("hello"), greeting_page)
'''
WORK = '"Work": {'


def test_a_verb_is_a_page_a_module_and_an_entry_of_the_table(tmp_path: Path):
    package = tmp_path / "noface"
    copytree(ROOT / "noface", package, ignore=ignore_patterns("__pycache__"))
    (package / "ui" / "greet.py").write_text(PAGE)
    (package / "cli" / "greet.py").write_text(VERB)
    table = package / "cli" / "main.py"
    table.write_text(table.read_text().replace(WORK, f'{WORK}"greet": "greet", '))

    def noface(*arguments: str) -> str:
        command = [sys.executable, "-P", "-m", "noface", *arguments]
        env = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True).stdout

    assert "greet    Greet whoever reads this." in noface("--help")
    assert noface("greet") == "hello\n"
    assert json.loads(noface("greet", "--json")) == {"schema": 1, "text": "hello"}
