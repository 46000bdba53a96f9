"""The text of noface.toml.example, made from the models: every key, what it is for, and its default."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from noface.config.durations import format_duration
from noface.config.keys import SectionKeys, Shape, sections
from noface.config.toml_text import toml_text
from noface.config.values import is_duration

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_INTRO = """\
# noface.toml: every key there is, with what it is for.
#
# `noface init` writes a shorter file to start with. A key shown as `key = value` has its default here, except
# where it has none and an example stands instead. A key shown as `#key = value` is unset by default, and the
# value is an example; of [protect] the default list is shown.
# Durations: "90s", "10m", "1h30m", or a number of seconds. Unknown keys are errors.
"""

# Unset by default, but without them the example would show no escalation, and no hint that applies.
_SHOWN_SET = {("retry", "escalation_model"), ("failure_hints", "label"), ("models", "model")}
_MODEL_NAME = "fast"


def render() -> str:
    """Return the text of noface.toml.example; it loads as it stands."""
    return "\n".join([_INTRO, *("\n".join(_section(name, section)) for name, section in sections().items())])


def _section(name: str, section: SectionKeys) -> Iterator[str]:
    yield f"# {(section.model.__doc__ or '').splitlines()[0]}"
    yield {
        Shape.TABLE: f"[{name}]",
        Shape.ARRAY: f"[[{name}]]",
        Shape.NAMED: f"[{name}.{_MODEL_NAME}]",
    }[section.shape]
    for key, field in section.model.model_fields.items():
        yield f"# {field.description}"
        value, is_set = _value(field)
        line = f"{key} = {toml_text(value)}"
        shown = is_set or (name, key) in _SHOWN_SET
        yield line if shown else "\n".join(f"#{part}" for part in line.split("\n"))
    yield ""


def _value(field: "FieldInfo") -> tuple[Any, bool]:
    """Return what to show of a key, and whether it is set so without being written."""
    if field.is_required():
        return field.examples[0] if field.examples else "", True
    default = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(default, tuple) and default:
        return default, False
    if default is None or default in ("", (), {}):
        return field.examples[0] if field.examples else "", False
    return (format_duration(default) if is_duration(field) else default), True
