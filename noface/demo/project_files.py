"""The sample project's own files beside its code: settings, README, issues."""

import json
import shlex

from noface.demo.catalogue import Bug

GITIGNORE = """\
__pycache__/
.pytest_cache/
"""

PYPROJECT = """\
[project]
name = "oddments"
version = "0.4.2"
description = "Small things that every project ends up writing."
requires-python = ">=3.11"

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]
addopts = "-p no:cacheprovider --disable-plugin-autoload"
"""

README = """\
# oddments

Small things that every project ends up writing: text, numbers, Roman numerals, dates, ranges, stock.

    python -m pytest -q            # the suite
    ls issues                      # what is known to be wrong
    python -m pytest -q acceptance # the issues as tests; they fail until the issues are solved

This is the sample project of `noface demo`. The worker that `noface.toml` names uses no model: it searches for small
edits that make an issue's acceptance test pass. Some issues it solves at once, some only after noface told it what it
broke, some only with the larger search of its second tier, and one is beyond it.
"""


def settings(python: str, worker: str) -> str:
    """Return the text of noface.toml; `python` is a path, `worker` a shell command that takes `--tier`."""
    gate = _quoted(f"{shlex.quote(python)} -B -m pytest -q tests")
    return f"""\
[[gates]]
name = "tests"
command = {gate}
kind = "test"

[models.tier1]
agent = "command"
command = {_quoted(worker + " --tier 1")}
tier = 1
timeout = "60s"

[models.tier2]
agent = "command"
command = {_quoted(worker + " --tier 2")}
tier = 2
timeout = "60s"

[retry]
default_model = "tier1"
escalation_model = "tier2"
escalate_after_attempts = 2
max_total_attempts = 4

[run]
workers = 2
"""


def issue_file(bug: Bug, depends_on: list[str], path: str, accept: str) -> str:
    """Return an issue as a Markdown file with TOML front matter."""
    return f"""\
+++
title = {_quoted(bug.title)}
priority = {bug.priority}
labels = {_list(list(bug.labels))}
depends_on = {_list(depends_on)}
paths = {_list([path])}
accept = {_list([accept])}
+++

{bug.body}

The acceptance test of this issue shows the problem; it has to pass, and the suite in `tests/` with it.
"""


def _quoted(text: str) -> str:
    """Return a TOML basic string: JSON's escapes are valid in it."""
    return json.dumps(text, ensure_ascii=False)


def _list(items: list[str]) -> str:
    return "[" + ", ".join(map(_quoted, items)) + "]"
