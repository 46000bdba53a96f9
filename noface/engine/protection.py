"""What is protected from an issue's work, by the project, the run's settings and the issue itself (law 11)."""

from noface.attempt.protected_files import named_instructions, named_programs
from noface.engine.accept_on_main import unwritten_on_main
from noface.engine.context import RunContext
from noface.integrity.named_files import named_paths, run_scripts
from noface.integrity.tampering import is_test_file
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.model.protection import Protection, protection_of


def protection_for(context: RunContext, issue: Issue, main: str) -> Protection:
    """Return what is protected from an issue's work that begins at the commit `main`."""
    plumbing = context.env.plumbing
    repository = plumbing.repository
    listed = context.settings.protected + named_instructions(plumbing, main) + named_programs(plumbing, main)
    if repository.hooks:
        listed += (repository.hooks,)
    return protection_of(issue, listed, _judges(context, issue, main), any_case=repository.any_case)


def _judges(context: RunContext, issue: Issue, main: str) -> tuple[str, ...]:
    """Return the files that judge work, or do it: they are protected (law 11).

    These are what `accept` names (of a folder only the test files), and the scripts that gates and workers are. A test
    file for tests that main does not have is for the worker to write.
    """
    settings, plumbing = context.settings, context.env.plumbing
    accept, unwritten = named_paths(issue.accept), unwritten_on_main(context, issue)
    to_write = (*unwritten, *(f"{path}/**" for path in unwritten))
    commands = tuple(gate.command for gate in settings.gates) + tuple(m.command for m in settings.models.values())
    scripts = run_scripts(commands)
    if not accept and not scripts:
        return ()
    folders, named = tuple(f"{path}/" for path in accept), {*accept, *scripts}
    paths = plumbing.entries(main, tuple(sorted(named)))
    judging = (p for p in paths if p in named or (is_test_file(p) and p.startswith(folders)))
    return tuple(sorted(p for p in judging if not (is_test_file(p) and matches_any(p, to_write))))
