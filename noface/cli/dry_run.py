"""`noface run --dry-run`: what would start now and why, and what waits for what. Changes nothing."""

import json
import time
from pathlib import Path

import typer

from noface.cli.night import open_project
from noface.cli.wiring import RunOptions, settings
from noface.core.actions import kind_of
from noface.core.backlog import without_unknown_models
from noface.core.model import IssueState
from noface.core.policy import History, next_action
from noface.core.schedule import plan
from noface.core.taxonomy import IssueStatus
from noface.store.database import Database
from noface.store.reader import Reader


def show_plan(start: Path, config_path: Path | None, options: RunOptions, *, as_json: bool) -> None:
    """Print the plan of the next tick."""
    repository, config, tracker = open_project(start, config_path, options)
    path = repository.state_dir / "state.db"
    reader = Reader(Database.open(path) if path.exists() else Database.memory())
    chosen = settings(config, repository, options)
    states = reader.states()
    merged = tuple(state.id for state in states.values() if state.status == "merged")
    backlog = without_unknown_models(tracker.backlog(merged), chosen.models)
    issues = tuple(i for i in backlog.issues if not options.issues or i.id in options.issues)
    states |= {issue.id: IssueState(issue.id) for issue in issues if issue.id not in states}
    for issue in issues:
        state = states[issue.id]
        if state.status in (IssueStatus.BLOCKED, IssueStatus.SKIPPED) and state.content_hash != issue.content_hash:
            states[issue.id] = IssueState(issue.id, epoch=state.epoch + 1)  # an edit lifts it, as the run will do
    now = time.time()
    actions = {
        issue.id: next_action(History(issue, reader.past(issue.id), states[issue.id].epoch), chosen.policy, now)
        for issue in issues
    }
    models = {name: str(getattr(action, "model", "")) for name, action in actions.items()}
    planned = plan(issues, states, models, reader.waits(), len(issues), now)
    starts = [
        {
            "id": issue.id,
            "title": issue.title,
            "model": models[issue.id],
            "action": kind_of(actions[issue.id]),
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
