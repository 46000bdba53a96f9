"""The agents noface knows, by the name that `[models.NAME] agent` gives them.

Adding one: two modules beside this one (how it is started, what it prints), a line here, recordings in tests.
Its errors' meaning is data: core/classify/agents/clis.py for its own codes, provider.py for those of the APIs.
"""

from noface.agents.aider import AiderAgent
from noface.agents.base import Agent
from noface.agents.claude import ClaudeAgent
from noface.agents.codex import CodexAgent
from noface.agents.command import CommandAgent
from noface.agents.gemini import GeminiAgent
from noface.agents.mini import MiniAgent
from noface.agents.opencode import OpencodeAgent
from noface.agents.scripted import ScriptedAgent

AGENTS: dict[str, Agent] = {
    "claude": ClaudeAgent(),
    "codex": CodexAgent(),
    "gemini": GeminiAgent(),
    "opencode": OpencodeAgent(),
    "aider": AiderAgent(),
    "mini": MiniAgent(),
    "command": CommandAgent(),
    "scripted": ScriptedAgent(),
}
