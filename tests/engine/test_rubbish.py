"""What is in a workspace by the way: rubbish stays out of the change, what was forgotten and what git ignores is told."""

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
    "mkdir -p dist node_modules/x; echo x > dist/a.js; echo x > npm-debug.log; echo y > yarn.lock;"
    " echo z > node_modules/x/i.js; echo > src/a.js.orig; echo c > core.123"
)


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
    assert what in " ".join(project.noface("why", "7", "1").stdout.split())
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
    first, second = played(NODE, [{"write": "src/b.js", "text": FORGOTTEN}, {"shell": MADE}], [clean])
    assert (first["outcome"], first["failure"]["rule"], first["charged"]) == ("LINT_FAILURE", "left-in", False)
    assert second["outcome"] == "PASSED"
    assert landed(project) == {"src/b.js"}
    assert "src/b.js: console.log('DEBUG', x);\nsrc/b.js: debugger;" in project.prompt("7", 2)
    assert "Attempt 1 was not rejected" in project.prompt("7", 2)
    assert {note.rpartition(": ")[2] for note in first["notes"]} == {
        "build output", "a log", "installed dependencies", "what a merge left behind", "a core dump",
        "the lock file of another package manager; main has package-lock.json",
    }  # fmt: skip
    assert "left out of the change: dist/a.js: build output" in project.noface("why", "7", "1").stdout
    assert project.git("log", "--format=%H", "main", "--", "dist", "yarn.lock") == ""
    assert project.git("show", "refs/noface/issues/7/aside-1:npm-debug.log") == "x"  # until `noface clean`
    assert project.noface("fsck").returncode == 0


def test_what_a_worker_leaves_as_it_is_after_it_was_told_lands(played, project):
    first, second = played(NODE, [{"write": "src/b.js", "text": FORGOTTEN}], [{"shell": "true"}], max_attempts=1)
    assert (first["outcome"], second["outcome"]) == ("LINT_FAILURE", "PASSED")
    assert "debugger" in project.git("show", "main:src/b.js")
