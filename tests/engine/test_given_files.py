"""An agent that finds no files by itself is given those that the work is about: aider, played by a script."""

import itertools

import pytest

AIDER = """#!/bin/sh
printf '%s\\n' "$@" | sed "s,^$PWD/,," > b.txt
echo 'Repo-map: using 1024 tokens, auto refresh'
echo 'I have written b.txt.'
echo 'Tokens: 10 sent, 10 received.'
echo 'Applied edit to b.txt'
"""
MODEL = '[models.small]\nagent = "aider"\ncommand = "{program}"\n{more}\n'
FILES = {
    "src/order.py": "def order(): ...\n",
    "src/stock.py": "def stock(): ...\n",
    "src/image.png": "\0\1\2",
    "src/large.py": "x = 1\n" * 30_000,
    "AGENTS.md": "Be terse.\n",
    "style.md": "Two spaces.\n",
    "conftest.py": "",
    ".aider.conf.yml": "read: [style.md, missing.md]\n",
}


def given(project, body, more="", **front):
    """Return the files that the script was given: to change, and to read."""
    program = project.folder / "aider"
    program.write_text(AIDER)
    program.chmod(0o755)
    for path, text in FILES.items():
        project.write(path, text)
    project.config()
    config = (project.path / "noface.toml").read_text()
    begins = config.index("[models.small]")
    ends = config.find("\n[", begins) + 1 or len(config)
    project.write("noface.toml", config[:begins] + MODEL.format(program=program, more=more) + config[ends:])
    project.issue(1, "Do it", f"{body}\n\nIt is called in {project.folder}", **front)
    project.commit()
    project.run()
    words = project.git("show", "main:b.txt").splitlines()
    options = [(name, path) for name, path in itertools.pairwise(words) if name in ("--file", "--read")]
    return [[path for name, path in options if name == kind] for kind in ("--file", "--read")]


def test_files_of_the_issue_are_given_to_change_and_what_it_goes_by_to_read(project):
    change, read = given(
        project, "As order.py has it. Not conftest.py, src/image.png or src/large.py.", paths=["src/stock.py", "b.txt"]
    )
    assert change == ["src/stock.py", "src/order.py"], "text, and no more of it than there is room for"
    assert read == ["AGENTS.md", "style.md", "conftest.py"]


@pytest.mark.thorough
def test_what_the_person_s_own_settings_name_is_read_where_these_act(project):
    (project.folder / ".aider.conf.yml").write_text("read:\n  - ~/mine.md\n")
    change, read = given(project, "Do it.", 'settings = "user"')
    assert change == []
    assert read == ["AGENTS.md", "style.md", "~/mine.md"]
