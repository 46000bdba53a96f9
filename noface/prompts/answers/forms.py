"""The forms of advice by topic: the schema of what a model answers, and what is read of a value that satisfies it.

Adding a form takes its schema in data/answers.json, a function here, and a line of `ANSWERS`. On dependencies nobody is
asked: noface knows them itself.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from noface.data import document
from noface.model.history import ASKED_FOR, DIVIDE, MISSING, NOTHING_MISSING, Advice, Topic
from noface.model.patterns import canonical
from noface.model.taxonomy import DiagnosisStrategy
from noface.model.worker_run import Asked

Value = Mapping[str, Any]
"""A value that satisfies the schema of its form."""

_EXPAND = "expand"


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """A form of answer by its name in prompts; `content` makes advice that does not yet say who gave it when."""

    name: str
    content: Callable[[Value], Advice]

    @property
    def schema(self) -> Mapping[str, Any]:
        return schema_of(self.name)

    @property
    def example(self) -> Mapping[str, Any]:
        return example_of(self.name)

    def read(self, value: Value, *, after: int, epoch: int, model: str) -> Advice:
        """Return the advice that `model` gave after attempt `after` of `epoch`; its cost is for the caller to add."""
        return replace(self.content(value), after=after, epoch=epoch, model=model)


def schema_of(name: str) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = document("answers")[name]
    return schema


def example_of(name: str) -> Mapping[str, Any]:
    example: Mapping[str, Any] = schema_of(name)["examples"][0]
    return example


def strings(value: Value, key: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in value.get(key, ()) if item.strip())


def _diagnosis(value: Value) -> Advice:
    """Read what caused a failure (S2, S3); the text is the proposal alone, to know the same one again (S5)."""
    strategy = DiagnosisStrategy(value["strategy"])
    delay = value.get("delay_s")
    return Advice(
        Topic.DIAGNOSIS,
        0,
        cause=value["cause"].strip(),
        recoverable=value["recoverable"],
        strategy=strategy.value,
        text=_proposal(strategy, value),
        delay_s=float(delay) if delay is not None and strategy is DiagnosisStrategy.SAME else None,
    )


def _proposal(strategy: DiagnosisStrategy, value: Value) -> str:
    match strategy:
        case DiagnosisStrategy.ALTERNATIVE:
            return _sections(("Another approach", value["alternative"]))
        case DiagnosisStrategy.MODIFIED:
            changes = value["modified"]
            if isinstance(changes, str):
                return _sections(("The same with a change", changes))
            pairs = tuple(f"{key.strip()}: {change.strip()}" for key, change in changes.items())
            return _sections(("The same with these changes", _listed(pairs)))
        case DiagnosisStrategy.SKIP:
            return _sections(("Why it can be left undone", value["skip_reason"]))
        case DiagnosisStrategy.ESCALATE:
            return _sections(("What is needed", value.get("explanation") or value.get("alternative") or ""))
        case DiagnosisStrategy.SAME:
            return ""


def _reflection(value: Value) -> Advice:
    why, plan = value["why"].strip(), value["plan"].strip()
    text = _sections(("Why the last attempt failed", why), ("Plan", plan))
    return Advice(Topic.REFLECTION, 0, cause=why, text=text)


def _clarification(value: Value) -> Advice:
    answers = [pair for item in value["answers"] for pair in (("Q", item["question"]), ("A", item["answer"]))]
    text = _sections(("Summary", value["summary"]), *answers)
    person = next((item["question"] for item in value["answers"] if item.get("who") == Asked.PERSON), "")
    parts = strings(value, "divide")
    strategy = DIVIDE if parts else Asked.PERSON.value if person else ""
    paths = _paths(value, "files")
    return Advice(Topic.CLARIFICATION, 0, cause=person.strip(), strategy=strategy, text=text, paths=paths, divide=parts)


def _boundary(value: Value) -> Advice:
    resolution, recheck = value["resolution"], strings(value, "recheck")
    wider = _paths(value, "paths") if resolution == _EXPAND else ()
    text = _sections(
        ("Resolution", resolution),
        ("Paths that may be changed as well", ", ".join(wider)),
        ("Guidance", value["guidance"]),
        ("Issues to verify again", ", ".join(recheck)),
    )
    return Advice(Topic.BOUNDARY, 0, strategy=resolution, text=text, paths=wider, recheck=recheck)


def _merge_conflict(value: Value) -> Advice:
    files = _paths(value, "files")
    text = _sections(("Guidance", value["guidance"]), ("Files", ", ".join(files)))
    return Advice(Topic.MERGE_CONFLICT, 0, text=text, paths=files)


def _architect(value: Value) -> Advice:
    assessment = value["assessment"].strip()
    steps = _listed(strings(value, "steps"))
    text = _sections(("Assessment", assessment), ("Approach", value["approach"]), ("Steps", steps))
    return Advice(Topic.ARCHITECT, 0, cause=assessment, text=text)


def _breakdown(value: Value) -> Advice:
    """Read the titles of the proposed parts; `recovery/breakdown.py` makes issues of the value (N9)."""
    titles = tuple(" ".join(child["title"].split()) for child in value["children"])
    return Advice(Topic.BREAKDOWN, 0, text=_sections(("Proposed parts", _listed(titles))))


def _review(value: Value) -> Advice:
    """Read a reviewer's decision on work whose gates pass (N2); `cause` is the summary, `text` holds the points."""
    decision, summary = value["verdict"], value["summary"]
    points = tuple(_point(point) for point in value.get("points", ()))
    text = _sections(("Verdict", decision), ("Summary", summary), ("Points", _listed(points)))
    settled = tuple(value.get("settled", ()))
    parts = strings(value, "divide") if decision == DIVIDE else ()
    found = Advice(Topic.REVIEW, 0, strategy=decision, cause=summary, text=text, points=points, settled=settled)
    return replace(found, divide=parts)


