"""Asks a model one question outside of a run, in an empty folder: `noface doctor --probe`, `noface init --ask`."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from noface.agents.base import WORKER, place_in
from noface.attempt.attempt import Attempt
from noface.attempt.environment import AttemptEnvironment, Scope, order_document
from noface.attempt.worker.agent_run import run_agent
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.worker_run import AgentRun, EndedBy, ModelSpec
from noface.process.command import Canceller
from noface.process.files import write_atomic


def answer_of(
    spec: ModelSpec, prompt: str, role: str, env: AttemptEnvironment, cancel: Canceller, seconds_max: float
) -> AgentRun:
    """Return how the model's run ended, and what it answered. Raises KeyboardInterrupt if a cancel ended it."""
    seconds = min(spec.timeout_s, seconds_max), min(spec.idle_timeout_s, seconds_max)
    spec = replace(spec, timeout_s=seconds[0], idle_timeout_s=seconds[1])
    with tempfile.TemporaryDirectory(prefix=f"noface-{role}-", ignore_cleanup_errors=True) as folder:
        work, kept = Path(folder, "empty"), Path(folder, "kept")
        work.mkdir()
        kept.mkdir()
        place = place_in(work, kept)
        write_atomic(kept / "prompt.md", prompt, durable=False)
        order = AttemptOrder(
            "question",
            "question",
            Issue("question", "Answer what you are asked"),
            1,
            spec,
            prompt,
            "",
            "",
            0,
            str(kept),
            (),
            role=role,
            topic="" if role == WORKER else role,
        )
        write_atomic(kept / "order.json", json.dumps(order_document(order)), durable=False)
        run = run_agent(Attempt(order, Scope(env, cancel, lambda _: None)), place)
    if run.ended_by is EndedBy.CANCELLED:
        raise KeyboardInterrupt
    return run
