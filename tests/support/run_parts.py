"""The parts of a run on a repository, connected as `noface run` does, for tests of what one of them does without the loop."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from noface.cli.run_session import make_context, open_project
from noface.cli.wiring import RunOptions, settings
from noface.engine.context import RunContext
from noface.git.own_objects import begin_own_objects
from noface.process.clock import Clock
from noface.store.database import Database


@contextmanager
def run_parts(path: Path, clock: Clock | None = None, *, begun: bool = True) -> Iterator[RunContext]:
    """Yield the context of a run, which has `begun`; what it announces is dropped."""
    with ExitStack() as stack:
        repository, config, tracker = open_project(path, None, RunOptions())
        begin_own_objects(repository)
        database = Database.open(repository.state_dir / "state.db")
        stack.callback(database.close)
        chosen = settings(config, repository, RunOptions())
        context = make_context(repository, config, tracker, chosen, database, lambda *_: None, stack, clock)
        if begun:
            context.journal.run_started(0.0, 1)
        yield context
