"""What a record says of its fields: `Annotated[str, OneOf(…), "What it is for."]`. ui/schema makes JSON Schemas of it.

A record that is shown bears these itself, so that the document it appears in need not say them again.
"""

from collections.abc import Iterable
from typing import NamedTuple


class OneOf(NamedTuple):
    """The words that a text may be: those given, or those of an enumeration.

    A page that must be quick names its enumeration as "package.module.Class", so that only a schema imports it.
    """

    given: Iterable[str] | str
    also: tuple[str, ...] = ()

    def all(self) -> list[str]:
        """Return the words."""
        if not isinstance(self.given, str):
            return [*self.also, *map(str, self.given)]
        from pkgutil import resolve_name

        return [*self.also, *map(str, resolve_name(self.given))]


class Minimum(int):
    """The least that a number may be, if that is not 0."""


class Timestamp:
    """A time, in seconds since 1970-01-01 UTC."""
