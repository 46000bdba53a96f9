"""Finds the conditions of JavaScript and Go that ask for nothing that a caller gave, by tokens. Pure.

It is what `surroundings` does for Python, with what a lexer tells: functions with their parameters, what names are
set to, and heads of `if` and `while`, conditional expressions and operands. What is not understood counts as given.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from noface.data import table
from noface.integrity.lexing import pieces
from noface.integrity.surroundings import COUNTED, GIVEN, Condition, switches

LEXED = (".js", ".cjs", ".mjs", ".go")
_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}", "${": "}"}, {")", "]", "}"}
_HEADS = frozenset({"if", "while", "for", "switch", "catch", "with", "function", "func", "return"})
_SET = frozenset({"=", ":=", "+=", "-=", "*=", "/=", "%=", "||=", "&&=", "??=", "|=", "of", "in", "range"})
_ENDS = frozenset({";", ",", ")", "]", "}", ":", "?"})
_STOPS = frozenset({"=", "(", "[", "{", ",", ";", "return", "=>", ":", "?", ":=", "&&", "||", "${", "}", "+=", "if"})
_ASKING = re.compile(r"\b(?:if|while)\b|&&|\|\||\?")
_LINE_CHARS_MAX = 2_000
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_PROJECT = re.compile(r"""^["'`](?:\.|[\w-]+\.[\w.-]+/)""")
_STEPS_MAX = 20_000
_TOKENS_MAX = 50_000


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    at: int
    line: int
    is_name: bool
    is_string: bool


@dataclass(frozen=True, slots=True)
class _Function:
    """A function by its tokens: its parameters from `head` on, its body from `start` to `end`, its name if any."""

    head: int
    start: int
    end: int
    params: frozenset[str]
    name: str = ""


