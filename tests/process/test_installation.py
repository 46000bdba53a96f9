"""What brings an extra of noface's is the command of whatever installed it."""

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
CASES = {
    "pipx": ("pipx_metadata.json", True, "pipx inject n no-such-library-1"),
    "uv": ("", False, "uv pip install --python P no-such-library-1"),
    "pip": ("", True, "P -m pip install no-such-library-1"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_commands_are_those_of_the_installer(case, tmp_path):
    mark, has_pip, command = CASES[case]
    prefix, info = tmp_path / "n", tmp_path / "n" / "noface_loop-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA)
    if mark:
        (prefix / mark).write_text("")
    made = command_for("github", prefix, Distribution.at(info), has_pip=has_pip)
    assert made.replace(str(prefix / "bin" / "python"), "P") == command
