"""`noface policy`: what happens after each kind of failure."""

from pathlib import Path

import typer

from noface.cli.verb import ConfigFile, VerbResult, answers, meant
from noface.errors import UsageError


@answers()
def policy(
    kind: str | None = typer.Option(None, "--kind", metavar="KIND", help="Only this kind of failure, step by step."),
    replayed: bool = typer.Option(False, "--replay", help="Which decisions so far this policy would take otherwise."),
    config: ConfigFile = None,
) -> VerbResult:
    """Show what happens after each kind of failure.

    Attempt by attempt, until a person is asked.
    """
    from noface.cli.policy_records import policy as policy_of
    from noface.config.load import load, name_of
    from noface.git.locate import locate
    from noface.model.taxonomy import FailureKind
    from noface.ui.policy import ReplayDocument, path_document, path_page, policy_document, policy_page, replay_page

    if replayed and kind is not None:
        raise UsageError("--replay looks at decisions, and --kind at one kind of failure", "Leave one of them out.")
    one = FailureKind(meant(kind, FailureKind, "failure kind", "kinds")) if kind is not None else None
    root = Path.cwd() if config is not None and not replayed else locate(Path.cwd()).root
    rules, name = policy_of(load(root, config)), name_of(root, config)
    if replayed:
        from noface.cli.session import open_session, with_own_parts
        from noface.model.issue import Issue
        from noface.recovery.replay import replay
        from noface.store.questions import recorded_history

        seen = open_session()
        states = seen.reader.states()
        issues = {issue.id: issue for issue in with_own_parts(seen.backlog(), seen.database).issues}
        pasts = [
            recorded_history(seen.reader, seen.questions, issues.get(each) or Issue(each, ""), states.get(each))
            for each in seen.reader.attempted()
        ]
        made = sum(bool(attempt.answer) for past in pasts for attempt in past.current)
        otherwise = tuple(each for past in pasts for each in replay(past, rules))
        return VerbResult(ReplayDocument(name, made, otherwise), replay_page)
    if one is None:
        return VerbResult(policy_document(name, rules), lambda _, width: policy_page(name, rules, width))
    return VerbResult(path_document(name, rules, one), lambda _, width: path_page(name, rules, one, width))
