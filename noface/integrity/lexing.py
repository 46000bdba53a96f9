"""The syntax trees of Python code. Pure."""

import ast
import warnings
from contextlib import suppress

_TRIES = 20


def parsed(text: str, name: str = "<unknown>") -> ast.Module:
    """Return the syntax tree of Python code, as `ast.parse` does; in several threads at once.

    Up to Python 3.11.7 and 3.12.1 they share a counter (python/cpython#106905): one in another's way tries anew.
    """
    for _ in range(_TRIES):
        with suppress(SystemError):
            return ast.parse(text, name)
    return ast.parse(text, name)


def python_tree(text: str) -> ast.Module | None:
    """Return the syntax tree of Python code, None of what does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the project's escapes, say
            return parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
