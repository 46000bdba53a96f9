"""Which keys noface.toml has, read off the models, so that errors, the example and edits can't drift from them."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, get_args, get_origin

from noface.config.lines import Path
from noface.config.sections import Section
from noface.config.settings import Config

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Shape(Enum):
    """How a section is written: [run], [[gates]], or [models.NAME]."""

    TABLE = auto()
    ARRAY = auto()
    NAMED = auto()


class SectionKeys(NamedTuple):
    """A section: its name, with its parent's before it if it stands within one, its shape, and the model of its keys.

    The model is that of the section itself, or of one of its items.
    """

    name: tuple[str, ...]
    shape: Shape
    model: type[Section]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that may stand in the section or in each of its items."""
        return tuple(self.model.model_fields)

    @property
    def inner(self) -> "Mapping[str, SectionKeys]":
        """The sections that stand within this one."""
        return _sections_of(self.model, self.name)

    @property
    def header(self) -> str:
        """The header that a person writes above its keys."""
        name = ".".join(self.name)
        return {Shape.TABLE: f"[{name}]", Shape.ARRAY: f"[[{name}]]", Shape.NAMED: f"[{name}.NAME]"}[self.shape]


def sections() -> Mapping[str, SectionKeys]:
    """Return every section at the top of noface.toml, in the order people should read them."""
    return _sections_of(Config, ())


def all_sections() -> tuple[SectionKeys, ...]:
    """Return every section, each followed by those within it."""
    return tuple(each for section in sections().values() for each in (section, *section.inner.values()))


@cache
def _sections_of(model: type[Section], name: tuple[str, ...]) -> Mapping[str, SectionKeys]:
    found = {}
    for key, field in model.model_fields.items():
        shape, inner = _shape(field)
        if isinstance(inner, type) and issubclass(inner, Section):
            found[key] = SectionKeys((*name, key), shape, inner)
    return found


def _shape(field: "FieldInfo") -> tuple[Shape, object]:
    """Return how a field is written if it is a section, and what it or its items are."""
    origin, arguments = get_origin(field.annotation), get_args(field.annotation)
    if origin is tuple:
        return Shape.ARRAY, arguments[0]
    if origin is Mapping:
        return Shape.NAMED, arguments[1]
    return Shape.TABLE, field.annotation


def holds_names(field: "FieldInfo") -> bool:
    """Tell whether a key holds a table of plain values by name, as env does."""
    return get_origin(field.annotation) in (dict, Mapping)


def section_at(path: Path) -> tuple[SectionKeys | None, Path]:
    """Return the innermost section that `path` leads into, and what is left of the path there.

    Of arrays and named sections the item counts as part of the section: ("gates", 0, "name") leaves ("name",).
    """
    found: SectionKeys | None = None
    known, rest = sections(), path
    while rest and (section := known.get(str(rest[0]))) is not None:
        found, known = section, section.inner
        rest = rest[1 if section.shape is Shape.TABLE else 2 :]
    return found, rest


def keys_at(path: Path) -> tuple[str, ...]:
    """Return the keys that the table at `path` may have; none where the names are the user's, as in env."""
    if not path:
        return tuple(sections())
    section, rest = section_at(path)
    return () if section is None or rest else section.keys


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the name of `known` that `name` was probably meant to be."""
    by_folded = {one.lower().replace("-", "_"): one for one in known}
    found = difflib.get_close_matches(name.lower().replace("-", "_"), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return what to say after an unknown `name`: the nearest known one, or all there are."""
    known = tuple(known)
    match = nearest(name, known)
    if match:
        return f'did you mean "{match}"?'
    return f"known are: {', '.join(known)}" if known else "there are none"


def dotted(path: Path) -> str:
    """Write `path` as the dotted key that a person would: models."gpt-4.1".tier, gates.1.timeout."""
    return ".".join(_part(part) for part in path)


def _part(part: str | int) -> str:
    text = str(part)
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=False)
