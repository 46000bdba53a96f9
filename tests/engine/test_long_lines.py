"""A line of any length holds nobody up: neither Ctrl-C, nor a limit, nor another issue."""

import shlex
import sys

import pytest

UNITS = ["NODE_ENV ", 'modules"', "[", "({", " ", "'\\", "e\u0301", "a", "0", "assert a "]
CHARS = 900_000
"""Below 50 MB: what is larger is not read at all. The words took twelve minutes once."""
WRITE = "import sys; open(sys.argv[1], 'w').write(sys.argv[2] * (int(sys.argv[3]) // len(sys.argv[2])))"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["app.js", "tests/test_a.py", "data.json", ".gitattributes", "a.toml"])
def test_work_with_long_lines_is_judged_and_what_is_beside_it_lands(project, name):
    project.config(workers=2)
    folder = "web" if name in ("app.js", "data.json") else "."
    steps = []
    for number, unit in enumerate(UNITS):
        path = f"{folder}/{number}/{name}"
        made = shlex.join([sys.executable, "-c", WRITE, path, unit, str(CHARS)])
        steps.append({"shell": f"mkdir -p $(dirname {path}); {made}"})
    project.play(("7", 0, steps), ("8", 0, [{"write": "b.py", "text": "b = 1\n"}]))
    project.issue(7, max_attempts=1)
    project.issue(8)
    project.commit()
    project.noface("run")
    assert project.statuses()["8"] == "merged"
    assert project.attempts("7")[0]["outcome"] not in ("TIMEOUT", "UNKNOWN", "AGENT_CRASH")
