"""Where each agent's key or login would be: names of variables and of files, never what is in them.

`noface doctor` looks there. What it does not see may still be there (a keyring, a provider of one's own): then the
sight is not `certain`, and only a probe tells.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

INSTALL: Mapping[str, str] = {
    "claude": "npm install -g @anthropic-ai/claude-code",
    "codex": "npm install -g @openai/codex",
    "gemini": "npm install -g @google/gemini-cli",
    "opencode": "npm install -g opencode-ai",
    "aider": "pipx install aider-chat",
    "mini": "pipx install mini-swe-agent && pipx inject mini-swe-agent mcp",
}
"""How an agent's program is installed, by agent."""

_KEYS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
    "google": ("GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "moonshotai": ("MOONSHOT_API_KEY",),
}
_FAMILIES = (("claude", "anthropic"), ("gpt", "openai"), ("gemini", "gemini"), ("deepseek", "deepseek"))
_WITHOUT_KEY = frozenset({"ollama", "ollama_chat", "lmstudio", "lm_studio"})


@dataclass(frozen=True, slots=True)
class Login:
    """What was seen of an agent's login. `certain` False: it may be where nobody can look.

    `needed` False: there is none to have. `fix` is what to do where nothing was seen.
    """

    seen: tuple[str, ...] = ()
    certain: bool = True
    needed: bool = True
    fix: str = ""


def login_of(agent: str, model: str, env: Mapping[str, str], home: Path, *, keychain: bool = False) -> Login:
    """Return what is seen of the login that a model needs. `env` is the environment its agent would get.

    `keychain`: the system keeps logins in a place of its own, as macOS does.
    """
    match agent:
        case "claude":
            return _claude(env, home, keychain=keychain)
        case "codex":
            return _codex(env, home)
        case "gemini":
            return _gemini(env, home)
        case "opencode":
            data = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")
            return _by_provider(model, env, home, (data / "opencode" / "auth.json",), "opencode auth login")
        case "aider":
            return _by_provider(model, env, home, (home / ".env", home / ".aider.conf.yml"), "")
        case "mini":
            folder = Path(env.get("MSWEA_GLOBAL_CONFIG_DIR") or home / ".config" / "mini-swe-agent")
            return _by_provider(model, env, home, (folder / ".env",), "mini-extra config setup")
        case _:
            return Login(needed=False)


def _claude(env: Mapping[str, str], home: Path, *, keychain: bool) -> Login:
    names = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
    elsewhere = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
    folder = Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    seen = _seen(env, (*names, *elsewhere), home, (folder / ".credentials.json",))
    return Login(seen, not keychain, fix="run `claude` and log in with /login, or set ANTHROPIC_API_KEY")


def _codex(env: Mapping[str, str], home: Path) -> Login:
    folder = Path(env.get("CODEX_HOME") or home / ".codex")
    seen = _seen(env, ("CODEX_API_KEY",), home, (folder / "auth.json",))
    fix = "run `codex login`, or set CODEX_API_KEY"
    if env.get("OPENAI_API_KEY"):
        fix += " (codex does not look at OPENAI_API_KEY)"
    # Its configuration may name another provider, with a key of its own, or keep the login in the system's keyring.
    return Login(seen, not (folder / "config.toml").is_file(), fix=fix)


def _gemini(env: Mapping[str, str], home: Path) -> Login:
    names = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_USE_VERTEXAI")
    folder = home / ".gemini"
    seen = _seen(env, names, home, (folder / "oauth_creds.json", folder / ".env"))
    return Login(seen, fix="run `gemini` once and log in, or set GEMINI_API_KEY")


def _by_provider(model: str, env: Mapping[str, str], home: Path, files: tuple[Path, ...], command: str) -> Login:
    """Look for the key of the provider that a model's name begins with, or that its family belongs to."""
    provider, slash, _ = model.partition("/")
    if not slash:
        provider = next((owner for family, owner in _FAMILIES if model.startswith(family)), "")
    if provider in _WITHOUT_KEY:
        return Login(needed=False)
    names = _KEYS.get(provider, ())
    ways = ([f"run `{command}`"] if command else []) + ([f"set {names[0]}"] if names else [])
    fix = ", or ".join(ways) or f"set the key of the provider of {model or 'its model'}"
    return Login(_seen(env, names, home, files), certain=bool(names), fix=fix)


def _seen(env: Mapping[str, str], names: tuple[str, ...], home: Path, files: tuple[Path, ...]) -> tuple[str, ...]:
    found = [name for name in names if env.get(name)]
    return (*found, *(_short(file, home) for file in files if file.is_file()))


def _short(file: Path, home: Path) -> str:
    return f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)
