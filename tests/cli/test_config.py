"""`noface config`: check, show, set, path, schema, example."""

import json

import jsonschema
import pytest
from support import ROOT

from noface.cli.config import replace_file
from noface.config.load import load, parse

BROKEN = """\
[[gates]]
name = "unit"
command = "true"
kindd = "test"

[run]
workers = 0

[retry]
default_model = "nobody"
"""


def test_check_says_that_all_is_fine_with_gates_and_models(project):
    assert project.noface("config", "check").stdout == "noface.toml is fine: 1 gate (check); models small, then big\n"
    assert project.shown("config", "check")["ok"] is True


def test_check_names_every_problem_with_its_line_also_as_json(project):
    project.write("noface.toml", BROKEN)
    said = project.noface("config", "check").stderr
    assert "noface.toml has 3 problems:" in said
    assert "noface.toml:10: retry.default_model" in said
    done = project.noface("config", "check", "--json")
    assert done.returncode == 2
    document = json.loads(done.stdout)
    assert (document["schema"], document["ok"]) == (1, False)
    assert [problem["line"] for problem in document["problems"]] == [4, 7, 10]
    assert document["problems"][1]["key"] == "run.workers"


@pytest.mark.parametrize("command", ["check", "show"])
def test_broken_toml_is_pointed_at(project, command):
    project.write("noface.toml", "[run]\nworkers = = 2\n")
    done = project.noface("config", command)
    assert done.returncode == 2
    assert "noface.toml:2:11:" in done.stderr


def test_show_gives_the_effective_configuration_that_loads_again(project):
    shown = parse(project.noface("config", "show").stdout, "shown")
    assert shown.effective() == load(project.path).effective()
    assert project.shown("config", "show")["config"] == json.loads(json.dumps(shown.effective()))


def test_values_in_env_are_hidden(project):
    project.config('[models.secret]\nagent = "command"\ncommand = "x"\nenv = { API_KEY = "hunter2" }\n')
    for args in (["config", "show"], ["config", "show", "--json"]):
        out = project.noface(*args).stdout
        assert "API_KEY" in out
        assert "hunter2" not in out


@pytest.mark.parametrize(("key", "value", "said"), [("run.worker", "3", "workers"), ("run.workers", "none", "whole")])
def test_set_refuses_what_would_not_load_and_changes_nothing(project, key, value, said):
    before = (project.path / "noface.toml").read_bytes()
    done = project.noface("config", "set", key, value)
    assert done.returncode == 2
    assert said in done.stderr
    assert (project.path / "noface.toml").read_bytes() == before


def test_path_schema_and_example_print_what_they_name(project):
    assert project.noface("config", "path").stdout == f"{project.path / 'noface.toml'}\n"
    schema = json.loads(project.noface("config", "schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    example = ROOT / "noface.toml.example"
    stale = "run: noface config example > noface.toml.example"
    assert project.noface("config", "example").stdout == example.read_text(), stale


def test_another_file_can_be_named(project):
    model = '[models.m]\nagent = "command"\ncommand = "true"\n'
    project.write("other.toml", '[[gates]]\nname = "x"\ncommand = "true"\n' + model)
    assert "other.toml is fine" in project.noface("config", "check", "--config", "other.toml").stdout
    assert project.noface("config", "check", "--config", "absent.toml").returncode == 2


def test_write_follows_a_symlink_to_its_target(tmp_path):
    target = tmp_path / "real" / "config.toml"
    target.parent.mkdir()
    target.write_text("old")
    link = tmp_path / "noface.toml"
    link.symlink_to("real/config.toml")
    replace_file(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
