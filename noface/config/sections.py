"""The whole of noface.toml as one frozen value.

The first line of each docstring and every description end up in noface.toml.example and in the JSON Schema.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from noface.config.model_sections import (
    Approval,
    BudgetRules,
    FailureHint,
    Model,
    Prompts,
    Recovery,
    Retry,
    Review,
    Roles,
)
from noface.config.place_sections import Executor, Github, Landing, Notify, Tracker
from noface.config.project_sections import Gate, GateRule, Keep, Limits, Project, Protect, Run, Sandbox
from noface.config.values import Items, Section
from noface.data.trackers import TrackerSettings, tracker_settings
from noface.errors import ConfigError

GATE_EXAMPLE = '[[gates]]\nname = "unit"\ncommand = "python -m pytest -q"\nkind = "test"'


class Config(Section):
    """The configuration of noface, read from noface.toml at the top of a repository."""

    project: Project = Field(default_factory=Project)
    run: Run = Field(default_factory=Run)
    gates: Items[Gate] = ()
    gate_rules: Items[GateRule] = ()
    models: Mapping[str, Model]
    retry: Retry
    budget: BudgetRules = Field(default_factory=BudgetRules)
    notify: Notify = Field(default_factory=Notify)
    roles: Roles = Field(default_factory=Roles)
    recovery: Recovery = Field(default_factory=Recovery)
    review: Review = Field(default_factory=Review)
    approval: Approval = Field(default_factory=Approval)
    failure_hints: Items[FailureHint] = ()
    prompts: Prompts = Field(default_factory=Prompts)
    tracker: Tracker = Field(default_factory=Tracker)
    github: Github = Field(default_factory=Github)
    sandbox: Sandbox = Field(default_factory=Sandbox)
    protect: Protect = Field(default_factory=Protect)
    landing: Landing = Field(default_factory=Landing)
    executor: Executor = Field(default_factory=Executor)
    limits: Limits = Field(default_factory=Limits)
    keep: Keep = Field(default_factory=Keep)

    @property
    def models_in_use(self) -> tuple[str, ...]:
        """The models that the ladder and the roles name, in this order, without repeats."""
        named = (*self.retry.models, *self.roles.models.values())
        return tuple(dict.fromkeys(name for name in named if name is not None))

    @property
    def tracker_settings(self) -> TrackerSettings:
        """Where the issues come from, with the defaults of the tracker filled in."""
        gates = [{"command": gate.command} for gate in self.gates]
        tables = {"tracker": self.tracker.model_dump(), "github": self.github.model_dump(), "gates": gates}
        return tracker_settings(tables) or TrackerSettings(self.tracker.kind, "")

    def effective(self) -> dict[str, Any]:
        content = self.model_dump(mode="json")
        # Written out, an empty ladder is an error; what is printed here can be read again.
        content["retry"]["ladder"] = content["retry"]["ladder"] or None
        return content

    @property
    def digest(self) -> str:
        """The SHA-256 of the effective content, in hexadecimal: comments, order and spelling don't matter."""
        text = json.dumps(self.effective(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def require_gates(self) -> None:
        """Raise ConfigError unless at least one hard gate is there: without one nothing could be proved."""
        if not any(gate.hard for gate in self.gates):
            soft = f" ({', '.join(gate.name for gate in self.gates)})" if self.gates else ""
            raise ConfigError(
                f"no gate is hard{soft}: nothing could be proved, so nothing would land",
                f"add the command that tells whether your project works to noface.toml, for example:\n\n{GATE_EXAMPLE}",
            )
