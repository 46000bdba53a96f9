"""How each program is made to talk to the model on loopback: its model, and what a person would set for it."""

import json
from typing import Any

KEY = "sk-test-0000"
MODELS = {
    "claude": "claude-sonnet-4-5",
    "codex": "gpt-6.1-sol",
    "codex-5": "gpt-5.1-codex",
    "gemini": "gemini-2.5-pro",
    "opencode": "test/gpt-4o",
    "aider": "openai/gpt-4o",
    "mini": "openai/gpt-4o",
}

GEMINI_SETTINGS: dict[str, Any] = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
"""Without them Gemini CLI takes another address of the API for a gateway of Google's."""


def agent_of(cli: str) -> str:
    """Return the agent of a column of the table: "codex-5" is codex with an older model."""
    return cli.partition("-")[0]


def endpoint(cli: str, url: str) -> tuple[dict[str, str], list[str]]:
    """Return the environment and the arguments that make a program talk to the model at `url`."""
    match agent_of(cli):
        case "claude":
            return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}, []
        case "codex":
            provider = f'{{name="test",base_url="{url}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}}'
            return {"OPENAI_API_KEY": KEY}, ["-c", "model_provider=test", "-c", f"model_providers.test={provider}"]
        case "gemini":
            return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": KEY}, []
        case "opencode":
            return {"OPENCODE_CONFIG_CONTENT": json.dumps(opencode_settings(url))}, []
        case _:
            openai = {"OPENAI_API_BASE": f"{url}/v1", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": KEY}
            return openai | {"ANTHROPIC_API_BASE": url, "ANTHROPIC_API_KEY": KEY}, []


def opencode_settings(url: str) -> dict[str, Any]:
    """Return a configuration of OpenCode that knows one provider; what its models cost stands there too."""
    one = {"name": "test", "cost": {"input": 2.5, "output": 10}, "limit": {"context": 1_000_000, "output": 16_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {"gpt-4o": one, "o3": {**one, "reasoning": True}},
    }
    anthropic = {"options": {"baseURL": f"{url}/v1", "apiKey": KEY}}
    return {"$schema": "https://opencode.ai/config.json", "provider": {"test": provider, "anthropic": anthropic}}
