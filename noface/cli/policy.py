"""`noface policy`: what happens after each kind of failure."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from noface.cli.candidates import any_issue, failure_kind
from noface.cli.verb import ConfigFile, VerbResult, answers, meant
from noface.errors import UsageError

if TYPE_CHECKING:
    from noface.cli.session import ReadSession
    from noface.config.sections import Config
    from noface.model.history import History
    from noface.model.issue import Issue
    from noface.ui.policy import PolicyView

_ISSUE = typer.Option(
    None,
    "--issue",
    metavar="ID",
    help="For this issue, with its own model, limits and labels.",
    autocompletion=any_issue,
)


@answers()
def policy(
    kind: str | None = typer.Option(
        None, "--kind", metavar="KIND", help="Only this kind of failure, step by step.", autocompletion=failure_kind
    ),
    issue_id: str | None = _ISSUE,
    replayed: bool = typer.Option(False, "--replay", help="Which decisions so far this policy would take otherwise."),
    config: ConfigFile = None,
) -> VerbResult:
    """Show what happens after each kind of failure.

    Attempt by attempt, until a person is asked.
    """
    if replayed:
        return _replay(config, issue_id, kind)
    from noface.model.taxonomy import FailureKind
    from noface.ui.policy import policy_document, policy_page
    from noface.ui.policy_path import path_document, path_page

    one = FailureKind(meant(kind, FailureKind, "failure kind", "kinds")) if kind is not None else None
    view = _view(config, issue_id)
    if one is None:
        return VerbResult(policy_document(view), lambda _, width: policy_page(view, width))
    return VerbResult(path_document(view, one), lambda _, width: path_page(view, one, width))


def _replay(config: Path | None, issue_id: str | None, kind: str | None) -> VerbResult:
    """Make each decision that was recorded again, on the attempts as they were. It costs no token."""
    from noface.cli.policy_records import policy as policy_of
    from noface.cli.session import open_session
    from noface.config.load import load, name_of
    from noface.model.issue import Issue
    from noface.recovery.replay import replay
    from noface.store.questions import recorded_history
    from noface.ui.issues import find_issue
    from noface.ui.replay import ReplayDocument, replay_page

    if kind is not None:
        raise UsageError("--replay looks at decisions, and --kind at one kind of failure", "Leave one of them out.")
    seen = open_session()
    root = seen.location.root
    asked, states, issues = policy_of(load(root, config)), seen.reader.states(), _issues(seen)
    ids = seen.reader.attempted() if issue_id is None else (find_issue(seen.reader, issue_id).id,)
    questions = seen.questions
    pasts = [recorded_history(seen.reader, questions, issues.get(i) or Issue(i, ""), states.get(i)) for i in ids]
    made = sum(bool(attempt.answer) for past in pasts for attempt in past.current)
    otherwise = tuple(each for past in pasts for each in replay(past, asked))
    return VerbResult(ReplayDocument(name_of(root, config), made, otherwise), replay_page)


def _view(config: Path | None, issue_id: str | None) -> "PolicyView":
    """Return what the page is about. Without an issue nothing but the configuration is looked at."""
    from noface.cli.policy_records import policy as policy_of
    from noface.config.load import load, name_of
    from noface.git.locate import locate
    from noface.model.history import History
    from noface.recovery.policy_table import ANY_ISSUE
    from noface.ui.policy import PolicyView

    root = Path.cwd() if config is not None and issue_id is None else locate(Path.cwd()).root
    loaded = load(root, config)
    asked = policy_of(loaded)
    return PolicyView(
        name_of(root, config),
        asked,
        _of_issue(loaded, config, issue_id) if issue_id is not None else History(ANY_ISSUE),
    )


def _of_issue(loaded: "Config", config: Path | None, issue_id: str) -> "History":
    """Return an issue with what a person said when they unblocked it, and without its attempts."""
    from noface.cli.session import open_session
    from noface.model.history import History
    from noface.ui.issues import find_issue

    seen = open_session(config)
    issue_id = find_issue(seen.reader, issue_id).id
    issue = _issues(seen).get(issue_id)
    if issue is None:
        raise UsageError(
            f"issue {issue_id} is not in the backlog any more", "Its file is gone or faulty: noface issues"
        )
    state = seen.reader.states()[issue_id]
    for model in (issue.model, state.wanted_model):
        if model is not None and model not in loaded.models:
            known = ", ".join(sorted(loaded.models))
            raise UsageError(f"issue {issue_id} asks for the model {model}, which does not exist", f"Known: {known}.")
    return History(issue, model=state.wanted_model, attempts_max=state.wanted_attempts)


def _issues(seen: "ReadSession") -> "dict[str, Issue]":
    """Return the sound issues of the backlog by id, and the parts of those that were broken down."""
    from noface.cli.session import with_own_parts

    return {issue.id: issue for issue in with_own_parts(seen.backlog(), seen.database).issues}
