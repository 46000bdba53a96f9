"""Which keys noface.toml has, read off the models, so that errors, the example and edits can't drift from them."""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from functools import cache
from typing import NamedTuple, get_args, get_origin

from noface.config.lines import Path
from noface.config.sections import Section
from noface.config.settings import Config

_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Shape(Enum):
    """How a section is written: [run], [[gates]], or [models.NAME]."""

    TABLE = auto()
    ARRAY = auto()
    NAMED = auto()


class SectionKeys(NamedTuple):
    """A section's shape, and the model of it or of one of its items."""

    shape: Shape
    model: type[Section]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that may stand in the section or in each of its items."""
        return tuple(self.model.model_fields)


@cache
def sections() -> Mapping[str, SectionKeys]:
    """Return every section of noface.toml, in the order people should read them."""
    found = {}
    for name, field in Config.model_fields.items():
        origin, arguments = get_origin(field.annotation), get_args(field.annotation)
        if origin is tuple:
            found[name] = SectionKeys(Shape.ARRAY, arguments[0])
        elif isinstance(field.annotation, type):
            found[name] = SectionKeys(Shape.TABLE, field.annotation)
        else:
            found[name] = SectionKeys(Shape.NAMED, arguments[1])
    return found


def keys_at(path: Path) -> tuple[str, ...]:
    """Return the keys that the table at `path` may have; none where the names are the user's, as in env."""
    if not path:
        return tuple(sections())
    section = sections().get(str(path[0]))
    if section is None:
        return ()
    depth = 1 if section.shape is Shape.TABLE else 2
    return section.keys if len(path) == depth else ()


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
