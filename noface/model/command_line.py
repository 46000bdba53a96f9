"""The placeholders of a `command` worker's command line, as its shell would see them."""

import re
from collections.abc import Iterator
from difflib import get_close_matches

PLACEHOLDERS = ("prompt_file", "model")

_VARIABLES = re.compile(r"""(?:[A-Za-z_]\w*=(?:"[^"`(]*"|'[^']*'|[^\s"'`$;&|<>()])*\s+)+""")
_TOKEN = re.compile(r"\$\{|\{\w+\}|\\.|.", re.DOTALL)


def pieces(command: str) -> Iterator[tuple[str, str, str]]:
    """Yield the pieces of a command line: text, the quotes it stands in ("" for none), and a name.

    Joined, their texts are the command. The name is that of a `{name}` which the shell would not replace, else "".
    """
    quote = ""
    position = 0
    while position < len(command):
        token = _TOKEN.match(command, position)
        text = token[0] if token is not None else command[position]
        if text[0] == "\\" and quote == "'":
            text = text[0]  # in single quotes a backslash is just one
        position += len(text)
        if text[0] == "{" and len(text) > 1:
            yield text, quote, text[1:-1]
            continue
        if text in ("'", '"') and quote in ("", text):
            quote = "" if quote else text
        yield text, quote, ""


def unknown_placeholders(command: str) -> tuple[str, ...]:
    """Return the names that stand like a placeholder and are none.

    In quotes, where they may be for a program, only a name that is nearly one of noface's counts.
    """
    named = [(name, quote) for _, quote, name in pieces(command) if name and name not in PLACEHOLDERS]
    meant = (name for name, quote in named if not quote or get_close_matches(name, PLACEHOLDERS, cutoff=0.8))
    return tuple(dict.fromkeys(meant))


def apart(command: str) -> tuple[str, str]:
    match = _VARIABLES.match(command)
    return (match[0], command[match.end() :]) if match else ("", command)
