"""The agents noface knows. Adding one: a module beside this one, a line here, a folder of recordings in tests."""

from noface.agents.base import Agent
from noface.agents.claude import ClaudeAgent
from noface.agents.command import CommandAgent
from noface.agents.scripted import ScriptedAgent

AGENTS: dict[str, Agent] = {
    "claude": ClaudeAgent(),
    "command": CommandAgent(),
    "scripted": ScriptedAgent(),
}
