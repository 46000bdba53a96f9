"""What brings an extra of noface's is the command of whatever installed it."""

import json
from importlib.metadata import Distribution

import pytest

from noface.process.installation import command_for

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
REMOTE = {"url": "https://example.org/noface", "vcs_info": {"vcs": "git", "commit_id": "a" * 40}}
CASES = {
    "pipx": ("pipx_metadata.json", True, FOLDER, "pipx inject n no-such-library-1"),
    "uv tool, a folder": ("uv-receipt.toml", False, FOLDER, "uv tool install --force '/src/no face[github,yaml]'"),
    "uv tool, a repository": (
        "uv-receipt.toml", False, REMOTE, "uv tool install --force 'git+https://example.org/noface[github,yaml]'",
    ),
    "uv tool, an index": ("uv-receipt.toml", False, None, "uv tool install --force 'noface-loop[github,yaml]'"),
    "uv, a folder": ("", False, FOLDER, "uv pip install --python P no-such-library-1"),
    "pip": ("", True, None, "P -m pip install no-such-library-1"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_commands_are_those_of_the_installer(case, tmp_path):
    mark, has_pip, url, command = CASES[case]
    prefix, info = tmp_path / "n", tmp_path / "n" / "noface_loop-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA)
    if url is not None:
        (info / "direct_url.json").write_text(json.dumps(url))
    if mark:
        (prefix / mark).write_text("")
    made = command_for("github", prefix, Distribution.at(info), has_pip=has_pip)
    assert made.replace(str(prefix / "bin" / "python"), "P") == command
