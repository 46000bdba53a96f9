"""No comment, title or commit tells where this machine keeps a project, by whatever name of the folder."""

from types import SimpleNamespace

from support.git_ground import git

from noface.git.plumbing import Plumbing
from noface.git.repository import discover
from noface.remote.proposing import clean
from noface.secrets.masking import Masker


def started(folder):
    git(folder.parent, "init", "-q", "-b", "main", folder.name)
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first")


def cleaned(text, slots, project):
    plumbing = Plumbing(discover(project))
    try:
        return clean(SimpleNamespace(slots_dir=slots, plumbing=plumbing, masker=Masker()), text)
    finally:
        plumbing.close()


def test_a_home_behind_a_link_is_known_by_its_real_folder_too(tmp_path, monkeypatch):
    real = tmp_path / "data" / "homes" / "ann"
    real.mkdir(parents=True)
    (tmp_path / "home").symlink_to(real)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "home" / "shop"
    started(real / "shop")
    (real / "slots").mkdir()
    text = (
        f"{project}/a.py {real}/shop/a.py {real}/.npmrc {real}/slots/1/b.py {tmp_path}/home/slots/1 {real}/shop/.git/c"
    )
    said = "~/shop/a.py ./a.py ~/.npmrc <workspaces>/1/b.py <workspaces>/1 <git>/c"
    assert cleaned(text, tmp_path / "home" / "slots", project) == said


def test_the_root_of_the_file_system_is_no_place(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", "/")
    started(tmp_path / "shop")
    assert cleaned("/etc/hosts", tmp_path / "slots", tmp_path / "shop") == "/etc/hosts"
