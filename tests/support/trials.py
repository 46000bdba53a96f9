"""A change on trial whose gates do not run: a test says what they would show."""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from noface.attempt.environment import GateFacts
from noface.attempt.gate_session import GateTask
from noface.attempt.gating import Gated
from noface.attempt.parts import Parts
from noface.attempt.trial import Trial
from noface.git.plumbing import Plumbing
from noface.model.gate import GateSpec
from noface.model.issue import Issue


@dataclass(slots=True)
class DryTrial(Trial):
    """A trial whose gates are the function `dry`."""

    dry: Callable[..., Gated] | None = None

    def run_on(self, tree: str, gates: tuple[GateSpec, ...], **options: Any) -> Gated:
        assert self.dry is not None
        return self.dry(tree, gates, **options)


def dry_trial(plumbing: Plumbing, task: GateTask, issue: Issue, dry: Callable[..., Gated] | None, **others: Any):
    """Return the trial of a task; `others` are `gates`, `landed` and `facts` of its environment."""
    facts = others.pop("facts", None) or GateFacts()
    env = SimpleNamespace(plumbing=plumbing, gate_facts=facts, memo={}, key=lambda *_: "")
    trial = DryTrial(SimpleNamespace(env=env), task=task, issue=issue, dry=dry, **others)
    trial.parts = Parts.known(env, task.main, trial.gates)
    return trial
