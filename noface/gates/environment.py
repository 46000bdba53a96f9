"""The environment programs are started in: the person's, without what would mislead git or a tool's messages."""

import os
from collections.abc import Iterable

_PREFIXES_REMOVED = ("GIT_", "NOFACE_", "PYTEST_")
_NAMES_REMOVED = ("LANGUAGE", "LC_MESSAGES", "VIRTUAL_ENV_PROMPT", "COLUMNS", "LINES")


def for_programs(extra: Iterable[tuple[str, str]] = ()) -> tuple[tuple[str, str], ...]:
    """Return noface's environment for a child: messages untranslated (LC_ALL=C.UTF-8), no inherited GIT_*."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_PREFIXES_REMOVED) and name not in _NAMES_REMOVED
    }
    kept |= {"LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "PYTHONDONTWRITEBYTECODE": "1"}
    kept |= dict(extra)
    return tuple(kept.items())
