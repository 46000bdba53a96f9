"""What a worker's model says of its own failure: why it failed, and how it will mend it (N7)."""

from collections.abc import Mapping
from typing import Any

from noface.core.answers.form import AnswerForm, answer_schema, sections, text
from noface.core.history import Advice, Topic

EXAMPLE = {
    "why": "I changed the caller, but the wrong default stands in the settings.",
    "plan": "Correct the default in settings.py, undo the change of the caller, and run the tests again.",
}
SCHEMA = answer_schema("reflection", {"why": text(blank=False), "plan": text(blank=False)}, ("why", "plan"), EXAMPLE)


def read(value: Mapping[str, Any], *, after: int, epoch: int, model: str) -> Advice:
    """Return the reflection as advice."""
    why, plan = value["why"].strip(), value["plan"].strip()
    told = sections(("Why the last attempt failed", why), ("Plan", plan))
    return Advice(Topic.REFLECTION, after, epoch=epoch, model=model, cause=why, text=told)


FORM = AnswerForm("reflection", SCHEMA, EXAMPLE, read)
