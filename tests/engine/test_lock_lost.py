"""A lock that somebody removes, or puts back from a backup: no second noface comes in, and the first one stops."""

import shutil
import signal

import pytest
from support.cases import first_ones

SLOW = ("*", 1, [{"write": "half.txt", "text": "half"}, {"sleep": 4}])
WHOLE = ("*", 0, [{"write": "b.txt", "text": "b"}])


def remove_file(project):
    (project.state / "lock").unlink()


def remove_folder(project):
    project.state.rename(project.folder / "gone")
    shutil.rmtree(project.folder / "gone")


def put_back(project):
    """Put a copy of the whole git folder in its place, as a backup does."""
    git = project.path / ".git"
    shutil.copytree(git, project.folder / "copy", symlinks=True)
    git.rename(project.folder / "replaced")
    (project.folder / "copy").rename(git)


@pytest.mark.parametrize("lose", first_ones([put_back, remove_file, remove_folder]))
def test_a_run_whose_lock_is_gone_stops_and_lands_nothing(project, lose):
    running = project.half_done(SLOW, WHOLE)
    before = project.git("rev-parse", "main")
    lose(project)
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 1, out
    assert "lock was removed or replaced" in " ".join(out.split()).replace(f"{project.state}/", "")
    assert project.git("rev-parse", "main") == before
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert project.git("rev-list", "--count", "--first-parent", f"{before}..main") == "1"
    assert project.processes() == []


@pytest.mark.parametrize("lose", first_ones([remove_file, remove_folder]))
def test_a_second_noface_ends_no_process_of_a_first_that_lives(project, lose):
    """The first stands still, as a loaded machine can make it, and so has noticed nothing yet."""
    running = project.half_done(SLOW, WHOLE)
    at_work = project.processes()
    running.send_signal(signal.SIGSTOP)
    lose(project)
    second = project.noface("run")
    assert second.returncode == 2, second.stdout + second.stderr
    assert "on this repository" in " ".join(second.stderr.split())
    assert set(at_work) <= set(project.processes())
    running.send_signal(signal.SIGCONT)
    out, _ = running.communicate(timeout=90)
    assert running.returncode == 1, out


def test_a_lock_that_is_removed_while_mains_gates_run_stops_the_run_before_anything_is_landed(project):
    project.config(gate="test -e b.txt && { touch ../seen; sleep 2; }; test -e a.txt")
    project.issue(1)
    project.commit()
    project.play(("*", 0, [{"write": "b.txt", "text": "b"}, {"shell": f"rm {project.state}/lock"}]))
    before = project.git("rev-parse", "main")
    project.run(code=1)
    assert project.git("rev-parse", "main") == before
