"""noface.toml described from its models: the example file with every key, and the JSON Schema for editors."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from noface.config.edit import toml_text
from noface.config.presets import presets
from noface.config.problems import SectionKeys, sections
from noface.config.sections import Config
from noface.config.values import format_duration, is_duration
from noface.data import table

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

# Unset by default, but without them the example would show no escalation, and no hint that applies.
_WRITTEN_OUT = {("retry", "escalation_model"), ("failure_hints", "label"), ("models", "model")}
_MODEL_NAME = "fast"


def render() -> str:
    return "\n".join(
        [
            table("config_files")["example"]["intro"],
            *("\n".join(_section(name, section)) for name, section in sections().items()),
        ]
    )


def _section(name: str, section: SectionKeys) -> Iterator[str]:
    yield f"# {_purpose(section)}"
    yield section.header.replace("NAME", _MODEL_NAME)
    for key, field in section.model.model_fields.items():
        if key not in section.inner:
            yield from _key(field, key, written_out=(name, key) in _WRITTEN_OUT)
    yield ""
    for inner in section.inner.values():
        yield from _inner(inner)


def _inner(section: SectionKeys) -> Iterator[str]:
    yield f"# {_purpose(section)}"
    yield f"#{section.header}"
    for key, field in section.model.model_fields.items():
        for line in _key(field, key, written_out=True):
            yield line if line.startswith("#") else f"#{line}"
    yield ""


def _purpose(section: SectionKeys) -> str:
    return (section.model.__doc__ or "").splitlines()[0]


def _key(field: "FieldInfo", key: str, *, written_out: bool) -> Iterator[str]:
    yield f"# {field.description}"
    value, is_set = _value(field)
    line = f"{key} = {toml_text(value)}"
    yield line if is_set or written_out else "\n".join(f"#{part}" for part in line.split("\n"))


def _value(field: "FieldInfo") -> tuple[Any, bool]:
    if field.is_required():
        return field.examples[0] if field.examples else "", True
    default = field.get_default(call_default_factory=True, validated_data={})
    if default is None or default in ("", (), {}):
        return field.examples[0] if field.examples else "", False
    return (format_duration(default) if is_duration(field) else default), True


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
    partial = {key: value for key, value in schema["$defs"]["Model"].items() if key != "required"}
    schema["$defs"]["PresetModel"] = partial | {"title": "PresetModel"}
    models["properties"] = {name: {"$ref": "#/$defs/PresetModel"} for name in presets()}
    models["description"] = "models by name; those named like a preset may be partial"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **schema,
        "title": "noface.toml",
    }
