"""A specialist's guidance on a change that conflicts with what main has become."""

from collections.abc import Mapping
from typing import Any

from noface.core.answers.form import AnswerForm, answer_schema, path_list, paths, sections, text
from noface.core.history import Advice, Topic

EXAMPLE = {
    "guidance": "Main has renamed load() to read(); make the same change to read(), and keep its new argument.",
    "files": ["src/store.py"],
}
SCHEMA = answer_schema("merge_conflict", {"guidance": text(blank=False), "files": paths()}, ("guidance",), EXAMPLE)


def read(value: Mapping[str, Any], *, after: int, epoch: int, model: str) -> Advice:
    """Return the guidance as advice; `paths` are the files in conflict."""
    files = path_list(value, "files")
    told = sections(("Guidance", value["guidance"]), ("Files", ", ".join(files)))
    return Advice(Topic.MERGE_CONFLICT, after, epoch=epoch, model=model, text=told, paths=files)


FORM = AnswerForm("merge_conflict", SCHEMA, EXAMPLE, read)
