"""Agents and gates have a git configuration of their own, and noface writes where it means to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from noface.process.files import real_folder


def test_what_an_agent_or_a_gate_sets_globally_is_not_the_person_s(project):
    own = '[user]\n\tname = Pat\n\temail = pat@example.org\n[alias]\n\tok = "!echo alias-of-the-person"\n'
    (project.folder / ".gitconfig").write_text(own)
    sets = "git config --global user.name Mallory; git config --global core.hooksPath /tmp/evil"
    project.play(
        ("7", 1, [{"shell": f"{sets}; git config user.name; touch b.txt bad"}]),
        ("7", 2, [{"shell": "git config --get core.hooksPath; git log -1 --format=by:%an; git ok; rm bad"}]),
    )
    project.config(gate=f"{sets}; test ! -e bad")
    project.issue(7)
    project.commit()
    project.run()
    assert (project.folder / ".gitconfig").read_text() == own
    assert not (project.folder / ".config/git/config").exists()
    (log,) = project.shown("logs", "7", "2")["logs"][:1]
    assert "alias-of-the-person" in log["text"]
    assert "/tmp/evil" not in log["text"]
    assert "Mallory" not in project.git("log", "--format=%an %cn", "main")


def test_a_test_of_the_project_with_a_home_of_its_own_still_has_that_home_s_configuration(project):
    home = "mkdir -p h; printf '[user]\\n name = Tess\\n[x]\\n y = its own' > h/.gitconfig; HOME=$PWD/h"
    project.config(gate=f"{home} git -C / config x.y | grep 'its own'; r=$?; rm -r h; exit $r".replace("\\", "\\\\"))
    project.play(("7", 1, [{"write": "b.txt", "text": "b"}]))
    project.issue(7)
    project.commit()
    project.run()


WRITING_IT = """
import sys
from pathlib import Path
from noface.git.command import Identity
from noface.git.private_git_dir import with_private_config
print("=".join(*with_private_config((), Path(sys.argv[1]), Identity('P"at', "p@x"), Path(sys.argv[1], "w"))))
"""


def test_a_configuration_of_the_person_s_choosing_is_included(tmp_path):
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/etc/my git"}
    argv = [sys.executable, "-c", WRITING_IT, str(tmp_path)]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    variable, _, file = done.stdout.strip().partition("=")
    assert variable == "GIT_CONFIG_GLOBAL"
    assert Path(file).read_text() == (
        '[user]\n\tname = "P\\"at"\n\temail = "p@x"\n[safe]\n'
        f'\tdirectory = "{tmp_path}/w"\n[include]\n\tpath = "/etc/my git"\n'
    )


@pytest.mark.parametrize("depth", ["attempts", "attempts/7", "attempts/7/2"])
def test_a_link_planted_where_noface_will_write_is_removed(tmp_path, depth):
    elsewhere = tmp_path / "person"
    elsewhere.mkdir()
    link = tmp_path / "state" / depth
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    folder = real_folder(tmp_path / "state/attempts/7/2", tmp_path / "state")
    (folder / "prompt.md").write_text("x")
    assert folder.is_dir()
    assert not link.is_symlink()
    assert list(elsewhere.iterdir()) == []


def test_an_agent_that_plants_the_next_attempt_s_folder_has_noface_write_nowhere_else(project):
    elsewhere = project.folder / "person"
    elsewhere.mkdir()
    plant = f"touch bad; cd $(dirname $NOFACE_ORDER_FILE)/..; ln -s {elsewhere} 2; ln -s {elsewhere} 1/gates;"
    plant += " mkdir 99999999999999999999 5; touch 99999999999999999999/order.json"
    project.play(("7", 1, [{"shell": plant}]), ("7", 2, [{"shell": "rm bad; echo b > b.txt"}]))
    project.config()
    project.issue(7)
    project.commit()
    project.run()
    assert list(elsewhere.iterdir()) == []
    assert (project.state / "attempts/7/2/prompt.md").exists()
