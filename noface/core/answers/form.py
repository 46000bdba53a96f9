"""What a form of answer is made of, and the pieces that their schemas share. Every string and list is bounded."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from noface.core.history import Advice
from noface.core.repository_paths import PATH_CHARS_MAX, canonical

Schema = Mapping[str, Any]
ID_CHARS_MAX = 64
TEXT_CHARS_MAX = 4_000
LINE_CHARS_MAX = 500
PATHS_MAX = 50
NOT_BLANK: Schema = {"pattern": r"\S", "description": "a text that is not blank"}


class Reader(Protocol):
    """Makes advice, given after attempt `after` of `epoch` by `model`, of a value that satisfies the schema."""

    def __call__(self, value: Mapping[str, Any], *, after: int, epoch: int, model: str) -> Advice:
        """Return the advice; what it cost is for the caller to add."""


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """A form of answer: its name in prompts, its JSON Schema, an example, and how it is read."""

    name: str
    schema: Schema
    example: Mapping[str, Any]
    read: Reader


def answer_schema(
    title: str, properties: Mapping[str, Schema], required: tuple[str, ...], example: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """Return the schema of an answer: an object that holds no other keys than these (L12)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
        "examples": [example],
        **more,
    }


def needs_also(key: str, value: str, needed: str, rule: Schema | None = None) -> dict[str, Any]:
    """Return the rule "where `key` is `value`, `needed` must be there", and be as `rule` says."""
    return {
        "if": {"properties": {key: {"const": str(value)}}, "required": [key]},
        "then": {"required": [needed], **({"properties": {needed: rule}} if rule else {})},
    }


def text(chars_max: int = TEXT_CHARS_MAX, *, blank: bool = True) -> dict[str, Any]:
    """Return the schema of a text."""
    return {"type": "string", "maxLength": chars_max, **({} if blank else NOT_BLANK)}


def texts(items_max: int, chars_max: int = LINE_CHARS_MAX) -> dict[str, Any]:
    """Return the schema of a list of texts."""
    return {"type": "array", "items": text(chars_max), "maxItems": items_max}


def paths(items_max: int = PATHS_MAX) -> dict[str, Any]:
    """Return the schema of a list of paths inside the repository."""
    item = {"type": "string", "format": "repository-path", "maxLength": PATH_CHARS_MAX}
    return {"type": "array", "items": item, "maxItems": items_max}


def issue_ids(items_max: int = 20) -> dict[str, Any]:
    """Return the schema of a list of issue ids."""
    item = {"type": "string", "format": "issue-id", "maxLength": ID_CHARS_MAX}
    return {"type": "array", "items": item, "maxItems": items_max}


def strings(value: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the strings of a list, stripped, without blank ones."""
    return tuple(item.strip() for item in value.get(key, ()) if item.strip())


def path_list(value: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the paths of a list, each once and in its one spelling."""
    return tuple(dict.fromkeys(canonical(path) for path in value.get(key, ())))


def sections(*parts: tuple[str, str]) -> str:
    """Join titled texts for the next prompt, one below the other; those without a text are left out."""
    told = ((title, "\n" if body.startswith("\n") else " ", body.strip()) for title, body in parts)
    return "\n".join(f"{title}:{gap}{body}" for title, gap, body in told if body)


def listed(items: tuple[str, ...]) -> str:
    """Return items as a list that begins on a line of its own; empty for none."""
    return "".join(f"\n- {item}" for item in items)
