"""A gate that does not end: where the code stood, and whether it computed or waited, for the prompt and the person."""

import sys

import pytest
from support.cases import first_ones

LOOPS = "def total(n):\n    while n:\n        n = n + 1\n    return n\n"
STUBBORN = "def total(n):\n    while n:\n        try:\n            n = n + 1\n        except BaseException:\n            pass\n"
TEST = "from shop import total\n\ndef test_total():\n    assert total(1) == 1\n"
PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider --disable-plugin-autoload"
GATE = '\n[[gates]]\nname = "{name}"\ncommand = "{command}"\ntimeout = "{limit}"\ncanary = false\n'


@pytest.mark.parametrize("loops", first_ones([STUBBORN, LOOPS]))
def test_where_a_hung_gate_stood_is_told(project, loops):
    """Issue 1 loops, and swallows the interrupt or not; 2 waits in another program."""
    waits = "test ! -e waits || sleep 60"
    project.config(extra=GATE.format(name="unit", command=PYTEST, limit="4s"), gate=f"test -e a.txt && {{ {waits}; }}")
    text = (project.path / "noface.toml").read_text()
    project.write("noface.toml", text.replace('name = "check"\n', 'name = "check"\ntimeout = "1s"\n', 1))
    project.write(".gitignore", "__pycache__/\n")
    project.write("shop.py", "def total(n):\n    return n\n")
    project.write("test_shop.py", TEST)
    project.play(("1", 0, [{"write": "shop.py", "text": loops}]), ("2", 0, [{"write": "waits", "text": "x"}]))
    for number in (1, 2):
        project.issue(number, max_attempts=1)
    project.commit()
    project.run(code=3)
    looping, waiting = (project.attempts(str(n))[0]["failure"] for n in (1, 2))
    assert {each["kind"] for each in (looping, waiting)} == {"TIMEOUT"}
    assert looping["location"] in ("shop.py:2", "shop.py:3", "shop.py:4")
    assert "pytest -q" in looping["message"]
    assert "was computing" in looping["message"]
    assert "`sleep 60` was waiting (0.0 s of processor time)" in waiting["message"]
