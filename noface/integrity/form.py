"""Tells a change of a file's form from one of what it says: the file laid out anew. Pure and total.

Two things must hold. Without blanks, quotes and what else formatters add and remove the texts are the same, so that no
word differs, in comments neither. And their language says that the rest means nothing: the tree of Python, the values
of JSON and TOML, the tokens of languages with braces, where the end of a line may end a statement. Of other files
only the white space is compared, and of those in which blanks say something the ends of their lines alone.
"""

import ast
import json
import re
import warnings

from noface.data import pattern
from noface.diagnosis.syntax import parse_toml
from noface.integrity.lexing import parsed

_BARE = re.compile(r"\w+|[^\w\s'\",;()\\]")
_NAME = "noface-reformatted-source"
_UNREADABLE = (ValueError, SyntaxError, RecursionError, MemoryError, OverflowError)
_PARSED = {"py": "python", "pyi": "python", "json": "json", "toml": "toml"}


def same_but_for_form(path: str, old: bytes, new: bytes) -> bool:
    """True if two contents of a file say the same. False for what is no text, or cannot be read."""
    before, after = _text(old), _text(new)
    return _bare(before) == _bare(after) and _same(meaning(path, before), meaning(path, after))


def same_but_for_comments(path: str, old: bytes, new: bytes) -> bool:
    """True if two contents of a file of code differ in comments and docstrings alone, or in less."""
    if _names("commented").search(path) is None:
        return False
    before, after = (meaning(path, _text(data), documented=False) for data in (old, new))
    return _same(before, after)


def _same(before: object, after: object) -> bool:
    return before is not None and before == after


def changed_beside_form(old: bytes, new: bytes) -> int:
    """Return how many characters lie between the first and the last that differ when form is left out of account."""
    before, after = (_bare(_text(data)) for data in (old, new))
    most = min(len(before), len(after))
    same = next((at for at in range(most) if before[at] != after[at]), most)
    end = next((at for at in range(most - same) if before[-1 - at] != after[-1 - at]), most - same)
    return max(len(before), len(after)) - same - end


def meaning(path: str, text: str, *, documented: bool = True) -> object:
    """Return what a file's text says beside its comments, None if that is unknown; docstrings only if `documented`."""
    if "\0" in text:
        return None
    try:
        match _PARSED.get(path.rpartition(".")[2].lower()):
            case "python":
                return _tree(text, documented=documented)
            case "json":
                return json.loads(text, object_pairs_hook=tuple, parse_float=repr)
            case "toml":
                return json.dumps(parse_toml(text), default=repr)
            case _:
                pass
    except _UNREADABLE:
        return None
    kind = next((kind for kind in _TOKENS if _names(kind).search(path)), None)
    if kind is None or (kind == "scripts" and _names("markup_within").search(text)):
        return _laid_out(path, text)
    return _tokens(text, kind)


def _names(key: str) -> re.Pattern[str]:
    return pattern("integrity", "form", key, re.MULTILINE)


def _text(data: bytes) -> str:
    """Return a file's text, in which what is not UTF-8 is kept apart; lines end with a newline."""
    return data.decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n")


def _bare(text: str) -> str:
    """Return a text's words and signs, without what formatters add and remove."""
    return " ".join(_BARE.findall(text))


def _tree(text: str, *, documented: bool) -> str:
    """Return Python's syntax tree; how a docstring is indented says nothing."""
    warnings.filterwarnings("ignore", module=_NAME)
    tree = parsed(text, f"{_NAME}.py")
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            if ast.get_docstring(node) is None:
                node.body.insert(0, ast.Expr(ast.Constant("")))
            lines = (ast.get_docstring(node) or "").splitlines() if documented else ()
            node.body[0] = ast.Expr(ast.Constant("\n".join(map(str.rstrip, lines))))
    return ast.dump(tree)


