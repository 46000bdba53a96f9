"""Runs an order's worker: in the session of the attempt that was cut off before it, if there is one, else afresh."""

import json
import os
import shutil
import stat
from dataclasses import replace
from itertools import islice
from pathlib import Path

from noface.agents.base import SESSION, RunPlace, place_in
from noface.attempt.attempt import Attempt
from noface.attempt.environment import AttemptEnvironment, order_document, put
from noface.attempt.worker.agent_run import run_agent
from noface.git.removal import remove
from noface.git.workspace import Slot
from noface.model.budget import summed
from noface.model.worker_run import AgentRun, Resumed
from noface.process.files import open_regular, real_folder
from noface.process.masking import mask_files
from noface.recovery.resume import refusal

SESSION_BYTES_MAX = 512 << 20
SESSION_FILES_MAX = 20_000
_TOO_LARGE = f"its files are more than {SESSION_BYTES_MAX >> 20} MB or {SESSION_FILES_MAX:,}"
_REFUSED = (("agent.log", "refused.log"), ("agent.err", "refused.err"))


def write_order(attempt: Attempt, slot: Slot) -> RunPlace:
    """Write the prompt and the order for the agent that works in the slot; return the place of its run."""
    order = attempt.order
    directory = real_folder(attempt.folder, attempt.plumbing.repository.state_dir)
    remove(directory / SESSION)  # a repeated question has the same place, and no agent's leavings
    place = place_in(slot.path, directory)
    put(directory / "prompt.md", order.session.prompt if order.session is not None else order.prompt)
    put(directory / "order.json", json.dumps(order_document(order), indent=1))
    if order.answer_schema:
        put(Path(place.schema_file), order.answer_schema)
    return place


def run_worker(attempt: Attempt, slot: Slot, place: RunPlace) -> AgentRun:
    """Run the worker of an order that is written; where it cannot go on with its session, it begins afresh."""
    session = attempt.order.session
    if session is None:
        return run_agent(attempt, place)
    run, refused = None, _TOO_LARGE
    if carry_files(Path(session.directory, SESSION), Path(place.directory)):
        run = run_agent(attempt, place)
        refused = refusal(run)
    refusal_of = Resumed(session.id, session.attempt, attempt.env.masker.text(refused))
    if run is not None and (not refused or attempt.scope.cancel.cancelled):
        return replace(run, resumed=refusal_of)
    attempt.progress("agent", f"begins afresh, since its session cannot go on: {refused}")
    for log, kept in _REFUSED:
        if (attempt.folder / log).exists():
            (attempt.folder / log).replace(attempt.folder / kept)
    afresh = Attempt(replace(attempt.order, session=None), attempt.scope)
    again = run_agent(afresh, write_order(afresh, slot))
    usage = summed(run.usage, again.usage) if run is not None else again.usage
    return replace(again, usage=replace(usage, session_id=again.usage.session_id), resumed=refusal_of)


def settle(env: AttemptEnvironment, directory: str) -> None:
    """Take secrets out of what an agent has kept of an attempt or a question that has ended; close it to others."""
    mask_files(Path(directory), SESSION, env.masker)


def carry_files(source: Path, target: Path) -> bool:
    """Copy the ordinary files below a folder that an agent could write; False if they are too many or too large."""
    found = (Path(parent, name) for parent, _, names in os.walk(source) for name in names)
    files = list(islice((path for path in found if stat.S_ISREG(path.lstat().st_mode)), SESSION_FILES_MAX + 1))
    if len(files) > SESSION_FILES_MAX or sum(path.lstat().st_size for path in files) > SESSION_BYTES_MAX:
        return False
    for path in files:
        descriptor = open_regular(path)
        if descriptor is None:
            continue
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(descriptor, "rb") as old, copy.open("xb") as new:
            shutil.copyfileobj(old, new)
            times = os.fstat(descriptor)
        os.utime(copy, ns=(times.st_atime_ns, times.st_mtime_ns))
    return True
