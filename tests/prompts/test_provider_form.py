"""Schemas as providers take them, and answers that were made by them."""

import json

import pytest

from noface.prompts.answers.forms import ANSWERS, example_of, provider_schema, without_nulls
from noface.prompts.structured import validate, violation

FORMS = sorted({form.name for form in ANSWERS.values()})
KNOWN = {"type", "properties", "required", "additionalProperties", "items", "enum", "description"}
"""What providers know in strict schemas (OpenAI's structured outputs, the narrowest)."""


def parts(schema):
    yield schema
    for inner in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])):
        yield from parts(inner)


def filled(value, schema):
    """An answer as a provider makes it: every key is there, null where it was left out."""
    if isinstance(value, list):
        return [filled(item, schema["items"]) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: filled(value.get(name), part) for name, part in schema["properties"].items()}


@pytest.mark.parametrize("name", FORMS)
def test_a_provider_s_schema_is_strict_and_holds_nothing_that_providers_do_not_know(name):
    for part in parts(provider_schema(ANSWERS_BY_NAME[name].schema)):
        assert part.keys() <= KNOWN
        assert ("object" in part["type"]) == ("properties" in part)
        if "properties" in part:
            assert part["required"] == list(part["properties"])
            assert part["additionalProperties"] is False


@pytest.mark.parametrize("name", FORMS)
def test_an_answer_made_by_a_provider_s_schema_is_read_as_any_other(name):
    schema, example = ANSWERS_BY_NAME[name].schema, example_of(name)
    made = filled(example, provider_schema(schema))
    assert violation(made, provider_schema(schema)) is None
    read = validate(without_nulls(json.dumps(made), schema), schema, name)
    assert read == json.loads(json.dumps(example))


ANSWERS_BY_NAME = {form.name: form for form in ANSWERS.values()}


@pytest.mark.parametrize("text", ["", "I approve.", "[null]", '{"verdict": ', "```json\n{}\n```"])
def test_what_is_no_json_object_stays_as_it_is(text):
    assert without_nulls(text, ANSWERS_BY_NAME["review"].schema) == text


def test_a_null_that_is_wrong_stays_for_the_check_to_name():
    text = without_nulls('{"verdict": null, "summary": "s", "odd": null}', ANSWERS_BY_NAME["review"].schema)
    assert json.loads(text) == {"verdict": None, "summary": "s", "odd": None}