def _changed_tests(value: Value) -> Advice:
    reason, sentence = value["reason"].strip(), value["sentence"].strip()
    strategy = ASKED_FOR if value["asked_for"] else "not_asked_for"
    return Advice(Topic.CHANGED_TESTS, 0, strategy=strategy, cause=reason, text=sentence)


def _missing(value: Value) -> Advice:
    kinds = value["missing"]
    points = tuple(each["sentence"].strip() for each in kinds)
    text = _listed(tuple(f'"{each["sentence"].strip()}": {each["what"].strip()}' for each in kinds)).strip()
    strategy = MISSING if kinds else NOTHING_MISSING
    return Advice(Topic.MISSING, 0, strategy=strategy, cause=value["reason"].strip(), text=text, points=points)


def _point(point: Value) -> str:
    place = point.get("file", "").strip()
    if place and point.get("line"):
        place = f"{place}:{point['line']}"
    fix = point.get("fix", "").strip()
    return f"{f'{place}: ' if place else ''}{point['problem'].strip()}{f' Fix: {fix}' if fix else ''}"


def _paths(value: Value, key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(canonical(path) for path in value.get(key, ())))


def _sections(*parts: tuple[str, str]) -> str:
    texts = ((title, "\n" if body.startswith("\n") else " ", body.strip()) for title, body in parts)
    return "\n".join(f"{title}:{gap}{body}" for title, gap, body in texts if body)


def _listed(items: tuple[str, ...]) -> str:
    return "".join(f"\n- {item}" for item in items)


ANSWERS: Mapping[Topic, AnswerForm] = {
    Topic.DIAGNOSIS: AnswerForm("diagnosis", _diagnosis),
    Topic.REFLECTION: AnswerForm("reflection", _reflection),
    Topic.CLARIFICATION: AnswerForm("clarification", _clarification),
    Topic.BOUNDARY: AnswerForm("boundary", _boundary),
    Topic.MERGE_CONFLICT: AnswerForm("merge_conflict", _merge_conflict),
    Topic.ARCHITECT: AnswerForm("architect", _architect),
    Topic.BREAKDOWN: AnswerForm("breakdown", _breakdown),
    Topic.REVIEW: AnswerForm("review", _review),
    Topic.CHANGED_TESTS: AnswerForm("changed_tests", _changed_tests),
    Topic.MISSING: AnswerForm("missing", _missing),
}


_KEPT = ("type", "enum", "description")


def provider_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a provider is told of a schema of noface's."""
    if "properties" in schema:
        required = schema.get("required", ())
        parts = {name: provider_schema(part) for name, part in schema["properties"].items()}
        filled = {name: part if name in required else _or_null(part) for name, part in parts.items()}
        return {"type": "object", "properties": filled, "required": list(filled), "additionalProperties": False}
    kept = {name: schema[name] for name in _KEPT if name in schema}
    if "items" in schema:
        return {**kept, "items": provider_schema(schema["items"])}
    if isinstance(schema.get("type"), list):  # an object without properties would be a map with free keys
        kept["type"] = [kind for kind in schema["type"] if kind != "object"]
    return kept


def _or_null(part: Mapping[str, Any]) -> dict[str, Any]:
    kinds = part["type"] if isinstance(part["type"], list) else [part["type"]]
    nullable = {**part, "type": list(dict.fromkeys((*kinds, "null")))}
    if "enum" in part and None not in part["enum"]:
        nullable["enum"] = [*part["enum"], None]
    return nullable


def without_nulls(text: str, schema: Mapping[str, Any]) -> str:
    """Return an answer without the keys that may be left out and are null; a text that is no JSON stays as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return json.dumps(_left(value, schema), ensure_ascii=False) if isinstance(value, dict) else text


def _left(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_left(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    parts, required = schema.get("properties", {}), schema.get("required", ())
    there = {name: item for name, item in value.items() if item is not None or name in required or name not in parts}
    return {name: _left(item, parts.get(name, {})) for name, item in there.items()}