@dataclass(slots=True)
class _Code:
    """A text as tokens; what its names are set to, by the function that does it (-1: none), as ranges of tokens."""

    path: str
    tokens: list[_Token]
    pairs: dict[int, int] = field(default_factory=dict)
    opened: dict[int, int] = field(default_factory=dict)
    blocks: dict[int, int] = field(default_factory=dict)
    functions: list[_Function] = field(default_factory=list)
    values: dict[tuple[int, str], list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    words: dict[str, str] = field(default_factory=dict)
    counted: set[str] = field(default_factory=set)

    @property
    def go(self) -> bool:
        """True for Go."""
        return self.path.endswith(".go")

    def text(self, at: int) -> str:
        """Return a token's text, "" beyond the end."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def owner(self, at: int) -> int:
        """Return the innermost function that a token is in, -1 if it is in none."""
        inside = [n for n, each in enumerate(self.functions) if each.start <= at < each.end]
        return max(inside, key=lambda n: self.functions[n].start, default=-1)

    def around(self, at: int) -> list[int]:
        """Return the functions that a token is in, the innermost first, and -1."""
        inside = [n for n, each in enumerate(self.functions) if each.start <= at < each.end]
        return [*sorted(inside, key=lambda n: -self.functions[n].start), -1]


def lexed_conditions(
    path: str, text: str, others: Mapping[str, str] | None = None, lines: Collection[int] | None = None
) -> tuple[Condition, ...]:
    """Return the conditions of a text that ask for their surroundings alone, as `surroundings.conditions` does."""
    rows = text.split("\n")
    if lines is not None and not any(_ASKING.search(rows[line - 1][:_LINE_CHARS_MAX]) for line in lines):
        return ()
    code = _read(path, text)
    ending = path.rpartition(".")[2]
    beside = [_read(name, each) for name, each in (others or {}).items() if name != path and name.endswith(ending)]
    result = []
    for start, end, then in _heads(code):
        token = code.tokens[start]
        if lines is None or token.line in lines:
            asks = _asked(code, beside, start, end)
            if asks:
                words = " ".join(text[token.at : code.tokens[end - 1].at + len(code.text(end - 1))].split())
                where = code.tokens[then].at + (code.go and code.text(then) == "{")
                place = (token.line, token.at, where, 0)
                result.append(Condition(path, place, words[:120], asks, token.at, where))
    return tuple(result)


def _asked(code: _Code, beside: list[_Code], start: int, end: int) -> frozenset[str]:
    """Return what a condition asks outside; nothing if anything in it is given. Of Go one operand of several counts."""
    asks = frozenset[str]()
    for first, last in _operands(code, start, end) if code.go else [(start, end)]:
        origins = _origins(code, beside, first, last)
        asks |= {each for each in origins if GIVEN not in origins and not each.startswith(switches())}
    return asks


@cache
def _pure() -> frozenset[str]:
    return frozenset(table("integrity")["surroundings"]["pure"])


def _read(path: str, text: str) -> _Code:
    from pygments.token import Comment, Keyword, Name, String

    tokens: list[_Token] = []
    for piece in pieces(path, text):
        if len(tokens) >= _TOKENS_MAX:
            return _Code(path, [])
        words = piece.text.strip()
        if words and not piece.is_a(Comment):
            is_string = piece.is_a(String) and words not in ("${", "}")
            named = piece.is_a(Name, Keyword.Constant) or (piece.is_a(Keyword) and words in ("this", "self"))
            tokens.append(_Token(words, piece.start + piece.text.index(words), piece.line, named, is_string))
    code = _Code(path, tokens)
    open_ = []
    for at, token in enumerate(tokens):
        if token.text in _OPEN and not token.is_string:
            open_.append(at)
        elif token.text in _CLOSE and not token.is_string and open_:
            code.pairs[open_.pop()] = at
    code.opened = {close: start for start, close in code.pairs.items()}
    code.functions = list(_functions(code))
    code.blocks = dict(_blocks(code))
    _note_values(code)
    return code


def _functions(code: _Code) -> Iterator[_Function]:
    for at, token in enumerate(code.tokens):
        if token.text == "=>" and not code.go:
            before = code.opened.get(at - 1, at - 1)
            end = code.pairs.get(at + 1, -1) if code.text(at + 1) == "{" else _end(code, at + 1)
            name = code.text(before - 2) if code.text(before - 1) == "=" else ""
            yield _Function(before, at + 1, end if end > 0 else at + 1, _names(code, before, at), name)
        elif token.text == "(" and at in code.pairs and not code.go:
            close, named = code.pairs[at], code.text(at - 1)
            if code.text(close + 1) == "{" and named not in _HEADS - {"function", "catch"}:
                yield _Function(at, close + 1, code.pairs.get(close + 1, close), _names(code, at, close), named)
        elif token.text == "func" and code.go:
            first = at + 1
            word, receiver = code.text(first), frozenset[str]()
            if word == "(" and code.text(code.pairs.get(first, first) + 2) == "(":
                receiver = _names(code, first, code.pairs[first])
                first = code.pairs[first] + 1
                word = code.text(first)
            first += code.text(first) != "("
            close = code.pairs.get(first, first)
            body = close + 1
            while code.text(body) not in ("{", "", ";") and body < close + 30:
                body = code.pairs.get(body, body) + 1 if code.text(body) == "(" else body + 1
            if code.text(body) == "{" and body in code.pairs:
                yield _Function(at, body, code.pairs[body], _names(code, first, close) | receiver, word)


def _names(code: _Code, start: int, end: int) -> frozenset[str]:
    return frozenset(t.text for t in code.tokens[max(start, 0) : end] if _NAME.fullmatch(t.text) and not t.is_string)


def _end(code: _Code, start: int) -> int:
    """Return where an expression ends: at what closes it, or with its line if that does not go on."""
    at, goes_on = start, re.compile(r"[-+*/%<>=&|?:.,(\[{]$|^(?:of|in|range)$")
    while at < len(code.tokens):
        token = code.tokens[at]
        if token.text in _ENDS - {":", "?"} and not token.is_string:
            break
        if (
            at > start
            and token.line > code.tokens[at - 1].line
            and not (goes_on.search(code.text(at - 1)) or re.match(r"[.?:&|+*]", token.text))
        ):
            break
        if code.go and token.text == "{" and code.tokens[at - 1].is_name is False:
            break
        at = code.pairs.get(at, at) + 1
    return at


def _note_values(code: _Code) -> None:
    """Note what names are set to or hold, what decides about it, and which names come from elsewhere."""
    blocks = [(body, code.pairs[body], at, body) for at, body in code.blocks.items()]
    changes: list[tuple[int, tuple[int, int]]] = []
    for at, token in enumerate(code.tokens):
        if token.text in ("var", "let") and code.text(at + 2) != "=":
            code.values[code.owner(at), code.text(at + 1)].append((at, at))
        elif token.text in _SET and not token.is_string and at:
            value = (at + 1, _end(code, at + 1))
            target = at - 1
            if token.text == "range" and code.text(at - 1) in (":=", "="):
                target = at - 2
            start = _start(code, target)
            if code.text(start + 1) in (".", "[", "?.") and start != target:
                changes.append((target, value))
                continue
            declared = code.text(start - 1) in ("const", "let", "var", "static") or token.text == ":="
            for name in _targets(code, target):
                _set(code, name, at, value, blocks, declared=declared)
        elif token.text in ("++", "--"):
            for name in _targets(code, at - 1):
                _set(code, name, at, (at, at), blocks)
        elif token.text == "(" and code.text(at - 2) == "." and code.tokens[at - 1].is_name and at in code.pairs:
            changes.append((at - 3, (at + 1, code.pairs[at])))
        elif token.is_string and code.go and token.text.startswith('"') and _in_import(code, at):
            name = code.text(at - 1) if code.tokens[at - 1].is_name else token.text.strip('"').rpartition("/")[2]
            code.words[name] = GIVEN if _PROJECT.match(token.text) else name
        elif token.text in ("require", "from") and not code.go:
            source = next((t.text for t in code.tokens[at + 1 : at + 3] if t.is_string), "")
            first = at - 2 if token.text == "require" else at - 1
            for name in _targets(code, first) if source else ():
                word = source.strip("\"'`").removeprefix("node:")
                code.words[name] = GIVEN if _PROJECT.match(source) else word

    for at, value in changes:  # of what the code has itself: a call on a module from elsewhere changes nothing of it
        for name in _targets(code, at):
            if name not in code.words and any((n, name) in code.values for n in code.around(at)):
                _set(code, name, at, value, blocks)


def _in_import(code: _Code, at: int) -> bool:
    before = at
    while before > 0 and (code.tokens[before].is_string or code.tokens[before].is_name):
        before -= 1
    return code.text(before) in ("import", "(") and "import" in (code.text(before), code.text(before - 1))


def _blocks(code: _Code) -> Iterator[tuple[int, int]]:
    """Yield the heads of what decides whether a block is run, and where the block begins."""
    for at, token in enumerate(code.tokens):
        if token.text in ("if", "while", "for", "switch") and not token.is_string:
            body = at + 1
            while code.text(body) not in ("{", "", ";") or (code.go and code.text(body) == ";"):
                body = code.pairs.get(body, body) + 1 if code.text(body) in ("(", "[") else body + 1
                if body > at + 200 or body >= len(code.tokens):
                    break
            if code.text(body) == "{" and body in code.pairs:
                yield at, body


def _start(code: _Code, at: int) -> int:
    """Return where a chain of properties and items that ends at a token begins, or a pattern of names."""
    while at > 0:
        if code.text(at) in ("]", "}"):
            at = code.opened.get(at, at)
            if code.text(at) == "{" or not (code.tokens[at - 1].is_name or code.text(at - 1) == "]"):
                return at
            at -= 1
        elif code.text(at - 1) in (".", "?.") or (code.text(at - 1) == "," and code.go):
            at -= 2
        else:
            return at
    return at


def _targets(code: _Code, at: int) -> frozenset[str]:
    start = _start(code, at)
    if code.text(start) in ("{", "[") or code.go:
        return _names(code, start, at + 1)
    return _names(code, start, start + 1)


def _set(
    code: _Code,
    name: str,
    at: int,
    value: tuple[int, int],
    blocks: list[tuple[int, int, int, int]],
    *,
    declared: bool = False,
) -> None:
    owner = code.owner(at)
    known = [n for n in code.around(at) if (n, name) in code.values or (n >= 0 and name in code.functions[n].params)]
    place = owner if declared or not known else known[0]
    code.values[place, name].append(value)
    if place >= 0:
        inside = [block for block in blocks if block[0] <= at < block[1]]
        code.values[place, name] += [(head + 1, body) for _, _, head, body in inside if code.owner(head) == owner]
    elif owner >= 0:
        code.counted.add(name)


def _origins(code: _Code, beside: list[_Code], start: int, end: int) -> frozenset[str]:
    """Return where the values of a range of tokens come from, as `_Flow.origins` does."""
    names = set[str]()
    left: list[tuple[_Code, int, int, bool]] = [(code, start, end, False)]
    seen = set[tuple[int, int, int, bool]]()
    steps = 0
    while left:
        where, first, last, own = left.pop()
        key = (id(where), first, last, own)
        if key in seen:
            continue
        seen.add(key)
        for at in range(first, min(last, len(where.tokens))):
            steps += 1
            if steps > _STEPS_MAX:
                return frozenset({GIVEN})
            token = where.tokens[at]
            if token.is_name and not token.is_string and where.text(at - 1) not in (".", "?."):
                for each in _of_name(where, beside, at, (first, last), own=own):
                    if isinstance(each, str):
                        names.add(each)
                    else:
                        left.append(each)
        if GIVEN in names:
            return frozenset({GIVEN})
    return frozenset(names)


def _of_name(
    code: _Code, beside: list[_Code], at: int, within: tuple[int, int], *, own: bool
) -> Iterator[str | tuple[_Code, int, int, bool]]:
    name = code.text(at)
    if name in ("this", "self", "arguments"):
        yield GIVEN
        return
    if code.text(at + 1) == ":" and code.text(at - 1) in ("{", ","):
        return  # a key
    if any(each.head <= at < each.start for each in code.functions):
        return  # a parameter's own place
    for function in code.around(at):
        if function >= 0 and name in code.functions[function].params:
            inside = within[0] <= code.functions[function].start <= within[1]  # a callback's: of what calls it
            yield from () if own or inside else (GIVEN,)
            return
        if (function, name) in code.values and not (name in code.words and function < 0):
            yield from ((code, *value, own) for value in code.values[function, name])
            if function < 0 and name in code.counted:
                yield f"{COUNTED}{name}"
            yield from _of_functions(code, name)
            return
    word = code.words.get(name)
    if word is not None and word != GIVEN:
        yield f"{word}.{code.text(at + 2)}" if code.text(at + 1) == "." else word
        return
    defined = [*_of_functions(code, name)] or [each for other in beside for each in _of_functions(other, name)]
    if defined:
        yield from defined
    elif word == GIVEN or name not in _pure() | _global_names(code.go):
        yield GIVEN
    elif f"{name}.{code.text(at + 2)}" in ("Math.random", "performance.now") or name not in _pure():
        yield f"{name}.{code.text(at + 2)}" if code.text(at + 1) == "." else name


@cache
def _global_names(go: bool) -> frozenset[str]:
    return frozenset(table("integrity")["surroundings"]["go" if go else "node"])


def _of_functions(code: _Code, name: str) -> Iterable[tuple[_Code, int, int, bool]]:
    """Yield the bodies of the functions of a name: what they take from elsewhere than their parameters."""
    return ((code, each.start, each.end, True) for each in code.functions if each.name == name)


def _operands(code: _Code, start: int, end: int) -> Iterator[tuple[int, int]]:
    first = start
    for at in range(start, end):
        if code.text(at) in ("&&", "||"):
            yield first, at
            first = at + 1
    yield first, end


def _heads(code: _Code) -> Iterator[tuple[int, int, int]]:
    """Yield conditions as ranges of tokens, and the token at which it goes on if they hold, or may."""
    for at, token in enumerate(code.tokens):
        if token.is_string:
            continue
        if code.go and token.text == "if":
            body = code.blocks.get(at)
            if body is not None:
                semicolons = [n for n in range(at, body) if code.text(n) == ";"]
                yield (semicolons[-1] if semicolons else at) + 1, body, body
        elif not code.go and token.text in ("if", "while") and code.text(at + 1) == "(":
            close = code.pairs.get(at + 1, at + 2)
            operands = list(_operands(code, at + 2, close))
            if close + 1 < len(code.tokens) and len(operands) == 1:
                yield at + 2, close, close + 1
            elif close + 1 < len(code.tokens):
                yield operands[-1][0], close, close + 1
        elif not code.go and token.text in ("?", "&&", "||") and at + 1 < len(code.tokens):
            start = at - 1
            while start > 0 and code.text(start - 1) not in _STOPS:
                start = code.opened.get(start, start) - 1 if code.text(start) in _CLOSE else start - 1
            if code.text(start) in _CLOSE:
                start = code.opened.get(start, start)
                while start > 0 and code.text(start - 1) not in _STOPS:
                    start -= 1
            yield start, at, at + 1
