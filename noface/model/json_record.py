"""JSON that a program or a model wrote, which may be anything: a value of another type than asked for is none."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, TypeVar

from noface.model.budget import sane_cost

_MILLISECONDS_FROM = 1e11


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A JSON object; its readers return nothing for a value of another type than they are asked for."""

    values: Mapping[str, object]

    @classmethod
    def of(cls, value: object) -> Self:
        return cls(value if isinstance(value, dict) else {})

    def __bool__(self) -> bool:
        return bool(self.values)

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def text(self, key: str) -> str:
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def flag(self, key: str) -> bool:
        return bool(self.values.get(key))

    def number(self, key: str) -> float | None:
        """Return a number that is one: neither a boolean nor infinite, nor too big for a float."""
        value = self.values.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        try:
            result = float(value)
        except OverflowError:
            return None
        return result if math.isfinite(result) else None

    def whole(self, key: str) -> int | None:
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

    def total(self, *keys: str) -> int | None:
        return total(*(self.whole(key) for key in keys))

    def cost(self, key: str) -> float | None:
        return sane_cost(self.number(key))

    def time(self, key: str) -> float | None:
        at = self.number(key)
        return epoch(at) if at is not None else None

    def inside(self, *path: str) -> "JsonRecord":
        inner: JsonRecord = self
        for key in path:
            inner = JsonRecord.of(inner.values.get(key))
        return inner

    def objects(self, key: str) -> "list[JsonRecord]":
        value = self.values.get(key)
        return [JsonRecord(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def json_value(text: str | bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def parsed(text: str) -> JsonRecord:
    start = text.find("{")
    try:
        return JsonRecord.of(json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else {})
    except (ValueError, RecursionError):
        return JsonRecord({})


Amount = TypeVar("Amount", int, float)


def total(*counts: Amount | None) -> Amount | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def epoch(value: float) -> float:
    """Return epoch seconds, also if `value` counts milliseconds."""
    return value / 1000 if value > _MILLISECONDS_FROM else value