# What is not closed ends with the text, or with its line: else each of many beginnings would be read to there.
_BLANK = r"(?P<blank>\s+|//[^\n]*|/\*.*?(?:\*/|\Z))"
_STRING = r'(?P<string>"""(?:\\.|[^\\])*?(?:"""|\Z)|r(?P<fence>#+)".*?(?:"(?P=fence)|\Z)|@?"(?:\\.|[^"\\\n])*+"?'
_SIGNS = r"|(?P<sign>\w+|\+\+|--|&&|\|\||\?\?|\?\.|=>|->|::|\*\*|[=!]==?|[-+*/%&|^<>]=|\.\.\.|<<|>>|.)"
_LETTER = r"'(?:\\[^'\n]+|[^'\\\n])'"
_DIRECTIVE = r"^[ \t]*\#[ \t]*[a-z](?:\\\n|[^\n])*"
_TOKENS = {
    "statements": rf"{_BLANK}|{_STRING}|{_LETTER}|{_DIRECTIVE}){_SIGNS}",
    "lines": rf"{_BLANK}|{_STRING}|`[^`]*(?:`|\Z)|{_LETTER}){_SIGNS}",
    "scripts": rf"{_BLANK}|{_STRING}|'(?:\\.|[^'\\\n])*+'?|`(?:\\.|[^`\\])*(?:`|\Z)){_SIGNS}",
}
"""Languages with braces: statements end with a semicolon, with a line, or with either as JavaScript has it."""
_REGEX = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*+\]?|[^/\\\[\n])*+/?\w*")
_PLAIN = re.compile(r"'([^'\"\\]*)'")
_GOES_ON = re.compile(r"[.,;)\]}?:*%=<>&|^(\[`/]|!=|[-+](?![-+])|(?:instanceof|in)\Z")
_NO_VALUE = frozenset(("typeof", "case", "in", "of", "do", "else", "void", "delete", "throw", "new"))
_HEADS = frozenset(("if", "for", "while", "with"))
_CLOSES = {")": "(", "]": "[", "}": "{"}


def _tokens(text: str, kind: str) -> list[str]:
    """Return the tokens of a language with braces; if a line's end ends a statement it is a semicolon."""
    token = re.compile(_TOKENS[kind], re.DOTALL | re.MULTILINE)
    result: list[str] = []
    brackets: list[tuple[str, bool]] = []
    last, at, broken = "", 0, False
    while at < len(text):
        slash = kind == "scripts" and text[at] == "/" and (last == "return" or not _is_value(last))
        match = (_REGEX.match(text, at) if slash else None) or token.match(text, at)
        if match is None:
            return [text]
        at, word = match.end(), match[0]
        if match.lastgroup == "blank":
            broken = broken or "\n" in word
            continue
        stands_in_braces = not brackets or brackets[-1][0] == "{"
        goes_on = kind == "statements" or (kind == "scripts" and _GOES_ON.match(word) is not None)
        if broken and stands_in_braces and _is_value(last) and not goes_on:
            _put(result, ";", kind)
        _put(result, word, kind)
        broken, before, last = False, last, word
        if word in _CLOSES.values():
            brackets.append((word, before in _HEADS))
        elif word in _CLOSES and brackets and brackets.pop()[1]:
            last = ""  # what follows is the statement of this head
    return result[:-1] if result[-1:] == [";"] and kind != "statements" else result


def _is_value(word: str) -> bool:
    """True if a statement, or a value, can end with a token."""
    if word in _NO_VALUE:
        return False
    return word[-1:].isalnum() or word[-1:] in tuple("_$)]'\"`") or word in ("++", "--") or (word[:1] == "/" != word)


def _put(words: list[str], word: str, kind: str) -> None:
    """Add a token; take out what formatters add and remove before it."""
    last = words[-1] if words else ""
    if kind != "statements":
        if word == ";" and last in (";", "{", ""):
            return
        if last == ";" and (word == "}" or (words[-2:-1] == ["}"] and not _GOES_ON.match(word))):
            words.pop()
    if kind == "scripts":
        word = _PLAIN.sub(r'"\1"', word) if word[0] == "'" else word
        if word == "=>" and words[-1:] == [")"] and words[-3:-2] == ["("] and words[-2].isidentifier():
            words[-3:] = [words[-2]]
    may_trail = word in _CLOSES and (word != ")" or kind == "scripts")
    if may_trail and words[-1:] == [","] and words[-2:-1] not in ([","], [_CLOSES[word]]):
        words.pop()
    words.append(word)


_INSIDE = re.compile(r"(?<![^\s])\s+|\s+(?=\W)|(?<=\W)\s+")
_QUOTES = ('"', "'", "`", "//", "#")


def _laid_out(path: str, text: str) -> list[str]:
    """Return what the lines say: without blank ones, and without blanks that mean nothing."""
    lines = text.rstrip("\n").split("\n")
    if "<<" in text or _names("exact").search(path):
        return lines
    indented, markup = _names("indented").search(path) is not None, _names("markup").search(path) is not None
    return [_squeezed(line, indented=indented, markup=markup) for line in lines if line.strip()]


def _squeezed(line: str, *, indented: bool, markup: bool) -> str:
    text = line.rstrip()
    body = text.lstrip()
    indent = text[: len(text) - len(body)] if indented else ""
    if markup or text.endswith("\\") or any(mark in body for mark in _QUOTES):
        return indent + (" ".join(body.split()) if markup else body + line[len(text) :] * text.endswith("\\"))
    return indent + _INSIDE.sub("", " ".join(body.split()))
