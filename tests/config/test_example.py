"""The example file and the JSON Schema are made from the models, and hold what they promise."""

import re
import tomllib

import jsonschema
import pytest
from support import ROOT

from noface.config.describe import json_schema, render
from noface.config.load import parse
from noface.config.problems import all_sections, section_at

EXAMPLE = ROOT / "noface.toml.example"
UNCOMMENTED = re.sub(r"^#(?! |$)|^#(?=  \")", "", render(), flags=re.MULTILINE)
# A ladder is spelt in one of two ways.
WITH_LADDER = re.sub(r"^escalation_model = .*\n", "", UNCOMMENTED, flags=re.MULTILINE)
WITHOUT_LADDER = re.sub(r"^\[\[retry\.ladder\]\]\n(.+\n)*", "", UNCOMMENTED, flags=re.MULTILINE)


def every_key():
    """Yield the section, the name and the field of every key that holds a value."""
    return [
        (section, key, field)
        for section in all_sections()
        for key, field in section.model.model_fields.items()
        if key not in section.inner
    ]


def bodies():
    """Return the text under each header of the example, commented out or not."""
    parts = re.split(r"^#?(\[+[\w.]+\]+)$", render(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def checker():
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_file_in_the_repository_is_the_rendered_text():
    assert EXAMPLE.read_text() == render(), "run: noface config example > noface.toml.example"


def test_every_key_stands_in_its_section_under_its_description():
    texts = bodies()
    for section, key, field in every_key():
        assert field.description
        text = texts[section.header.replace("NAME", "fast")]
        assert re.search(rf"^# {re.escape(field.description)}\n#?{key} = ", text, re.MULTILINE), (section, key)


def test_the_example_loads_as_it_stands():
    config = parse(render(), "noface.toml.example")
    config.require_gates()
    assert config.retry.escalation_model == "claude-opus"
    assert config.failure_hints[0].label == "migration"


def test_the_example_loads_with_every_key_set():
    seen = set()
    for text in (WITH_LADDER, WITHOUT_LADDER):
        parse(text, "noface.toml.example")
        data = tomllib.loads(text)
        for section, key, _ in every_key():
            table = data
            for name in section.name:
                table = table.get(name, {})
            table = table[0] if isinstance(table, list) else table.get("fast", table)
            if key in table:
                seen.add((section.name, key))
    assert seen == {(section.name, key) for section, key, _ in every_key()}


def test_a_path_leads_into_the_innermost_section():
    for path, name, rest in (
        (("retry", "ladder", 1, "model"), ("retry", "ladder"), ("model",)),
        (("retry", "ladder", 1), ("retry", "ladder"), ()),
        (("retry", "strategies", "TIMEOUT"), ("retry",), ("strategies", "TIMEOUT")),
        (("models", "fast", "env", "A"), ("models",), ("env", "A")),
        (("run", "workers"), ("run",), ("workers",)),
    ):
        section, left = section_at(path)
        assert (section.name, left) == (name, rest)
    assert section_at(("nothing", "x")) == (None, ("nothing", "x"))


def test_what_the_example_sets_outside_lists_is_the_default():
    shown, default = parse(render(), "example").effective(), parse("", "default").effective()
    for name in default.keys() - {"gates", "gate_rules", "models", "retry", "failure_hints"}:
        assert shown[name] == default[name]


def test_the_schema_accepts_the_example():
    checker().validate(tomllib.loads(render()))
    checker().validate(tomllib.loads(WITH_LADDER))
    checker().validate(tomllib.loads(WITHOUT_LADDER))


def test_the_schema_has_an_id_a_title_and_a_description_of_every_key():
    schema = json_schema()
    assert schema["$id"]
    assert schema["title"] == "noface.toml"
    for section in all_sections():
        described = schema["$defs"][section.model.__name__]["properties"]
        assert list(described) == list(section.keys), section.name
        assert all(described[key]["description"] for key in described)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[models.claude-opus]\ntimeout = 90\n",
        '[models.a]\nagent = "command"\ncommand = "x"\n',
        '[[gates]]\nname = "a"\ncommand = "x"\ntimeout = 1.5\n',
        '[[gates]]\nname = "a"\ncommand = "x"\ntimeout = "1h30m"\n',
        '[[retry.ladder]]\nmodel = "claude-opus"\n',
        '[retry]\nladder = [{ model = "claude-opus", attempts = 2, think = true, answers = ["TIMEOUT", "boundary"] }]\n',
        '[retry]\ndefault_model = "claude-opus"\n[retry.strategies]\nNETWORK = "wait"\n',
        '[[failure_hints]]\nhint = "x"\npath = "db/"\n',
        '[[gate_rules]]\nname = "a"\nkind = "TIMEOUT"\npattern = "^x"\nexample = "xy"\neven_in_tests = true\n',
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
        "[run]\nworkers = -1\n",
        '[run]\nbaseline = "x"\n',
        "[run]\nmax_cost_usd = 0\n",
        '[[gates]]\nname = "a"\n',
        '[[gates]]\nname = "a b"\ncommand = "x"\n',
        '[[gates]]\nname = "a"\ncommand = "x"\ntimeout = "soon"\n',
        "[models.a]\ntier = 1\n",
        '[models.a]\nagent = "command"\n',
        "[retry]\nblock_after = 1\n",
        '[[failure_hints]]\nhint = "x"\n',
        '[[gate_rules]]\nname = "a"\nkind = "NETWORK"\npattern = "x"\nexample = "x"\n',
        '[[gate_rules]]\nname = "a"\nkind = "TIMEOUT"\npattern = "x"\n',
        "[retry]\nladder = []\n",
        '[[retry.ladder]]\nmodel = "claude-opus"\ntimes = 2\n',
        '[[retry.ladder]]\nmodel = "claude-opus"\nattempts = 0\n',
        '[[retry.ladder]]\nmodel = "claude-opus"\nanswers = ["TIMEOUTS"]\n',
        '[retry]\ndefault_model = "claude-opus"\n[retry.strategies]\nTIMEOUTS = "reduce"\n',
        '[retry]\ndefault_model = "claude-opus"\n[retry.strategies]\nTIMEOUT = "reduction"\n',
        '[recovery]\naccumulation_format = "all"\n',
        '[roles]\nplaner = "claude-opus"\n',
    ],
)
def test_schema_and_loader_refuse_the_same(text):
    with pytest.raises(Exception, match="problem"):
        parse(text, "x")
    assert not checker().is_valid(tomllib.loads(text))


def test_the_schema_knows_no_null_since_toml_has_none():
    assert "null" not in str(json_schema()).replace("None", "null")
