"""Tells whether Python source is broken in every version of Python; what only may be is left to the gates.

The project's Python can be newer than the one noface runs on, or be Python 2. So an error that a newer grammar could
explain (PEP 695 `type` statements and type parameters, 701 f-strings, 750 t-strings, 758 `except A, B`, 798 and 810),
or an older one, is no finding.
"""

import re
import sys
import warnings

_NAME = "noface-examined-source"
_PYTHON_2 = re.compile(
    r"Missing parentheses in call to|multiple exception types must be parenthesized|inconsistent use of tabs"
    r"|leading zeros in decimal integer|invalid octal literal|tuple parameter unpacking|Did you mean print"
    r"|parameters cannot be parenthesized|Generator expression must be parenthesized"
)
_NEWER = re.compile(
    r"f-string|t-string|unpacking cannot be used in|outside (async )?function|too many (nested|statically)"
    r"|is not supported in Python"
)
_NEWER_LINE = re.compile(
    r"^\s*type\s+\w|^\s*(async\s+)?(def|class)\s+\w+\s*\[|\b(t|rt|tr)['\"]"
    r"|^\s*(?!async\b|yield\b)[a-z_]+\s+(import|from|def|class)\b",
    re.IGNORECASE,
)
_OLDER_LINE = re.compile(
    r"^\s*(print|exec)\s+[^=(]|^\s*raise\s+[\w.]+\s*,|(?<!`)`[^`]+`(?!`)|\w\s*<>\s*\w|\bur['\"]|\b\d+[lL]\b|^\s*[%!]\w"
)
_F_STRING = re.compile(r"\b(?:f|rf|fr)(\"\"\"|'''|\"|')", re.IGNORECASE)
_PEP_701 = (3, 12)
_SCANNED_MAX = 20_000


def check_python(source: bytes) -> tuple[int, str] | None:
    """Return line and message of what makes the source no Python; None where it is, or may be. Never runs it."""
    # The compiler warns of odd but valid code: that is the linter's business, and must not reach the screen.
    warnings.filterwarnings("ignore", module=_NAME)
    try:
        compile(source, f"{_NAME}.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        return _judged(source, error)
    except ValueError as error:  # NUL characters, in some versions
        return (1, str(error)) if "null bytes" in str(error) else None
    except (RecursionError, MemoryError, OverflowError):
        return None
    return None


def _judged(source: bytes, error: SyntaxError) -> tuple[int, str] | None:
    message, number = error.msg, error.lineno or 1
    text = source.decode("utf-8", "replace")
    lines = text.split("\n")
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    if _PYTHON_2.search(message) or _NEWER.search(message) or _says_python_2(lines[0]):
        return None
    if _NEWER_LINE.search(line) or _OLDER_LINE.search(line) or any(map(_NEWER_LINE.search, _around(lines, number))):
        return None
    if sys.version_info < _PEP_701 and _newer_f_string(text):
        return None
    return number, message


def _says_python_2(first: str) -> bool:
    return first.startswith("#!") and "python2" in first.replace(" ", "")


def _around(lines: list[str], number: int) -> list[str]:
    """Return the line above and below: where a newer statement spans lines, the error is put beside it."""
    return [lines[index] for index in (number - 2, number) if 0 <= index < len(lines)]


def _newer_f_string(text: str) -> bool:
    """Tell whether an f-string reuses its quote, holds a backslash or a comment, or breaks a line inside braces."""
    for match in _F_STRING.finditer(text):
        quote = match[1]
        end = text.find(quote, match.end())
        body = text[match.end() : end if end >= 0 else match.end() + _SCANNED_MAX]
        if len(quote) == 1:
            body = body.partition("\n")[0]
        depth = 0
        for letter in body[:_SCANNED_MAX].replace("{{", "").replace("}}", ""):
            depth += (letter == "{") - (letter == "}")
            if depth > 0 and letter in "\\#":
                return True
        if depth > 0:
            return True
    return False
