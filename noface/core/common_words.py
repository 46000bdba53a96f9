"""The words that stand in any message, so that having them in common says nothing."""

import re

_COMMON = re.compile(
    r"an?|and|are|as|at|be|but|by|can|cannot|could|did|do|does|errors?|expected|failed|failures?|for|from|got|had|has"
    r"|have|in|into|is|it|its|line|no|not|of|on|one|or|so|such|that|the|then|there|this|to|was|were|when|which|with"
    r"|would|you|your",
    re.IGNORECASE,
)


def is_common(word: str) -> bool:
    """Tell whether a word says nothing by itself."""
    return _COMMON.fullmatch(word) is not None
