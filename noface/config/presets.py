"""What noface.toml may name without describing it: the agents noface can run, and models ready to use (agents.toml)."""

from collections.abc import Mapping
from functools import cache

from noface.data import table

AGENT_NAMES = tuple(table("agents"))

_LIMITS: Mapping[str, object] = {"timeout": "60m", "idle_timeout": "10m"}

DEFAULT_MODEL = "claude-sonnet"
"""The model of the first attempts where noface.toml names none."""


@cache
def presets() -> Mapping[str, Mapping[str, object]]:
    return {
        preset["name"]: {"agent": agent, "model": preset["model"], "tier": preset["tier"], **_LIMITS}
        for agent, entry in table("agents").items()
        for preset in entry.get("presets", ())
    }


def models_of(agent: str) -> tuple[str, ...]:
    tiers = sorted(table("agents")[agent].get("presets", ()), key=lambda preset: preset["tier"])
    return tuple(dict.fromkeys(preset["name"] for preset in tiers[-2:]))


def with_presets(models: Mapping[str, object]) -> dict[str, object]:
    merged: dict[str, object] = {name: dict(preset) for name, preset in presets().items()}
    for name, entry in models.items():
        merged[name] = {**presets().get(name, {}), **entry} if isinstance(entry, Mapping) else entry
    return merged
