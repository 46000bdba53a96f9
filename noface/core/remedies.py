"""The five strategies of a diagnosis (S3), by the names that models and the published schema use."""

from enum import StrEnum


class Remedy(StrEnum):
    """What a diagnosis, by a model or from a known pattern, can propose."""

    ALTERNATIVE = "alternative_approach"
    MODIFIED = "retry_modified"
    SKIP = "skip_and_continue"
    ESCALATE = "escalate"
    SAME = "retry_same"
