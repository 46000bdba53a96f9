"""Takes secrets out of the records that are stored, shown, and quoted in prompts (I12).

Names of tests lose only values that are known: they are compared with those of main's run. Of paths only a new file's
loses one, and only a value that no project bears by chance. Commits and commands are left alone: programs use them.
"""

from collections.abc import Collection
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from noface.model.attempt import ABSENT, NotTaken, Snapshot
from noface.secrets.masking import Masker

_WORDS = frozenset((
    "message", "signature", "evidence", "excerpt", "questions", "points", "also_matched", "last_words", "answer",
    "refused", "notes", "doubts", "summary", "risks", "gaps", "left", "title", "body", "problem", "hint", "why",
))  # fmt: skip
_TESTS = "failing_tests"
Record = TypeVar("Record")


def masked_record(record: Record, masker: Masker) -> Record:
    """Return a record whose words, and those of the records in it, hold no secret."""
    return cast("Record", _walked(record, masker, ""))


def _walked(value: Any, masker: Masker, name: str) -> Any:
    if isinstance(value, str):
        return masker.text(value) if name in _WORDS else masker.values(value) if name == _TESTS else value
    if hasattr(value, "_fields"):  # a named tuple
        return value._replace(**{each: _walked(getattr(value, each), masker, each) for each in value._fields})
    if isinstance(value, tuple):
        return tuple(_walked(each, masker, name) for each in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    names = (each.name for each in fields(value))
    return replace(value, **{each: _walked(getattr(value, each), masker, each) for each in names})


def masked_snapshot(snapshot: Snapshot, masker: Masker, own: Collection[str]) -> Snapshot:
    """Return a snapshot whose notes and names of new files hold no secret; `own` are values that main holds anyway."""
    named = {path: masker.path(path, own) for path in named_anew(snapshot)}

    def paths(those: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(named[path] for path in those)

    def files(those: tuple[NotTaken, ...]) -> tuple[NotTaken, ...]:
        return tuple(replace(masked_record(one, masker), path=named[one.path]) for one in those)

    changes = (replace(each, path=named[each.path]) if each.old_mode == ABSENT else each for each in snapshot.changes)
    return replace(
        masked_record(snapshot, masker),
        changes=tuple(changes),
        protected_edits=paths(snapshot.protected_edits),
        oversized=paths(snapshot.oversized),
        elsewhere=paths(snapshot.elsewhere),
        not_taken=files(snapshot.not_taken),
        suspects=files(snapshot.suspects),
    )


def named_anew(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the paths of a snapshot that need not stand on main: those that a worker may have named."""
    made = (change.path for change in snapshot.changes if change.old_mode == ABSENT)
    left = (one.path for one in (*snapshot.not_taken, *snapshot.suspects))
    return (*made, *snapshot.protected_edits, *snapshot.oversized, *snapshot.elsewhere, *left)
