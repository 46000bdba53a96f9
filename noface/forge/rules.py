"""What the rules of a repository would refuse of noface's branches, before any work is paid for. Pure.

Their names are those of GitHub's page "Available rules for rulesets".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noface.forge.parse import text

_OUT = "Leave branches noface/* out of it, or let this account bypass it"
_KINDS = {
    "creation": ("Restrict creations", "nobody but those who may bypass it makes branches"),
    "update": ("Restrict updates", "nobody but those who may bypass it changes branches"),
    "required_signatures": ("Require signed commits", "commits without a signature are refused"),
    "pull_request": ("Require a pull request before merging", "nothing is pushed to branches"),
    "required_status_checks": ("Require status checks to pass", "nothing is pushed that no check has passed"),
    "workflows": ("Require workflows to pass before merging", "nothing is pushed that no workflow has passed"),
    "required_deployments": ("Require deployments to succeed", "nothing is pushed that was not deployed"),
    "merge_queue": ("Require merge queue", "nothing is pushed to branches"),
}
"""The rule's name in the settings, and what it means, by its type: those under which no push to a branch is let in."""
Rules = Sequence[tuple[Mapping[str, Any], bool | None]]
"""Rules that hold for a branch; beside each whether the token's owner may bypass it, None if that is not known."""


@dataclass(frozen=True, slots=True)
class RuleRefusal:
    """What a rule would refuse. `certain` is False if the token's owner may be let past it all the same."""

    kind: str
    text: str
    advice: str
    certain: bool


def refusals(rules: Rules, branch: str) -> Iterator[RuleRefusal]:
    """Yield what rules would refuse of pushes to a branch."""
    for rule, bypass in rules:
        kind = text(rule, "type")
        if kind in _KINDS and not bypass:
            name, means = _KINDS[kind]
            or_sign = ", or sign with [landing] sign = true" if kind == "required_signatures" else ""
            sentence = f"the rule `{name}` holds for {branch}: {means}"
            yield RuleRefusal(kind, sentence, f"{_OUT}{or_sign} (Settings, Rules).", bypass is False)
