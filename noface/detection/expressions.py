"""Works out the expressions of GitHub's workflows, as far as files say; what is not known counts as true."""

import re
from collections.abc import Mapping

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_TOKEN = re.compile(r"\s*('(?:[^']|'')*'|&&|\|\||==|!=|<=|>=|[!()<>,]|-?\d+(?:\.\d+)?(?![\w.])|[A-Za-z_][\w.*\[\]'-]*)")


_UNKNOWN = object()
"""The value of what files don't say."""


def holds(condition: object, values: Mapping[str, object]) -> bool:
    """True if the condition of a job or step holds."""
    if condition is None:
        return True
    text = str(condition).strip()
    inner = _EXPRESSION.fullmatch(text)
    value = evaluate(inner[1] if inner else text, values) if "${{" not in text or inner else _UNKNOWN
    return value is _UNKNOWN or bool(value)


def filled(text: str, values: Mapping[str, object]) -> str:
    """Return a text with its expressions worked out; what is not known stays as it is."""

    def worked_out(match: re.Match[str]) -> str:
        value = evaluate(match[1], values)
        if value is _UNKNOWN or isinstance(value, dict | list):
            return match[0]
        return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

    return _EXPRESSION.sub(worked_out, text)


def evaluate(text: str, values: Mapping[str, object]) -> object:
    """Return what an expression of GitHub's is worth, as far as `values` say."""
    tokens = [match[1] for match in _TOKEN.finditer(text)]
    # Something is left over that is no token: it is more of the language than is known here.
    if "".join(tokens) != re.sub(r"\s+(?=(?:[^']*'[^']*')*[^']*$)", "", text):
        return _UNKNOWN
    try:
        value, rest = _either(tokens, values)
    except (IndexError, RecursionError):
        return _UNKNOWN
    return _UNKNOWN if rest else value


def _either(tokens: list[str], values: Mapping[str, object]) -> tuple[object, list[str]]:
    value, rest = _both(tokens, values)
    while rest[:1] == ["||"]:
        other, rest = _both(rest[1:], values)
        # Of "unknown || x" only a true x is known.
        value = value if value is not _UNKNOWN and value else _UNKNOWN if value is _UNKNOWN and not other else other
    return value, rest


def _both(tokens: list[str], values: Mapping[str, object]) -> tuple[object, list[str]]:
    value, rest = _comparison(tokens, values)
    while rest[:1] == ["&&"]:
        other, rest = _comparison(rest[1:], values)
        if value is _UNKNOWN:
            value = False if other is not _UNKNOWN and not other else _UNKNOWN
        elif value:
            value = other
    return value, rest


def _comparison(tokens: list[str], values: Mapping[str, object]) -> tuple[object, list[str]]:
    left, rest = _operand(tokens, values)
    if rest[:1] not in (["=="], ["!="]):
        return (_UNKNOWN, []) if rest[:1] in (["<"], [">"], ["<="], [">="]) else (left, rest)
    right, after = _operand(rest[1:], values)
    if _UNKNOWN in (left, right):
        return _UNKNOWN, after
    same = str("" if left is None else left).lower() == str("" if right is None else right).lower()
    return same == (rest[0] == "=="), after


def _operand(tokens: list[str], values: Mapping[str, object]) -> tuple[object, list[str]]:
    first, *rest = tokens
    if first == "!":
        value, rest = _operand(rest, values)
        return (_UNKNOWN if value is _UNKNOWN else not value), rest
    if first == "(":
        value, rest = _either(rest, values)
        return value, rest[1:]
    if first.startswith("'"):
        return first[1:-1].replace("''", "'"), rest
    if rest[:1] == ["("]:
        return _call(first.lower(), rest[1:], values)
    if first in {"true", "false"}:
        return first == "true", rest
    if first == "null":
        return None, rest
    if first.startswith(("matrix.", "inputs.")) and first not in values:
        return None, rest  # a matrix leaves out what a combination does not have
    return values.get(first, first if first[0].isdigit() else _UNKNOWN), rest


def _call(name: str, tokens: list[str], values: Mapping[str, object]) -> tuple[object, list[str]]:
    arguments: list[object] = []
    rest = tokens
    while rest[0] != ")":
        value, rest = _either(rest, values)
        arguments.append(value)
        rest = rest[1:] if rest[0] == "," else rest
    rest = rest[1:]
    if name in {"always", "success"}:
        return True, rest
    # What is asked for is a run in which nothing has failed so far.
    if name in {"failure", "cancelled"}:
        return False, rest
    if _UNKNOWN in arguments:
        return _UNKNOWN, rest
    words = ["" if value is None else str(value) for value in arguments]
    match name, words:
        case "startswith", [text, start]:
            return text.lower().startswith(start.lower()), rest
        case "endswith", [text, end]:
            return text.lower().endswith(end.lower()), rest
        case "contains", [text, part] if not isinstance(arguments[0], list):
            return part.lower() in text.lower(), rest
        case "format", [form, *parts]:
            return re.sub(r"\{(\d+)\}", lambda m: parts[int(m[1])] if int(m[1]) < len(parts) else "", form), rest
        case _:
            return _UNKNOWN, rest
