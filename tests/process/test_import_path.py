"""noface runs its own code: nothing that lies in the project is imported in its place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.cases import first_ones

from noface.process.startup import trusted

HOSTILE = "open({mark!r}, 'a').write(__name__ + '\\n')\nraise SystemExit(77)\n"
NAMES = ("typer", "rich", "git", "pydantic", "json", "sqlite3", "tomllib", "noface_x", "regex")


def hostile(folder, mark):
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (folder / f"{name}.py").write_text(HOSTILE.format(mark=str(mark)))


MODULE, COMMAND = [sys.executable, "-m", "noface"], [str(Path(sys.executable).with_name("noface"))]
PATHS = (None, ":/nonexistent", ".", "src", "{project}/src")


@pytest.mark.parametrize(
    ("start", "pythonpath"),
    first_ones(
        [(MODULE, "src"), (COMMAND, None), *((start, path) for start in (MODULE, COMMAND) for path in PATHS)],
        1,
        rows=True,
    ),
)
def test_nothing_in_the_project_is_imported_in_place_of_noface_s_own(project, start, pythonpath):
    mark = project.folder / "ran"
    hostile(project.path, mark)
    hostile(project.path / "src", mark)
    project.config()
    env = project.environment()
    if pythonpath is not None:
        env["PYTHONPATH"] = pythonpath.format(project=project.path)
    if not Path(start[0]).exists():
        pytest.fail("noface is not installed as a command")
    for verb in (["status", "--json"], ["config", "check"]):
        done = subprocess.run([*start, *verb], cwd=project.path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert not mark.exists()


def test_a_whole_run_imports_nothing_of_the_project(project):
    mark = project.folder / "ran"
    hostile(project.path, mark)
    project.play(("7", 1, [{"write": "b.txt", "text": "b"}]))
    project.config()
    project.issue(7)
    project.commit()
    project.run()
    assert project.statuses() == {"7": "merged"}
    assert not mark.exists()


def test_the_hostile_files_do_run_where_nothing_is_in_their_way(project):
    mark = project.folder / "ran"
    hostile(project.path, mark)
    subprocess.run([sys.executable, "-c", "import typer"], cwd=project.path, check=False, capture_output=True)
    assert mark.read_text() == "typer\n"


def test_only_the_project_s_entries_are_taken_out(tmp_path):
    project, here = tmp_path / "p", tmp_path / "p/sub"
    here.mkdir(parents=True)
    venv = str(project / ".venv/lib/site-packages")
    entries = [
        "",
        str(here),
        "/usr/lib/python3",
        venv,
        str(project / "src"),
        "lib",
        ".",
        str(tmp_path / "other"),
        str(project),
    ]
    named = [str(project / "src"), "lib", "", ".", str(tmp_path / "other"), str(project)]
    left = trusted(entries, named, str(here), str(project), os.fspath(project))
    assert left == ["/usr/lib/python3", venv, str(tmp_path / "other"), str(project)]
