"""Untyped dictionaries stand where a document of somebody else's is read or one is written, and nowhere between."""

from collections import Counter

from support import ROOT

UNTYPED = "dict[str, Any]"
BORDERS = {
    "agents": "options, settings and streams of agents",
    "cli": "JSON of a verb",
    "config": "noface.toml before it is checked",
    "data": "tables as TOML",
    "demo": "an order as its worker reads it",
    "detection": "what other tools keep in a repository",
    "extras": "what travels between machines, and what other programs write",
    "gates": "reports of runners, and a table of them",
    "integrity": "manifests and settings of tools, before and after a change",
    "process": "orders to supervisors, and what they say",
    "prompts": "values of templates, and answers of models",
}
"""Rooms at a border, with what crosses it."""
WITHIN = {
    "attempt/environment.py": (1, "writes an order for its worker"),
    "model/request.py": (1, "a failure of a part in the form of the error handling pattern"),
    "recovery/reported.py": (1, "writes a part's failure in the form of the error handling pattern"),
    "ui/page.py": (1, "styles"),
    "model/codec.py": (1, "a document of any record"),
    "model/description.py": (2, "annotations of any record"),
    "ui/published.py": (3, "JSON Schemas, those of data/events.toml too"),
}
"""Modules of the other rooms, with how often and why."""


def found():
    texts = {path.relative_to(ROOT / "noface"): path.read_text() for path in (ROOT / "noface").rglob("*.py")}
    return {path: text.count(UNTYPED) for path, text in texts.items() if UNTYPED in text}


def test_untyped_dictionaries_stand_at_borders_only():
    within = Counter({path.as_posix(): many for path, many in found().items() if path.parts[0] not in BORDERS})
    assert within - Counter({path: many for path, (many, _) in WITHIN.items()}) == Counter()


def test_what_is_allowed_is_there():
    assert set(BORDERS) <= {path.parts[0] for path in found()}
    assert set(WITHIN) <= {path.as_posix() for path in found()}
