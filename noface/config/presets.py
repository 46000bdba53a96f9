"""What noface.toml may name without describing it: the agents noface can run, and models ready to use."""

from collections.abc import Mapping
from typing import Literal, get_args

AgentName = Literal["claude", "codex", "gemini", "opencode", "aider", "mini", "command", "scripted"]
"""The program that runs a model: a coding agent, any command of the user's, or a script (tests and the demo)."""

AGENT_NAMES: tuple[AgentName, ...] = get_args(AgentName)

PRESETS: Mapping[str, Mapping[str, object]] = {
    name: {"agent": "claude", "model": model, "tier": tier, "timeout": "60m", "idle_timeout": "10m"}
    for name, model, tier in (
        ("claude-haiku", "claude-haiku-4-5", 1),
        ("claude-sonnet", "claude-sonnet-4-5", 2),
        ("claude-opus", "claude-opus-4-5", 3),
    )
}
"""Models usable without a [models] entry; keys are those of [models.NAME], tier 1 is the cheapest."""

DEFAULT_MODEL = "claude-sonnet"
"""The model of the first attempts where noface.toml names none."""


def with_presets(models: Mapping[str, object]) -> dict[str, object]:
    """Return the presets and `models` as one table; what a partial entry leaves out comes from its preset.

    `models` is untrusted: an entry that is no table is passed on as it is, for validation to name.
    """
    merged: dict[str, object] = {name: dict(preset) for name, preset in PRESETS.items()}
    for name, entry in models.items():
        merged[name] = {**PRESETS.get(name, {}), **entry} if isinstance(entry, Mapping) else entry
    return merged
