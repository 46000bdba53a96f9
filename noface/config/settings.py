"""The whole of noface.toml as one frozen value. `load.parse` is what makes one: it also checks across sections."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from noface.config.recovery import Approval, Breakdown, Prompts, Recovery, Review
from noface.config.retry import Retry, Roles
from noface.config.sections import Gate, GateRule, Landing, Limits, Project, Protect, Run, Sandbox, Section, Tracker
from noface.config.values import Items
from noface.config.workers import FailureHint, Model
from noface.errors import ConfigError

GATE_EXAMPLE = '[[gates]]\nname = "unit"\ncommand = "python -m pytest -q"\nkind = "test"'


class Config(Section):
    """The configuration of noface, read from noface.toml at the top of a repository."""

    project: Project = Field(default_factory=Project)
    run: Run = Field(default_factory=Run)
    gates: Items[Gate] = ()
    gate_rules: Items[GateRule] = ()
    models: Mapping[str, Model] = Field(description="the presets and the entries of [models], by name")
    retry: Retry
    roles: Roles = Field(default_factory=Roles)
    recovery: Recovery = Field(default_factory=Recovery)
    breakdown: Breakdown = Field(default_factory=Breakdown)
    review: Review = Field(default_factory=Review)
    approval: Approval = Field(default_factory=Approval)
    failure_hints: Items[FailureHint] = ()
    prompts: Prompts = Field(default_factory=Prompts)
    tracker: Tracker = Field(default_factory=Tracker)
    sandbox: Sandbox = Field(default_factory=Sandbox)
    protect: Protect = Field(default_factory=Protect)
    landing: Landing = Field(default_factory=Landing)
    limits: Limits = Field(default_factory=Limits)

    @property
    def models_in_use(self) -> tuple[str, ...]:
        """The models that the ladder and the roles name, in this order, without repeats."""
        named = (*self.retry.models, *self.roles.model_dump().values())
        return tuple(dict.fromkeys(name for name in named if name is not None))

    def effective(self) -> dict[str, Any]:
        """Return everything as plain JSON values: defaults and presets filled in, durations in seconds."""
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
        if not self.gates:
            raise ConfigError(
                "there are no gates, so no work could be proved and nothing would ever land",
                f"add the command that tells whether your project works to noface.toml, for example:\n\n{GATE_EXAMPLE}",
            )
        if not any(gate.hard for gate in self.gates):
            names = ", ".join(gate.name for gate in self.gates)
            raise ConfigError(
                f"no gate is hard ({names}), so nothing would keep broken work off main",
                f"remove `hard = false` from one of them, or add a hard one, for example:\n\n{GATE_EXAMPLE}",
            )
