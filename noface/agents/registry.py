"""The agents noface can drive, by the name that `[models.NAME] agent` gives them. The registry is data/agents.toml.

Adding one: its adapter, a module of its name beside this one; its table in agents.toml; recordings in tests. An adapter
is imported when it is first used.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module

from noface.agents.base import Agent
from noface.data import table


class _Agents(Mapping[str, Agent]):
    def __getitem__(self, name: str) -> Agent:
        if name not in table("agents"):
            raise KeyError(name)
        adapter: Agent = import_module(f"noface.agents.{name}").AGENT
        return adapter

    def __iter__(self) -> Iterator[str]:
        return iter(table("agents"))

    def __len__(self) -> int:
        return len(table("agents"))


AGENTS: Mapping[str, Agent] = _Agents()
