"""The JSON Schema of noface.toml, for editors: the models' own, told what the loader does beside them."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from noface.config.presets import PRESETS
from noface.config.settings import Config

SCHEMA_ID = "urn:noface:config:1"


class _TomlSchema(GenerateJsonSchema):
    """TOML has no null: what is optional is left out, so null is neither a type nor a default."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if described.get("default", ...) is None:
            del described["default"]
        return described


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of noface.toml; each call makes a new one."""
    schema = Config.model_json_schema(schema_generator=_TomlSchema)
    # The loader fills both in where a file leaves them out.
    del schema["required"]
    models = schema["properties"]["models"]
    # An entry named like a preset takes from it what it leaves out, even `agent`.
    whole = schema["$defs"]["Model"]
    partial = {key: value for key, value in whole.items() if key != "required"}
    schema["$defs"]["PresetModel"] = partial | {"title": "PresetModel"}
    models["properties"] = {name: {"$ref": "#/$defs/PresetModel"} for name in PRESETS}
    models["description"] = "models by name; those named like a preset may be partial"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **schema,
        "title": "noface.toml",
    }
