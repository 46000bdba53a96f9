"""A resolver's word on work that went beyond its paths or a contract: widen them, do without, or ask a person (K5)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from noface.core.answers.form import (
    AnswerForm,
    answer_schema,
    issue_ids,
    needs_also,
    path_list,
    paths,
    sections,
    strings,
    text,
)
from noface.core.history import Advice, Topic


class Resolution(StrEnum):
    """What a resolver can decide."""

    EXPAND = "expand"
    REDESIGN = "redesign"
    PERSON = "person"


EXAMPLE = {
    "resolution": Resolution.EXPAND.value,
    "paths": ["src/session.py"],
    "guidance": "The login needs one new field of the session; add it, and change nothing else there.",
    "recheck": ["12"],
}
SCHEMA = answer_schema(
    "boundary",
    {
        "resolution": {"type": "string", "enum": [resolution.value for resolution in Resolution]},
        "paths": paths(),
        "guidance": text(blank=False),
        "recheck": issue_ids(),
    },
    ("resolution", "guidance"),
    EXAMPLE,
    allOf=[needs_also("resolution", Resolution.EXPAND, "paths", {"minItems": 1})],
)


def read(value: Mapping[str, Any], *, after: int, epoch: int, model: str) -> Advice:
    """Return the resolution as advice; `paths` only where it is to widen them."""
    resolution = Resolution(value["resolution"])
    wider = path_list(value, "paths") if resolution is Resolution.EXPAND else ()
    told = sections(
        ("Resolution", resolution.value),
        ("Paths that may be changed as well", ", ".join(wider)),
        ("Guidance", value["guidance"]),
        ("Issues to verify again", ", ".join(recheck(value))),
    )
    return Advice(
        Topic.BOUNDARY,
        after,
        epoch=epoch,
        model=model,
        strategy=resolution.value,
        text=told,
        paths=wider,
        recheck=recheck(value),
    )


def recheck(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the ids of the issues whose work depends on what changes, and must be verified again (K5)."""
    return strings(value, "recheck")


FORM = AnswerForm("boundary", SCHEMA, EXAMPLE, read)
