"""The noface.toml of each variant: noface as it is, and the two loops it is compared with, as noface can play them."""

import json
from collections.abc import Mapping
from enum import StrEnum

from noface.selftest.catalogue.provider import OWN
from noface.selftest.scenario import TIERS, Scenario
from noface.selftest.world import ANYONE

CAP = 5
"""The attempts that an issue may have, in all variants: noface's own default."""
_OWN_TIERS = {"RATE_LIMITED": TIERS["rate"], "OVERLOADED": TIERS["busy"], "NETWORK": TIERS["net"]}
_FED_BACK = (
    "AGENT_CONFUSION",
    "AGENT_REFUSED",
    "TIMEOUT",
    "RESOURCE_EXHAUSTED",
    "BOUNDARY_VIOLATION",
    "GATE_TAMPERING",
    "UNKNOWN",
)
"""The kinds that noface answers otherwise than by feedback."""


class Variant(StrEnum):
    """How the same scenarios are worked on."""

    NOFACE = "noface"
    FEEDBACK = "feedback"
    """One model; each attempt is told how the last one ended and what was printed, and nothing else."""
    PLAIN = "plain"
    """One model and the same prompt again."""


def toml(
    variant: Variant,
    scenarios: tuple[Scenario, ...],
    secrets: Mapping[str, Mapping[str, str]],
    slots: str,
    workers: int,
) -> str:
    """Return the text of noface.toml for a project with these scenarios."""
    compared = variant is not Variant.NOFACE
    models = {name: _model(name, tier, compared=compared) for name, tier in TIERS.items()}
    models |= {
        own_model(one): _model(one.id, _OWN_TIERS[one.kind], compared=compared) for one in scenarios if one.model == OWN
    }
    strength = f"\nenv = {{ SELFTEST_STRENGTH = {_quoted(secrets[ANYONE]['strength'])} }}"
    models["big"] += strength
    models["slow"] = models["slow"].replace('timeout = "30s"', 'timeout = "2s"')
    parts = [_COMMON.format(slots=_quoted(slots), workers=workers)]
    parts += [f"[models.{name}]\n{text}\n" for name, text in models.items()]
    parts.append(_COMPARED if compared else _NOFACE)
    parts += [] if compared else [f"[review]\nlabels = {json.dumps([one.id for one in scenarios if one.reviewed])}\n"]
    if not compared:
        parts += [_hint(one, secrets[one.id]) for one in scenarios if one.hint is not None]
    return "\n".join(parts)


def own_model(scenario: Scenario) -> str:
    """Return the name of a scenario's model, "" for the usual one."""
    return scenario.id if scenario.model == OWN else scenario.model


def _model(name: str, tier: int, *, compared: bool) -> str:
    # A plain loop starts the program and looks at its exit code.
    how = 'agent = "command"\ncommand = "claude -p --output-format text"' if compared else 'agent = "claude"'
    return f'{how}\nmodel = "{name}"\ntier = {tier}\ntimeout = "30s"\nidle_timeout = "1.5s"'


def _hint(scenario: Scenario, secrets: Mapping[str, str]) -> str:
    hint = scenario.hint
    assert hint is not None  # noqa: S101 - the caller looked
    text = hint.text
    for label, secret in secrets.items():
        text = text.replace(f"{{{label}}}", secret)
    keys = {
        "label": scenario.id,
        "language": hint.language,
        "path": hint.path,
        "error_pattern": hint.error_pattern,
        "error_regex": hint.error_regex,
        "hint": text,
    }
    return "[[failure_hints]]\n" + "".join(f"{key} = {_quoted(value)}\n" for key, value in keys.items() if value)


def _quoted(text: str) -> str:
    """Return a TOML basic string: JSON's escapes are valid in it."""
    return json.dumps(text)


_COMMON = """\
[project]
name = "labels"
main = "main"

[run]
workers = {workers}
slots_dir = {slots}

[sandbox]
kind = "none" # its workers and gates are noface's own, and keep a common account

[limits]
max_changed_lines = 2000

[[gates]]
name = "suite"
command = "suite"
"""
_NOFACE = f"""\
[retry]
default_model = "small"
escalation_model = "big"
escalate_after_attempts = 2
max_total_attempts = {CAP}
backoff_base = "0.4s"
breaker_wait = "1s"

[roles]
planner = "expert"
diagnoser = "expert"
resolver = "expert"
architect = "expert"
reviewer = "expert"
"""
_COMPARED = f"""\
[retry]
default_model = "small"
escalate_after_attempts = {CAP}
max_total_attempts = {CAP}
think = false
backoff_base = "0.4s"

[retry.strategies]
{chr(10).join(f'{kind} = "feedback"' for kind in _FED_BACK)}

[breakdown]
enabled = false

[recovery]
model_accept = "any"
learn = false

[prompts]
dir = "prompts"
"""

_TASK = """\
# Your task: {{ issue.title | line }}

{{ issue.body | fenced }}

Your work is judged by these commands:

{% for gate in gates %}
- {{ gate.command | code }}
{% endfor %}
"""
_LAST = """\

{% if failure %}
Your last attempt failed with: {{ failure.kind | line }}: {{ failure.message | sentence }}

{{ failure.excerpt | fenced }}
{% endif %}
"""
_SITUATIONS = (
    "first",
    "retry",
    "escalate",
    "think",
    "reduce",
    "context",
    "merge_conflict",
    "review",
    "format_reminder",
)


def prompts(variant: Variant) -> dict[str, str]:
    """Return the prompt templates of a variant by path; none for noface, which has its own."""
    if variant is Variant.NOFACE:
        return {}
    text = _TASK + (_LAST if variant is Variant.FEEDBACK else "")
    return {f"prompts/{name}.md.j2": text for name in _SITUATIONS}
