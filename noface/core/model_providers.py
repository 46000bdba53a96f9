"""Whose keys a model needs: agents that can reach many providers get the keys of the one their model is at."""

import re
from collections.abc import Mapping

_KEYS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_", "CLAUDE_"),
    "openai": ("OPENAI_", "CODEX_"),
    "azure": ("AZURE_", "ANTHROPIC_FOUNDRY_"),
    "bedrock": ("AWS_",),
    "google": ("GEMINI_", "GOOGLE_", "VERTEX", "CLOUDSDK_"),
    "github": ("GITHUB_", "GH_", "COPILOT_"),
    "cerebras": ("CEREBRAS_",),
    "cohere": ("COHERE_", "CO_API_KEY"),
    "databricks": ("DATABRICKS_",),
    "deepseek": ("DEEPSEEK_",),
    "fireworks": ("FIREWORKS",),
    "groq": ("GROQ_",),
    "huggingface": ("HF_", "HUGGINGFACE"),
    "lmstudio": ("LM_STUDIO_", "LMSTUDIO_"),
    "mistral": ("MISTRAL_", "CODESTRAL_"),
    "moonshot": ("MOONSHOT",),
    "nvidia": ("NVIDIA_",),
    "ollama": ("OLLAMA_",),
    "opencode": ("OPENCODE_",),
    "openrouter": ("OPENROUTER_",),
    "perplexity": ("PERPLEXITY",),
    "together": ("TOGETHER",),
    "xai": ("XAI_",),
    "zai": ("ZAI_", "ZHIPU"),
}
"""What the names of a provider's variables begin with."""

_BEFORE_THE_SLASH = tuple(
    (re.compile(pattern), provider)
    for pattern, provider in (
        (r"amazon-bedrock|bedrock.*", "bedrock"),
        (r"google.*|vertex.*|gemini", "google"),
        (r"github.*|copilot", "github"),
        (r"azure.*", "azure"),
        (r"fireworks.*", "fireworks"),
        (r"together.*", "together"),
        (r"moonshot.*", "moonshot"),
        (r"lm_?studio", "lmstudio"),
        (r"ollama.*", "ollama"),
        (r"zai.*|zhipu.*", "zai"),
        (r"mistral|codestral", "mistral"),
    )
)
_BARE = tuple(
    (re.compile(pattern), provider)
    for pattern, provider in (
        (r"claude-|(?:sonnet|opus|haiku)\b", "anthropic"),
        (r"gpt-|chatgpt-|codex-|o[1-9](?:-|$)", "openai"),
        (r"gemini-", "google"),
        (r"grok-", "xai"),
        (r"deepseek-", "deepseek"),
        (r"(?:mistral|codestral|devstral)-", "mistral"),
    )
)
_CLAUDE_ELSEWHERE = {
    "CLAUDE_CODE_USE_BEDROCK": "bedrock",
    "CLAUDE_CODE_USE_VERTEX": "google",
    "CLAUDE_CODE_USE_FOUNDRY": "azure",
}


def providers_of(agent: str, model: str, given: Mapping[str, str]) -> frozenset[str] | None:
    """Return the providers that an agent reaches with a model; None where that cannot be told: it may be any.

    `given` is its environment: Claude Code is told by a variable to reach its models through a cloud.
    """
    if agent == "claude":
        elsewhere = {provider for name, provider in _CLAUDE_ELSEWHERE.items() if given.get(name, "0") not in ("", "0")}
        return frozenset({"anthropic", *elsewhere})
    name = model.lower()
    head, slash, _ = name.partition("/")
    found: str | None
    if slash:
        aliases = (provider for pattern, provider in _BEFORE_THE_SLASH if pattern.fullmatch(head))
        found = head if head in _KEYS else next(aliases, None)
    else:
        found = next((p for pattern, p in _BARE if pattern.match(name)), None)
    return frozenset({found}) if found is not None else None


def is_anothers(variable: str, providers: frozenset[str] | None) -> bool:
    """Tell whether a variable belongs to a provider that is none of these.

    GitHub's are pushed with, too: they are another's unless the model is known to be there.
    """
    if providers is None:
        return variable.startswith(_KEYS["github"])
    owners = {provider for provider, starts in _KEYS.items() if variable.startswith(starts)}
    return bool(owners) and not owners & providers
