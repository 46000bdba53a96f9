"""What noface.toml may name without describing it: the agents noface can run, and models ready to use.

A preset needs nothing but its agent's program and a login to the provider; `noface doctor` says which are ready.
"""

from collections.abc import Mapping
from typing import Literal, get_args

AgentName = Literal["claude", "codex", "gemini", "opencode", "aider", "mini", "command", "scripted"]
"""The program that runs a model: a coding agent, any command of the user's, or a script (tests and the demo)."""

AGENT_NAMES: tuple[AgentName, ...] = get_args(AgentName)

_LIMITS: Mapping[str, object] = {"timeout": "60m", "idle_timeout": "10m"}

PRESETS: Mapping[str, Mapping[str, object]] = {
    name: {"agent": agent, "model": model, "tier": tier, **_LIMITS}
    for name, agent, model, tier in (
        # Anthropic's names without a date; Claude Code 2.1.197 knows them.
        ("claude-haiku", "claude", "claude-haiku-4-5", 1),
        ("claude-sonnet", "claude", "claude-sonnet-4-5", 2),
        ("claude-opus", "claude", "claude-opus-4-5", 3),
        # The catalogue inside Codex CLI 0.169.0: its cheapest, its everyday and its strongest model.
        ("gpt-codex-mini", "codex", "gpt-6-luna", 1),
        ("gpt-codex", "codex", "gpt-6.1-sol", 2),
        ("gpt-codex-max", "codex", "gpt-6-astra", 3),
        # What Gemini CLI 0.61.0 runs where nobody asks for a preview.
        ("gemini-flash", "gemini", "gemini-3.5-flash", 1),
        ("gemini-pro", "gemini", "gemini-2.5-pro", 2),
        # provider/model: models.dev's spelling for OpenCode, LiteLLM's for aider and mini-swe-agent.
        ("opencode-sonnet", "opencode", "anthropic/claude-sonnet-4-5", 2),
        ("opencode-opus", "opencode", "anthropic/claude-opus-4-5", 3),
        ("aider-sonnet", "aider", "anthropic/claude-sonnet-4-5", 2),
        ("aider-opus", "aider", "anthropic/claude-opus-4-5", 3),
        ("mini-sonnet", "mini", "anthropic/claude-sonnet-4-5", 2),
        ("mini-opus", "mini", "anthropic/claude-opus-4-5", 3),
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
