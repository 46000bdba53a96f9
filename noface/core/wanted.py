"""What is wanted of a person where an issue waits for approval (L10)."""

from enum import StrEnum

from noface.core.actions import RequestApproval
from noface.core.taxonomy import Category


class Wanted(StrEnum):
    """What a person is asked.

    LANDING: may the work land? PATHS: may it change more? CONTRACT: is a test or a contract wrong? GOING_ON: may
    there be another attempt, where `[retry.strategies]` wants a person's word first?
    """

    LANDING = "landing"
    PATHS = "paths"
    CONTRACT = "contract"
    GOING_ON = "going_on"


def wanted_by(action: RequestApproval) -> Wanted:
    """Return what a request for approval wants."""
    if action.kind is None:
        return Wanted.LANDING
    if action.paths:
        return Wanted.PATHS
    return Wanted.CONTRACT if action.kind.category is Category.BOUNDARY else Wanted.GOING_ON
