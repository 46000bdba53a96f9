"""A planner's breakdown of an issue into smaller ones (N9). `core/breakdown.py` makes issues of it."""

from collections.abc import Mapping
from typing import Any

from noface.core.answers.form import AnswerForm, answer_schema, listed, sections, text, texts
from noface.core.history import Advice, Topic

CHILDREN_READ_MAX = 100
"""More are not even looked at; how many are allowed is a rule of `core/breakdown.py`."""
_KEY_CHARS_MAX = 64
_TITLE_CHARS_MAX = 200
_BODY_CHARS_MAX = 50_000
_ACCEPT_MAX = 50
_PATHS_READ_MAX = 100
_PATH_CHARS_READ_MAX = 1_000
_INDEX_MAX = 1_000

EXAMPLE = {
    "children": [
        {
            "key": "tokens",
            "title": "Read quoted fields",
            "body": "Make the tokenizer return a quoted field as one token. The parser stays as it is.",
            "paths": ["src/tokens.py", "tests/test_tokens.py"],
            "accept": ["python -m pytest -q tests/test_tokens.py"],
            "depends_on": [],
            "covers": [],
        },
        {
            "key": "parser",
            "title": "Keep quotes when parsing",
            "body": "Build on the tokens of the first part, so that `parse` keeps what stood in quotes.",
            "paths": ["src/parser.py"],
            "accept": [],
            "depends_on": ["tokens"],
            "covers": [0],
        },
    ]
}
_CHILD = {
    "type": "object",
    "properties": {
        "key": text(_KEY_CHARS_MAX, blank=False),
        "title": text(_TITLE_CHARS_MAX, blank=False),
        "body": text(_BODY_CHARS_MAX),
        "paths": texts(_PATHS_READ_MAX, _PATH_CHARS_READ_MAX),
        "accept": texts(_ACCEPT_MAX, 2_000),
        "depends_on": texts(CHILDREN_READ_MAX, _KEY_CHARS_MAX),
        "covers": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0, "maximum": _INDEX_MAX},
            "maxItems": _INDEX_MAX,
            "description": "places in the parent's list of accept commands, from 0, that this part satisfies",
        },
    },
    "required": ["key", "title", "body", "paths"],
    "additionalProperties": False,
}
SCHEMA = answer_schema(
    "breakdown",
    {"children": {"type": "array", "items": _CHILD, "maxItems": CHILDREN_READ_MAX}},
    ("children",),
    EXAMPLE,
)


def read(value: Mapping[str, Any], *, after: int, epoch: int, model: str) -> Advice:
    """Return what was proposed, for a person to read. As advice it decides nothing: the parts may break the rules."""
    titles = tuple(" ".join(child["title"].split()) for child in value["children"])
    return Advice(Topic.BREAKDOWN, after, epoch=epoch, model=model, text=sections(("Proposed parts", listed(titles))))


FORM = AnswerForm("breakdown", SCHEMA, EXAMPLE, read)
