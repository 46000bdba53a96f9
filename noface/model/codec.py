"""Turns frozen records into JSON-able values and back, by their type annotations."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, TypeVar

from noface.model.description import Inline, shown_fields

T = TypeVar("T")

_SCALARS = (str, int, float, bool)
_PLAIN = frozenset({*_SCALARS, type(None)})


def encode(value: object) -> Any:
    """Return `value` as dicts, lists and scalars; records and named tuples become dicts by field name, tuples lists."""
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if (names := _names(kind)) is not None:
        items = ((name, getattr(value, name)) for name in names)
        return {name: item if type(item) in _PLAIN else encode(item) for name, item in items}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, (tuple, list, frozenset, set)):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    return value


def shown(value: object) -> Any:
    """Return what `encode` does, of each record only what it describes (model/description)."""
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if _names(kind) is not None:
        known: dict[str, Any] = {}
        for name, hint in shown_fields(kind).items():
            item = shown(getattr(value, name))
            if Inline in getattr(hint, "__metadata__", ()):
                known = item | known
            else:
                known[name] = item
        return known
    if isinstance(value, (tuple, list, frozenset)):
        return [shown(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): shown(item) for key, item in value.items()}
    return encode(value)


def decode(kind: type[T], value: Any) -> T:
    return typing.cast("T", _decode(kind, value))


def view(kind: type[T], record: object, /, **computed: Any) -> T:
    made: Any = kind
    names = [name for name in _names(made) or () if name not in computed and hasattr(record, name)]
    return typing.cast("T", made(**{name: getattr(record, name) for name in names}, **computed))


@cache
def _names(kind: Any) -> tuple[str, ...] | None:
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    return kind._fields if issubclass(kind, tuple) and hasattr(kind, "_fields") else None


@lru_cache(maxsize=64)
def _hints(kind: type) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _decode(kind: Any, value: Any) -> Any:
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        options = [option for option in typing.get_args(kind) if option is not types.NoneType]
        return None if value is None else _decode(options[0], value)
    if origin is tuple:
        _require(value, list, tuple)
        args = typing.get_args(kind)
        if args[-1] is Ellipsis:
            return tuple(_decode(args[0], item) for item in value)
        return tuple(_decode(arg, item) for arg, item in zip(args, value, strict=True))
    if origin is set:
        _require(value, list, set)
        return {_decode(typing.get_args(kind)[0], item) for item in value}
    if origin is dict and typing.get_args(kind)[0] is int:
        _require(value, dict, dict)
        return {int(key): _decode(typing.get_args(kind)[1], item) for key, item in value.items()}
    if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")):
        known = _hints(kind)
        _require(value, dict, kind)
        return kind(**{name: _decode(known[name], item) for name, item in value.items() if name in known})
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in _SCALARS:
        _require(value, kind, kind)
        if kind is int and isinstance(value, bool):
            raise TypeError(f"expected int, found {value!r}")
    return value


def _require(value: Any, expected: type, kind: Any) -> None:
    if not isinstance(value, expected):
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
