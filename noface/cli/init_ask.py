"""`noface init --ask MODEL`: a model proposes gates and setup, and each gate is proven on main before it counts.

The model is asked in an empty folder, and reads only. What it proposes runs in workspaces, and only if these are
confined or the person has said that they need not be.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import typer

from noface.attempt.gate_session import CutShort
from noface.attempt.gating import Ran
from noface.cli.one_question import answer_of
from noface.cli.policy_records import model_specs
from noface.cli.run_session import on_main
from noface.cli.wiring import attempt_environment, bubblewrap_for
from noface.config.problems import unknown_model
from noface.config.sections import Config
from noface.detection.detected import DetectedGate, Detection
from noface.detection.proposal import FORM, prompt_of, read_answer
from noface.engine.context import RunContext
from noface.engine.isolation_checks import leaks
from noface.engine.preflight import check_baseline
from noface.engine.readiness import program_finding
from noface.errors import UsageError
from noface.git.repository import Repository
from noface.model.access import Permissions, Tool
from noface.model.finding import refusal
from noface.process.masking import known_secrets
from noface.process.supervise import Canceller, Launcher
from noface.prompts.answers.forms import schema_of
from noface.prompts.structured import Invalid, reminder

_SECONDS_MAX = 900.0
_BESIDE_FILES = "noface init without --ask goes by the files alone; or ask another model."
NOT_CONFINED = "it was not run, since nothing confines what it starts here (noface doctor tells why)"


def asked_of(repository: Repository, config: Config, name: str, before: Detection) -> tuple[Detection, float | None]:
    """Return what a model makes of the table's proposal `before`, and what that has cost. Raises UsageError."""
    specs = model_specs(config, repository.root)
    if name not in specs:
        raise unknown_model(name, specs)
    missing = program_finding(specs[name])
    if missing is not None and (error := refusal((missing,))) is not None:
        raise error
    spec = replace(specs[name], tools=(Tool.READ,), permissions=Permissions.READ_ONLY)
    with ExitStack() as stack:
        launcher = stack.enter_context(Launcher(masker=known_secrets(spec.env)))
        env = attempt_environment(config, repository, launcher, bubblewrap_for(config))
        stack.callback(env.plumbing.close)
        tracked = env.plumbing.paths(env.plumbing.main())
        question = prompt = env.masker.text(prompt_of(repository.root, before))
        cost: float | None = None
        wrong = ""
        for _ in range(2):
            typer.echo(f"Asking {name} …", err=True)
            run = answer_of(spec, prompt, FORM, env, Canceller(), _SECONDS_MAX)
            if run.usage.cost_usd is not None:
                cost = (cost or 0.0) + run.usage.cost_usd
            answer = read_answer(run.answer, before, tracked)
            if not isinstance(answer, Invalid):
                return answer, cost
            if run.error is not None:
                hint = f"See what it says: noface doctor --probe --model {name}"
                raise UsageError(f"{name} gave no answer: {run.error.message}", hint)
            wrong, prompt = answer.violation, f"{question}\n\n{reminder(answer, FORM, schema_of(FORM))}"
    raise UsageError(f"{name}'s answer cannot be used: {wrong}", f"Nothing was written. {_BESIDE_FILES}")


def proven(
    repository: Repository, detection: Detection, before: Detection, made: Callable[[Detection], Config]
) -> Detection:
    """Return a proposal with the gates refused that main does not prove; if its setup fails, with that of `before`."""
    if all(gate.refused for gate in detection.gates):
        return detection
    config = made(detection)
    bubblewrap = bubblewrap_for(config)
    if not (config.sandbox.kind == "none" or config.sandbox.wrap or (bubblewrap and bubblewrap.works)):
        return _refusing(detection, lambda _: NOT_CONFINED)
    problems, failed = _on_main(repository, config)
    if failed and before.setups and before.setups != detection.setups:
        note = f"The proposed setup fails on main ({failed}): the table's setup stands in its place."
        detection = replace(detection, setups=before.setups, notes=(*detection.notes, note))
        problems, failed = _on_main(repository, made(detection))
    if failed:
        return _refusing(detection, lambda _: f"setup fails on main: {failed}")
    return _refusing(detection, lambda gate: problems.get(gate.name, ""))


def _refusing(detection: Detection, problem_of: Callable[[DetectedGate], str]) -> Detection:
    gates = (gate if gate.refused else replace(gate, refused=problem_of(gate)) for gate in detection.gates)
    return replace(detection, gates=tuple(gates))


def _on_main(repository: Repository, config: Config) -> tuple[dict[str, str], str]:
    typer.echo("Trying setup and gates on main …", err=True)
    told: set[str] = set()

    def announce(kind: str, _: str | None, facts: dict[str, object]) -> None:
        what = {"setup": "Setup", "main_gate": f"Gate {facts.get('gate')}", "canary": "Gates with broken sources"}
        if kind in what and what[kind] not in told:
            told.add(what[kind])
            typer.echo(f"{what[kind]} on main …", err=True)

    with on_main(repository, config, announce) as (context, cancel):
        try:
            ran = check_baseline(context, cancel, anew=True)
            return ({}, ran.failure.message) if ran.failure is not None else (_problems(context, ran, cancel), "")
        except CutShort:
            raise KeyboardInterrupt from None


def _problems(context: RunContext, ran: Ran, cancel: Canceller) -> dict[str, str]:
    problems = {gate.name: "it did not run, since a build before it is red" for gate in context.settings.gates}
    for result in ran.results:
        failure = result.failure
        problems[result.gate.name] = f"it is red on main: {failure.message}" if failure is not None else ""
    green = tuple(result.gate for result in ran.results if result.failure is None)
    for gate in leaks(context, green, cancel):
        problems[gate.name] = "it stays green with every source file of the project broken"
    return problems
