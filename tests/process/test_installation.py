"""What upgrades noface and brings its extras is the command of whatever installed it."""

import json
from importlib.metadata import Distribution

import pytest

from noface.process.installation import described

METADATA = """Metadata-Version: 2.4
Name: noface-loop
Version: 1
Requires-Dist: typer>=0.15
Provides-Extra: github
Requires-Dist: no-such-library-1>=2.8; extra == "github"
Provides-Extra: yaml
Requires-Dist: pyyaml>=6; extra == 'yaml'
"""
FOLDER = {"url": "file:///src/no%20face", "dir_info": {}}
WHEEL = {"url": "file:///dl/noface_loop-1-py3-none-any.whl", "archive_info": {}}
REMOTE = {"url": "https://example.org/noface", "vcs_info": {"vcs": "git", "commit_id": "a" * 40}}
CASES = {
    "pipx, a folder": ("pipx_metadata.json", True, FOLDER, "pipx inject n no-such-library-1", "pipx reinstall n"),
    "pipx, an index": ("pipx_metadata.json", True, None, "pipx inject n no-such-library-1", "pipx upgrade n"),
    "pipx, a wheel": (
        "pipx_metadata.json", True, WHEEL, "pipx inject n no-such-library-1",
        "pipx install --force /dl/noface_loop-1-py3-none-any.whl (with the path of a newer wheel)",
    ),
    "uv tool, a folder": (
        "uv-receipt.toml", False, FOLDER, "uv tool install --force '/src/no face[github,yaml]'",
        "uv tool upgrade --reinstall n",
    ),
    "uv tool, a repository": (
        "uv-receipt.toml", False, REMOTE, "uv tool install --force 'git+https://example.org/noface[github,yaml]'",
        "uv tool upgrade --reinstall n",
    ),
    "uv, a folder": (
        "", False, FOLDER, "uv pip install --python P no-such-library-1", "uv pip install --python P '/src/no face'",
    ),
    "pip, editable": (
        "", True, {**FOLDER, "dir_info": {"editable": True}}, "P -m pip install no-such-library-1",
        "P -m pip install --editable '/src/no face'",
    ),
    "pip, an index": ("", True, None, "P -m pip install no-such-library-1", "P -m pip install --upgrade noface-loop"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_commands_are_those_of_the_installer(case, tmp_path):
    mark, has_pip, url, extra, upgrade = CASES[case]
    prefix, info = tmp_path / "n", tmp_path / "n" / "noface_loop-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA)
    if url is not None:
        (info / "direct_url.json").write_text(json.dumps(url))
    if mark:
        (prefix / mark).write_text("")
    made = described(prefix, Distribution.at(info), has_pip=has_pip)
    python = str(prefix / "bin" / "python")
    assert made.bringing("github").replace(python, "P") == extra
    assert made.upgrade().replace(python, "P") == upgrade


def test_a_clone_is_brought_up_to_date_first(tmp_path):
    prefix, info = tmp_path / "n", tmp_path / "n" / "noface_loop-1.dist-info"
    for folder in (info, tmp_path / "clone" / ".git"):
        folder.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA)
    (info / "direct_url.json").write_text(json.dumps({"url": f"file://{tmp_path}/clone", "dir_info": {}}))
    (prefix / "pipx_metadata.json").write_text("{}")
    made = described(prefix, Distribution.at(info), has_pip=True)
    assert made.upgrade() == f"git -C {tmp_path}/clone pull && pipx reinstall n"
