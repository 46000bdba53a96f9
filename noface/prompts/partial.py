"""What each step of an attempt left, kept if it failed: failed step, partial results, within a limit (P4, P5, P10).

The steps are the worker's run, the snapshot of its work, each gate; and the judgement, if something else failed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from noface.model.attempt import AttemptReport, Judged, NotStarted, Snapshot
from noface.model.failure import Failure
from noface.model.failure_document import Note, ReportedStep, Steps
from noface.model.gate import GateResult
from noface.model.quoting import one_line
from noface.model.worker_run import AgentRun, EndedBy
from noface.prompts.data import EarlierForm

OUTPUT_CHARS_MAX = 2_000
"""How much is kept of the end of a step's output: it tells most."""
BEFORE_GATES = 2
"""The steps before the first gate: the worker's run, and the snapshot of its work."""
_AGENT = "agent"
_NOTE_CHARS_MAX = 300


@dataclass(frozen=True, slots=True)
class AttemptStep:
    """One step: whether it did what it should, what is to be noted of it, and what it put out."""

    name: str
    ok: bool
    notes: Mapping[str, Note]
    output: str = ""


def steps_of(report: AttemptReport) -> tuple[AttemptStep, ...]:
    """Return the steps of an attempt as far as it came, in their order."""
    if isinstance(report, NotStarted):
        return (_judgement("workspace", report.failure),)
    steps: list[AttemptStep] = []
    if report.agent is not None:
        steps.append(_agent(report.agent))
    if report.snapshot is not None:
        steps.append(_snapshot(report.snapshot))
    steps += [_gate(result) for result in report.gates]
    if isinstance(report, Judged) and report.failure is not None and all(step.ok for step in steps):
        steps.append(_judgement("judgement", report.failure))
    return tuple(steps)


def accumulate(steps: tuple[AttemptStep, ...], form: EarlierForm = EarlierForm.NOTES_ONLY, planned: int = 0) -> Steps:
    """Return what is kept of the steps, as JSON; the end of the worker's own output in each form (K3)."""
    results: list[ReportedStep] = []
    for index, step in enumerate(steps):
        result: ReportedStep = {
            "step_index": index,
            "name": one_line(step.name, _NOTE_CHARS_MAX),
            "status": "completed" if step.ok else "failed",
        }
        if form is not EarlierForm.MINIMAL:
            result["notes"] = dict(step.notes)
        if form is EarlierForm.FULL_OUTPUT:
            result["content"] = _end(step.output)
        results.append(result)
    return {
        "failed_step": next((index for index, step in enumerate(steps) if not step.ok), None),
        "total_steps": max(len(steps), planned),
        "accumulation_format": form.value,
        "partial_results": results,
        "partial_output": _end(next((step.output for step in steps if step.name == _AGENT), "")),
        "truncated": any(_end(step.output) != step.output.strip() for step in steps),
    }


def _agent(run: AgentRun) -> AttemptStep:
    usage = run.usage
    notes = _known(
        exit_code=run.exit_code,
        ended_by=run.ended_by.value,
        seconds=round(run.seconds, 3),
        cost_usd=usage.cost_usd,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        error=f"{run.error.kind}: {run.error.message}" if run.error is not None else None,
    )
    ok = run.error is None and run.ended_by is EndedBy.ITSELF  # what an exit code means is judged in `error`
    return AttemptStep(_AGENT, ok, notes, run.answer or run.last_words)


def _snapshot(snapshot: Snapshot) -> AttemptStep:
    changes = snapshot.changes
    notes = _known(
        commit=snapshot.commit,
        files=len(changes),
        lines_added=sum(change.added or 0 for change in changes),
        lines_deleted=sum(change.deleted or 0 for change in changes),
        protected_edits=len(snapshot.protected_edits) or None,
        oversized=len(snapshot.oversized) or None,
    )
    return AttemptStep("snapshot", True, notes, "\n".join(f"{change.status} {change.path}" for change in changes))


def _gate(result: GateResult) -> AttemptStep:
    failure = result.failure
    notes = _known(
        exit_code=result.exit_code,
        seconds=round(result.seconds, 3),
        hard=result.gate.hard,
        timed_out=result.timed_out or None,
        flaky=result.flaky or None,
        tests_run=result.tests_run,
        tests_failing=len(result.failing_tests) or None,
        failure=f"{failure.kind}: {failure.message}" if failure is not None else None,
    )
    ok = result.passed or not result.gate.hard  # a soft gate is only reported
    return AttemptStep(f"gate {result.gate.name}", ok, notes, failure.excerpt if failure else "")


def _judgement(name: str, failure: Failure) -> AttemptStep:
    notes = _known(kind=failure.kind.value, rule=failure.rule, message=failure.message, location=failure.location)
    return AttemptStep(name, False, notes, failure.excerpt)


def _end(output: str) -> str:
    text = output.strip()
    if len(text) <= OUTPUT_CHARS_MAX:
        return text
    end = text[-OUTPUT_CHARS_MAX:]
    end = end.partition("\n")[2] or end  # from the next line on: the first may have been cut in its middle
    return f"[… {len(text) - len(end)} characters left out …]\n{end}"


def _known(**notes: Note | None) -> dict[str, Note]:
    known = {name: note for name, note in notes.items() if note is not None}
    return {name: one_line(note, _NOTE_CHARS_MAX) if isinstance(note, str) else note for name, note in known.items()}
