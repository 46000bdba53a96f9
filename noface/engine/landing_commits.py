"""The commits that leave noface: those that are to be main, and those that are pushed for pull requests.

They are by the person whose repository it is. `[landing]` says whether they are signed with that person's own key,
signed off, and name the agent: then one who reads main's history, or a rule that wants it, finds that.
"""

from noface.attempt.environment import landing_message
from noface.engine.context import RunContext
from noface.errors import SigningError, UsageError
from noface.git.plumbing import make_and_hold
from noface.git.refs import hold_ref
from noface.model.issue import Issue


def landing_commit(
    context: RunContext, issue: Issue, number: int, tree: str, parents: tuple[str, ...], *, base: str, note: str
) -> str:
    """Make the commit that lands an attempt's work, and hold it by a ref; return its id.

    `issue` is masked; `base` is named by one that merges no attempt. Raises SigningError if it cannot be signed.
    """
    plumbing = context.env.plumbing
    make = plumbing.signed_commit if context.settings.landing.sign else plumbing.commit_tree
    message = landing_message(issue, number, base, note, trailers(context, issue.id, number))
    return make_and_hold(plumbing, hold_ref(issue.id, "landing"), parents[0], lambda: make(tree, parents, message), str)


def trailers(context: RunContext, issue_id: str, number: int) -> tuple[str, ...]:
    """Return the lines at the end of a commit's message that `[landing]` asks for."""
    rules, who = context.settings.landing, context.env.plumbing.repository.identity
    result = []
    if rules.agent_trailer:
        name = next((row.model for row in context.reader.attempts(issue_id) if row.number == number), "")
        model = context.settings.models.get(name)
        if model is not None:
            result.append(f"Assisted-by: {model.agent}:{model.model or name}")
    if rules.signoff:
        result.append(f"Signed-off-by: {who.name} <{who.email}>")
    return tuple(result)


def check_signing(context: RunContext) -> None:
    """Sign a commit that nobody sees, before a worker is paid. Raises UsageError if that cannot be done."""
    if not context.settings.landing.sign:
        return
    plumbing = context.env.plumbing
    try:
        plumbing.signed_commit(plumbing.tree(plumbing.main()), (plumbing.main(),), "noface looks whether it can sign\n")
    except SigningError as error:
        raise UsageError(f"[landing] sign = true: {error.message}", error.hint) from error
