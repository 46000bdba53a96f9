"""What of a person's checkout is no part of the project: what git ignores, wherever it lies, and what only they read."""

from pathlib import Path

from noface.git.command import Git
from noface.git.ignored_places import ignored_places


def _write(folder, path, text="x", mode=0o644):
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)


def test_ignored_files_are_apart_wherever_they_lie_and_so_are_new_ones_of_the_persons_alone(tmp_path):
    for folder in (tmp_path, tmp_path / "nested"):
        folder.mkdir(exist_ok=True)
        Git.user(str(folder)).run("init", "-q")
    _write(tmp_path, ".gitignore", "*.key\n*.tfvars\nbuild/\n.hidden/.env\n")
    ignored = ("config/master.key", "a/b/c/d/e/terraform.tfvars", "build/x", ".hidden/.env")
    for path in (
        *ignored,
        "config/x.yml",
        "a/b/c/d/e/x.tf",
        ".hidden/x",
        "a/b/c/d/.env",
        "a/.env.example",
        "src/main.py",
        "nested/.env",
        "nested/code.py",
    ):
        _write(tmp_path, path)
    _write(tmp_path, "mine.txt", mode=0o600)
    (tmp_path / "packages.key").symlink_to("/usr/lib")  # hiding it would hide these from all programs
    (tmp_path / "mine.key").symlink_to(tmp_path / "mine.txt")
    found = {str(Path(path).relative_to(tmp_path)) for path in ignored_places(str(tmp_path))}
    assert found == {
        "config/master.key", "a/b/c/d/e/terraform.tfvars", "build", ".hidden/.env", "a/b/c/d/.env", "mine.txt", "mine.key", "nested/.env", "nested/.git",
    }  # fmt: skip


def test_a_checkout_of_which_git_tells_nothing_is_apart_as_a_whole(tmp_path):
    assert tuple(ignored_places(str(tmp_path))) == (str(tmp_path),)
    Git.user(str(tmp_path)).run("init", "-q")
    _write(tmp_path, ".gitignore", "*.key\n")
    _write(tmp_path, "code.py")
    for number in range(401):
        _write(tmp_path, f"{number}.key")
    assert tuple(ignored_places(str(tmp_path))) == (str(tmp_path),)
