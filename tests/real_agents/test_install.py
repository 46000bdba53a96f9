"""Which version of a program is tested: the newest that its registry knows, or what there is."""

import os

import pytest
from install import INSTALLED, NEWEST, TESTED, clis, wanted

NODE = "echo v20.20.2"


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """Let npm be a script, and node be of version 20."""

    def says(script):
        for name, text in (("npm", script), ("node", NODE)):
            program = tmp_path / name
            program.write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        return clis()["claude"]

    return says


def test_the_newest_is_taken_and_a_newer_node_that_it_asks_for_is_named(registry):
    cli = registry("""echo '{"version": "999.1.0", "engines": {"node": ">=22.0.0"}}'""")
    taken, note = wanted(cli, NEWEST)
    assert taken.version == "999.1.0"
    assert note == f"{cli.package} 999.1.0 asks for Node >=22.0.0, this is v20.20.2: it is run with that"
    assert taken.shown == f"claude 999.1.0, newer than tested ({cli.tested})"


@pytest.mark.parametrize("said", ['"999.1.0"', '{"version": "999.1.0", "engines": {"node": ">=18"}}'])
def test_there_is_nothing_to_say_of_a_package_that_this_node_can_run(registry, said):
    taken, note = wanted(registry(f"echo '{said}'"), NEWEST)
    assert (taken.version, note) == ("999.1.0", "")


def test_without_a_registry_what_is_installed_is_taken(registry):
    cli = registry("echo 'npm error network' >&2; exit 1")
    taken, note = wanted(cli, NEWEST)
    assert taken == cli
    assert "npm error network" in note


def test_the_tested_and_the_installed_versions_are_taken_without_asking(registry):
    cli = registry("exit 1")
    assert wanted(cli, TESTED)[0].version == cli.tested
    assert wanted(cli, INSTALLED)[0].version == cli.version
