"""What is in a workspace by the way: rubbish stays out of the change, what was forgotten and what git ignores is told."""

import json
import subprocess

import pytest
from support.project import PYTEST

LOADER = {"write": "shop/build/loader.py", "text": "def load():\n    return 1\n"}
TEST = "from shop.build.loader import load\n\n\ndef test_load():\n    assert load() == 1\n"
PYTHON = {
    "shop/__init__.py": "",
    "tests/test_a.py": "def test_a():\n    pass\n",
    ".gitignore": "__pycache__/\nbuild/\n",
}
NODE = {
    "package.json": '{"name": "shop", "private": true}\n',
    "package-lock.json": "{}\n",
    "src/a.js": "exports.a = 1;\n",
    "a.txt": "a",
}
FORGOTTEN = "exports.b = (x) => {\n  console.log('DEBUG', x);\n  debugger;\n  return x;\n};\n"
MADE = (
    "mkdir -p dist node_modules/x made; echo x > dist/a.js; echo y > yarn.lock; echo > src/a.js.orig; echo w > made/b.js;"
    " echo z > node_modules/x/i.js; echo {} > node_modules/.package-lock.json; printf '\\177ELF\\2' > src/add.o"
)
MAKES = "mkdir -p made; echo 1 > made/a.js; "
"""What is written by a gate of main as well."""


@pytest.fixture
def played(project):
    """Run an issue whose attempts do these steps in their order, in a project with these files."""

    def run(files, *plays, gate="test ! -e bad && test -e a.txt", code=0, **issue):
        for name, text in files.items():
            project.write(name, text)
        project.config(gate=gate)
        project.play(*[("7", number, steps) for number, steps in enumerate(plays, 1)])
        project.issue(7, **issue)
        project.commit()
        project.run(code=code)
        return project.attempts("7")

    return run


def landed(project):
    return set(project.git("diff", "--name-only", "main~1", "main").split())


@pytest.mark.thorough
def test_a_module_that_git_ignores_is_told_to_the_next_worker_and_to_a_person_until_it_lands(played, project):
    mended = [{"shell": "printf '__pycache__/\\n' > .gitignore"}, LOADER]
    work = [LOADER, {"write": "tests/test_load.py", "text": TEST}]
    first, second = played(PYTHON, work, [LOADER], mended, gate=f"{PYTEST} tests", max_attempts=2, code=3)
    what = "shop/build/loader.py is ignored by .gitignore:2 (build/)"
    assert (first["failure"]["kind"], second["failure"]["rule"]) == ("RUNTIME_ERROR", "not-taken")
    assert all(what in attempt["failure"]["message"] for attempt in (first, second))
    assert what in project.prompt("7", 2)
    assert what in " ".join(project.noface("show", "7", "1").stdout.split())
    asked = " ".join(project.noface("blocked").stdout.split())
    assert f'How can what issue 7 needs be part of the project? noface found: "{what}' in asked
    held = project.git("show", "refs/noface/issues/7/aside-2:shop/build/loader.py")
    assert held == LOADER["text"].strip()
    project.noface("retry", "7")
    project.run()
    assert landed(project) == {".gitignore", "shop/build/loader.py", "tests/test_load.py"}
    assert "change .gitignore so that it is not ignored" in project.prompt("7", 3)


