"""What the `accept` of issues names that lies in the person's checkout only, as `issues` and a dry run tell it."""

from collections.abc import Iterable

from noface.git.checkout import PersonsCheckout
from noface.git.plumbing import Plumbing
from noface.integrity.not_on_main import told, ways_to_commit
from noface.model.issue import Issue, IssueFault


def uncommitted(
    plumbing: Plumbing, protected: tuple[str, ...], issues: Iterable[Issue], gates: Iterable[str]
) -> dict[str, IssueFault]:
    """Return by issue what its `accept` names that lies in the person's checkout only; nothing is run."""
    checkout, known, found = PersonsCheckout(plumbing, protected), tuple(gates), {}
    for issue in issues:
        if things := checkout.lacking(issue.accept, known) if issue.accept else ():
            ways = " && ".join(ways_to_commit(things, checkout.state))
            found[issue.id] = IssueFault(issue.source, told(things, checkout.state), f"Commit it: {ways}", issue.id)
    return found
