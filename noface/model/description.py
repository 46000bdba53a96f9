"""What a record says of its fields: `Annotated[str, OneOf(…), "What it is for."]`; ui/published makes schemas of it.

The document of a record is made of what it describes: a field or a property without a description is not shown.
"""

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any, NamedTuple, get_origin


class OneOf(NamedTuple):
    """The words that a text may be: those given, or those of an enumeration.

    A page that must be quick names its enumeration as "package.module.Class", so that only a schema imports it.
    """

    given: Iterable[str] | str
    also: tuple[str, ...] = ()

    def all(self) -> list[str]:
        if not isinstance(self.given, str):
            return [*self.also, *map(str, self.given)]
        from pkgutil import resolve_name

        return [*self.also, *map(str, resolve_name(self.given))]


class Minimum(int):
    """The least that a number may be, if that is not 0."""


class Timestamp:
    """A time, in seconds since 1970-01-01 UTC."""


class Inline:
    """A record whose fields stand among those of the record that holds it, which win."""


def getter_of(kind: Any, name: str) -> Any:
    found = getattr(kind, name, None)
    return getattr(found, "fget", None) or getattr(found, "func", None)


@cache
def shown_fields(kind: Any) -> dict[str, Any]:
    """Return the annotations of what a record shows, by name: its fields, then its properties.

    A record that describes nothing is shown as it is. A reference within an annotation is not resolved.
    """
    fields: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        fields |= vars(base).get("__annotations__", {})
    if hasattr(kind, "__total__"):  # a TypedDict is shown as it is
        return fields
    described = {name: hint for name, hint in fields.items() if get_origin(hint) is Annotated}
    for name in dir(kind):
        getter = getter_of(kind, name)
        hint = getter.__annotations__.get("return") if getter is not None else None
        if get_origin(hint) is Annotated:
            described[name] = hint
    return described or fields