def test_rubbish_does_not_land_and_what_looks_forgotten_is_told_once(played, project):
    clean = {"write": "src/b.js", "text": "exports.b = (x) => x;\n"}
    away = {"shell": "rm -r dist yarn.lock src/a.js.orig"}
    work = [{"write": "src/b.js", "text": FORGOTTEN}, {"shell": MADE}]
    gate = f"{MAKES}test ! -e bad && test -e a.txt"
    first, second = played(NODE, work, [clean, away], gate=gate)
    assert (first["outcome"], first["failure"]["rule"], first["charged"]) == ("LINT_FAILURE", "left-in", False)
    assert second["outcome"] == "PASSED"
    assert landed(project) == {"src/b.js"}
    prompt = project.prompt("7", 2)
    assert "src/b.js: console.log('DEBUG', x);\nsrc/b.js: debugger;" in prompt
    assert "Attempt 1 was not rejected" in prompt
    for told in (
        "dist/a.js (build output)",
        "src/a.js.orig (what a merge left behind)",
        "left out of the change: src/add.o (build output)",
        "left out of the change: node_modules/x/i.js (installed dependencies)",
    ):
        assert told in prompt
    assert "made/b.js" not in prompt
    assert project.git("log", "--format=%H", "main", "--", "dist", "made", "node_modules", "src/add.o") == ""
    assert project.git("show", "refs/noface/issues/7/aside-1:node_modules/x/i.js") == "z"  # until `noface tools clean`
    assert project.noface("tools", "fsck").returncode == 0


def test_what_is_left_out_stands_first_wherever_a_landing_is_told_and_its_command_brings_it_back(played, project):
    work = [{"write": "src/b.js", "text": "b\n"}, {"shell": "printf '\\177ELF\\0\\1' > add.o; echo ! > conftest.py"}]
    played(NODE, work, [{"shell": "true"}])
    command = "git apply .git/noface/attempts/7/2/left-out.patch"
    lost = "left out of the change: add.o (build output), conftest.py (put back to main's: it is protected)"
    assert landed(project) == {"src/b.js"}
    told = [project.noface(*verb).stdout for verb in (("report",), ("show", "7"))]
    assert all(lost in " ".join(text.split()) and command in text for text in told)
    assert lost[1:] in " ".join(project.git("log", "-1", "--format=%b", "main").split())
    (entry,) = json.loads(project.noface("report", "--json").stdout)["landed"]
    assert (entry["reasons"][0], entry["bring_back"]) == (lost, command)
    assert "noface/attempts" not in project.git("log", "-1", "--format=%B", "main")
    assert project.noface("logs", "7", "--undone").stdout.count("diff --git") == 2
    subprocess.run(command, shell=True, cwd=project.path, check=True)
    assert (project.path / "add.o").read_bytes() == b"\x7fELF\0\1"
    assert (project.path / "conftest.py").read_text() == "!\n"


@pytest.mark.thorough
def test_a_worker_that_was_told_has_what_is_left_out_taken_by_its_report(played, project):
    elf = {"shell": "printf '\\177ELF\\2' > lib/add.o"}
    work = [{"write": "lib/b.js", "text": "b\n"}, elf]
    first, second = played(NODE, work, [elf, {"say": "lib/add.o is the part that the loader needs"}])
    assert (first["failure"]["rule"], second["outcome"], second["notes"]) == ("left-in", "PASSED", [])
    assert landed(project) == {"lib/b.js", "lib/add.o"}


@pytest.mark.thorough
def test_what_a_worker_leaves_as_it_is_after_it_was_told_lands(played, project):
    first, second = played(NODE, [{"write": "src/b.js", "text": FORGOTTEN}], [{"shell": "true"}], max_attempts=1)
    assert (first["outcome"], second["outcome"]) == ("LINT_FAILURE", "PASSED")
    assert "debugger" in project.git("show", "main:src/b.js")


def test_a_link_in_place_of_an_ignored_folder_is_no_part_of_the_change(played, project):
    """A rule `node_modules/` means folders only; a worker links what the tests need from elsewhere."""
    links = "ln -s /srv/node_modules node_modules; ln -s ../src web/out; ln -s /opt/venv .venv; ln -s a.js src/c.js"
    files = {**NODE, ".gitignore": "node_modules/\n", "web/.gitignore": "/out/\n"}
    (attempt,) = played(files, [{"write": "src/b.js", "text": "exports.b = 1;\n"}, {"shell": links}])
    assert attempt["outcome"] == "PASSED"
    assert landed(project) == {"src/b.js", "src/c.js"}
    assert "a link in place of a folder that git ignores" in " ".join(attempt["notes"])
