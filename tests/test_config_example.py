"""The example file and the JSON Schema are made from the models, and hold what they promise."""

import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

from noface.config.example import render
from noface.config.keys import Shape, sections
from noface.config.load import parse
from noface.config.schema import json_schema
from noface.config.settings import Config

EXAMPLE = Path(__file__).parent.parent / "noface.toml.example"
UNCOMMENTED = re.sub(r"^#(?! |$)|^#(?=  \")", "", render(), flags=re.MULTILINE)


def every_key():
    return [
        (name, key, field) for name, section in sections().items() for key, field in section.model.model_fields.items()
    ]


def checker():
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_file_in_the_repository_is_the_rendered_text():
    assert EXAMPLE.read_text() == render()


def test_the_sections_are_those_of_the_config():
    assert list(sections()) == list(Config.model_fields)
    assert {name for name, section in sections().items() if section.shape is Shape.ARRAY} == {"gates", "failure_hints"}
    assert {name for name, section in sections().items() if section.shape is Shape.NAMED} == {"models"}


def test_every_key_stands_in_its_section_under_its_description():
    parts = re.split(r"^\[+(\w+)[\w.]*\]+$", render(), flags=re.MULTILINE)
    bodies = dict(zip(parts[1::2], parts[2::2], strict=True))
    for name, key, field in every_key():
        assert field.description
        assert re.search(rf"^# {re.escape(field.description)}\n#?{key} = ", bodies[name], re.MULTILINE), (name, key)


def test_descriptions_are_single_lines():
    assert [key for _, key, field in every_key() if "\n" in field.description] == []


def test_the_example_loads_as_it_stands():
    config = parse(render(), "noface.toml.example")
    config.require_gates()
    assert config.retry.escalation_model == "claude-opus"
    assert config.failure_hints[0].label == "migration"


def test_the_example_loads_with_every_key_set():
    data = tomllib.loads(UNCOMMENTED)
    parse(UNCOMMENTED, "noface.toml.example")
    for name, key, _ in every_key():
        table = data[name]
        table = table[0] if isinstance(table, list) else table["fast"] if name == "models" else table
        assert key in table, (name, key)


def test_what_the_example_sets_outside_lists_is_the_default():
    shown, default = parse(render(), "example").effective(), parse("", "default").effective()
    for name in ("project", "run", "tracker", "protect", "landing", "limits"):
        assert shown[name] == default[name]


def test_the_default_list_of_protected_paths_is_shown():
    assert parse(UNCOMMENTED, "x").protect.paths == parse("", "x").protect.paths


def test_the_schema_accepts_the_example():
    checker().validate(tomllib.loads(render()))
    checker().validate(tomllib.loads(UNCOMMENTED))


def test_the_schema_has_an_id_a_title_and_a_description_of_every_key():
    schema = json_schema()
    assert schema["$id"]
    assert schema["title"] == "noface.toml"
    for name, section in sections().items():
        described = schema["$defs"][section.model.__name__]["properties"]
        assert list(described) == list(section.keys), name
        assert all(described[key]["description"] for key in described)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[models.claude-opus]\ntimeout = 90\n",
        '[models.a]\nagent = "command"\ncommand = "x"\n',
        '[[gates]]\nname = "a"\ncommand = "x"\ntimeout = 1.5\n',
        '[[gates]]\nname = "a"\ncommand = "x"\ntimeout = "1h30m"\n',
    ],
)
def test_schema_and_loader_accept_the_same(text):
    parse(text, "x")
    assert checker().is_valid(tomllib.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n",
        "[run]\nworkerz = 1\n",
        "[run]\nworkers = 0\n",
        '[run]\nbaseline = "x"\n',
        "[run]\nmax_cost_usd = 0\n",
        '[[gates]]\nname = "a"\n',
        '[[gates]]\nname = "a b"\ncommand = "x"\n',
        '[[gates]]\nname = "a"\ncommand = "x"\ntimeout = "soon"\n',
        "[models.a]\ntier = 1\n",
        '[models.a]\nagent = "command"\n',
        "[retry]\nblock_after = 1\n",
        '[[failure_hints]]\nhint = "x"\n',
    ],
)
def test_schema_and_loader_refuse_the_same(text):
    with pytest.raises(Exception, match="problem"):
        parse(text, "x")
    assert not checker().is_valid(tomllib.loads(text))


def test_the_schema_knows_no_null_since_toml_has_none():
    assert "null" not in str(json_schema()).replace("None", "null")
