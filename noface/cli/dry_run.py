"""`noface run --dry-run`: what would start now and why, and what waits for what. Changes nothing."""

import json
from dataclasses import replace
from pathlib import Path

import typer

from noface.cli.night import named_issues, open_project
from noface.cli.wiring import RunOptions, settings
from noface.core.actions import model_of
from noface.core.backlog import without_unknown_models
from noface.core.issue import IssueState
from noface.core.schedule import with_parts
from noface.core.taxonomy import IssueStatus
from noface.loop.context import Planning
from noface.loop.dispatch import decide, history, plan_tick
from noface.loop.outside import as_agreed
from noface.store.database import Database
from noface.store.journal import Journal
from noface.store.questions import Questions
from noface.store.reader import Reader
from noface.store.spending import Spending
from noface.system.clock import SystemClock


def show_plan(start: Path, config_path: Path | None, options: RunOptions, *, as_json: bool) -> None:
    """Print the plan of the next tick."""
    repository, config, tracker = open_project(start, config_path, options)
    options = replace(options, issues=named_issues(options.issues, tracker))
    path = repository.state_dir / "state.db"
    database = Database.open(path) if path.exists() else Database.memory()
    reader, questions = Reader(database), Questions(database, Journal(database))
    chosen = settings(config, repository, options)
    states = reader.states()
    merged = tuple(state.id for state in states.values() if state.status == "merged")
    backlog = without_unknown_models(tracker.backlog(merged), chosen.models)
    listed = with_parts(backlog.issues, questions.children())
    states |= {issue.id: IssueState(issue.id) for issue in listed if issue.id not in states}
    wanted = options.issues
    issues = tuple(as_agreed(i, states[i.id]) for i in listed if not wanted or i.id in wanted or i.parent in wanted)
    for issue in issues:
        state = states[issue.id]
        if state.status in (IssueStatus.BLOCKED, IssueStatus.SKIPPED) and state.content_hash != issue.content_hash:
            states[issue.id] = IssueState(issue.id, epoch=state.epoch + 1)  # an edit lifts it, as the run will do
    planning = Planning(
        settings=chosen, reader=reader, questions=questions, spending=Spending(database), clock=SystemClock()
    )
    planned = plan_tick(planning, issues, states, len(issues))
    actions = {issue.id: decide(planning, history(planning, issue, states[issue.id])) for issue in planned.start}
    starts = [
        {
            "id": issue.id,
            "title": issue.title,
            "model": model_of(actions[issue.id]),
            "action": actions[issue.id].name,
            "reason": actions[issue.id].reason,
            "now": position < chosen.workers,
        }
        for position, issue in enumerate(planned.start)
    ]
    waits = [{"id": w.issue_id, "reason": w.reason, "until": w.until} for w in planned.waiting]
    faults = [{"source": f.source, "problem": f.problem} for f in backlog.faults]
    if as_json:
        typer.echo(json.dumps({"schema": 1, "start": starts, "waiting": waits, "faults": faults}))
        return
    typer.echo(f"{len(starts)} can start, {chosen.workers} at once; {len(waits)} wait; {len(faults)} faulty.")
    for item in starts:
        when = "now" if item["now"] else "then"
        typer.echo(f"  {when:4} {item['id']} with {item['model']}: {item['title']}\n       {item['reason']}")
    for wait in waits:
        typer.echo(f"  wait {wait['id']}: {wait['reason']}")
    for fault in faults:
        typer.echo(f"  ?    {fault['source']}: {fault['problem']}")
