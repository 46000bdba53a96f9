"""Sends a cheap prompt through models, as an attempt would run them, to see whether they answer."""

import json
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from noface.agents.base import place_in
from noface.cli.doctor_models import LOGIN, login_seen
from noface.cli.wiring import attempt_environment, bubblewrap_for
from noface.config.sections import Config
from noface.engine.agent_run import run_agent
from noface.engine.attempt_environment import AttemptEnvironment, Scope, order_document
from noface.git.repository import Repository
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.taxonomy import Category, FailureKind
from noface.model.worker_run import EndedBy, ModelSpec
from noface.process.files import write_atomic
from noface.process.supervise import Canceller, Launcher
from noface.ui.doctor import Finding, ModelFinding, Probe, State

PROBE_SECONDS_MAX = 60.0
_PROMPT = "Reply with OK, and do nothing else.\n"
_AT_ONCE = 4


def probe(
    specs: Mapping[str, ModelSpec], config: Config, repository: Repository, launcher: Launcher
) -> dict[str, Probe]:
    """Ask each model, each in an empty folder of its own, for a minute at most. Raises KeyboardInterrupt."""
    cancel = Canceller()
    env = attempt_environment(config, repository, launcher, {}, bubblewrap_for(config))
    with ExitStack() as stack:
        stack.callback(env.plumbing.close)
        pool = stack.enter_context(ThreadPoolExecutor(_AT_ONCE))
        asked = {name: pool.submit(_probe, spec, env, cancel) for name, spec in specs.items()}
        try:
            return {name: future.result() for name, future in asked.items()}
        except BaseException:
            cancel.cancel(urgent=True)
            raise


def with_probe(finding: ModelFinding, spec: ModelSpec, found: Probe) -> ModelFinding:
    """Return what is known of a model once it was asked: an answer shows that nothing was missing."""
    rest = tuple(problem for problem in finding.problems if problem.name != LOGIN)
    if found.usable:
        return replace(finding, problems=rest, probe=found)
    problem = Finding("probe", State.BAD, f"{found.kind}: {found.message}", _fix(found, spec))
    return replace(finding, problems=(*rest, problem), probe=found)


def _probe(spec: ModelSpec, env: AttemptEnvironment, cancel: Canceller) -> Probe:
    spec = replace(
        spec,
        timeout_s=min(spec.timeout_s, PROBE_SECONDS_MAX),
        idle_timeout_s=min(spec.idle_timeout_s, PROBE_SECONDS_MAX),
    )
    with tempfile.TemporaryDirectory(prefix="noface-probe-", ignore_cleanup_errors=True) as folder:
        work, kept = Path(folder, "empty"), Path(folder, "kept")
        work.mkdir()
        kept.mkdir()
        place = place_in(work, kept)
        write_atomic(kept / "prompt.md", _PROMPT, durable=False)
        issue = Issue("probe", "Reply with OK")
        order = AttemptOrder("probe", "probe", issue, 1, spec, _PROMPT, "", "", 0, str(kept), ())
        write_atomic(kept / "order.json", json.dumps(order_document(order)), durable=False)
        run = run_agent(order, Scope(env, cancel, lambda _: None), place)
    if run.ended_by is EndedBy.CANCELLED:
        raise KeyboardInterrupt
    usage, error = run.usage, run.error
    if error is None:
        return Probe("", "", run.seconds, usage.cost_usd, run.answer.strip())
    return Probe(error.kind.value, error.message, run.seconds, usage.cost_usd)


def _fix(found: Probe, spec: ModelSpec) -> str:
    kind = FailureKind(found.kind)
    if kind is FailureKind.AUTH:
        login = login_seen(spec)
        refused = f"{login.seen[0]} was not accepted. " if login.seen else ""
        return f"{refused}To log in: {login.fix}." if login.fix else ""
    if kind is FailureKind.MISCONFIGURED:
        return f"Correct [models.{spec.name}]."
    return "Try again later." if kind.category is Category.TRANSIENT else ""
