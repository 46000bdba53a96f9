"""Which functions, classes, routes and keys of settings a file defines: of Python by its tree, else by lines. Pure."""

import ast
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from posixpath import splitext
from typing import Any, NamedTuple

import yaml

from noface.data import pattern, table
from noface.integrity.form import python_tree
from noface.integrity.judges import Part, part_of
from noface.integrity.rubbish import is_generated
from noface.integrity.tampering import is_code
from noface.integrity.unasked.finding import Changed

IMPORTS = re.compile(
    r"\W{0,40}+(?:pub\s)?(?:import|from|exports?|use|using|include|require[ds]?|module|__all__)\b|.{0,400}\brequire\("
)
"""Lines that name what is elsewhere, and call nothing."""
_TESTS_OF_RUST = "#[cfg(test)]"
_PUBLIC = re.compile(r"(?<!\w)(?:export|pub|public)\b")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CLOSES = re.compile(r"\s*(?:[)\]{}]|end\b)")
_ASSIGNED = re.compile(r"(?m)^[ \t]*+(?:export[ \t]++)?([\w.-]+)[ \t]*+[=:]")
_ENVIRONMENT = re.compile(r"\.(ini|cfg|properties|conf|env)$|(^|/)\.?env\.\w+$|(^|/)\.env[\w.]*$")
_DEPTH_MAX = 8
_WITHIN_MAX = 3
_LINE_CHARS_MAX = 400
_WORD_CHARS_MIN = 4


class Definition(NamedTuple):
    """What has a name: its first line, and those of its lines that say something, without its docstring."""

    name: str
    head: str
    body: tuple[str, ...]


def telling(lines: list[str]) -> tuple[str, ...]:
    stripped = (line.strip() for line in lines)
    return tuple(line for line in stripped if len(line) >= _WORD_CHARS_MIN and re.search(r"\w", line))


def language_of(path: str) -> str:
    language = next((name for name, ends in table("languages").items() if splitext(path)[1] in ends), "")
    return str(table("unasked")["alike"].get(language, language))


class Text:
    """A changed file's texts before and after, "" of a file that is not there."""

    def __init__(self, file: Changed) -> None:
        self.path, self.both = file.path, file.old is not None and file.new is not None
        texts = [(data or b"").decode("utf-8", "replace") for data in (file.old, file.new)]
        own = (text.partition(_TESTS_OF_RUST)[0] for text in texts) if file.path.endswith(".rs") else texts
        self.old, self.new = own
        self.product = part_of(file.path) in (Part.PRODUCT, Part.SOFT)

    @cached_property
    def gained(self) -> Counter[str]:
        return self._lines[1] - self._lines[0]

    @property
    def lost(self) -> Counter[str]:
        return self._lines[0] - self._lines[1]

    @cached_property
    def _lines(self) -> tuple[Counter[str], Counter[str]]:
        return Counter(telling(self.old.split("\n"))), Counter(telling(self.new.split("\n")))


def texts_of(files: Sequence[Changed]) -> list[Text]:
    """Return the texts of what people write: no links, no submodules, nothing that programs write."""
    return [Text(file) for file in files if file.new_mode[:2] != "12" and not is_generated(file.path)]


def defines(path: str) -> bool:
    return is_code(path) or language_of(path) in table("unasked")["definitions"]


@lru_cache(maxsize=256)
def definitions(path: str, text: str) -> dict[str, Definition] | None:
    """Return what a file of code defines, by name: functions, classes and their methods, routes. None: unreadable."""
    language = language_of(path)
    if language == "python":
        tree = python_tree(text)
        if tree is None:
            return None
        found = _of_python(tree, text.split("\n"))
    else:
        text = text.partition(_TESTS_OF_RUST)[0] if language == "rust" else text
        found = _by_lines(language, text) if language in table("unasked")["definitions"] else iter(())
    result: dict[str, Definition] = {}
    for one in (*_routes(text), *found):  # a path with two methods, an overload, a property with its setter
        twin = result.get(one.name)
        result[one.name] = one if twin is None else twin._replace(body=(*twin.body, one.head, *one.body))
    return result


def _of_python(tree: ast.Module, lines: list[str]) -> Iterator[Definition]:
    for node in tree.body:
        for one in (node, *(node.body if isinstance(node, ast.ClassDef) else ())):
            if isinstance(one, (*_FUNCTIONS, ast.ClassDef)):
                documented = len(one.body) > 1 and ast.get_docstring(one) is not None
                head, start = lines[one.lineno - 1].strip(), one.body[documented].lineno - 1
                while lines[start - 1].strip().startswith("#"):
                    start -= 1
                yield Definition(one.name, head, telling(lines[start : one.end_lineno]))
        if isinstance(node, ast.Assign):
            names = (target.id for target in node.targets if isinstance(target, ast.Name) and target.id.isupper())
            yield from (Definition(name, lines[node.lineno - 1].strip(), ()) for name in names)


def _by_lines(language: str, text: str) -> Iterator[Definition]:
    begins, open_ = pattern("unasked", "definitions", language), list[tuple[int, str, str, list[str]]]()
    for line in (each[:_LINE_CHARS_MAX] for each in text.split("\n")):
        depth = len(line) - len(line.lstrip())
        while open_ and line.strip() and depth <= open_[-1][0] and not (depth == open_[-1][0] and _CLOSES.match(line)):
            _, name, head, body = open_.pop()
            yield Definition(name, head, telling(body))
        for each in open_:
            each[3].append(line)
        match = begins.search(line) if depth <= _DEPTH_MAX and len(open_) < _WITHIN_MAX else None
        if match is not None:
            open_.append((depth, next(filter(None, match.groups())), line.strip(), []))
    yield from (Definition(name, head, telling(body)) for _, name, head, body in open_)


def _routes(text: str) -> Iterator[Definition]:
    for line in text.split("\n"):
        for match in pattern("unasked", "definitions", "routes").finditer(line[:_LINE_CHARS_MAX]):
            yield Definition(next(filter(None, match.groups()), ""), line.strip(), ())


def exported(path: str, text: str) -> frozenset[str]:
    """Return the names that a file of code shows to others: what its heads call public, and its lists of exports."""
    heads = (each.name for each in (definitions(path, text) or {}).values() if _PUBLIC.search(each.head))
    keys = ("exports", "shown") if path.endswith("__init__.py") else ("exports",)
    found = (match for key in keys for match in pattern("unasked", "definitions", key).finditer(text))
    lists = (each for match in found for each in match.groups())
    return frozenset((*heads, *re.findall(r"[A-Za-z_$][\w$]*", " ".join(filter(None, lists)))))


def keys_of(path: str, text: str) -> frozenset[tuple[str, ...]] | None:
    """Return the keys of a file of settings, each with those that it stands below. None: there are none to read."""
    try:
        if path.endswith(".json"):
            value = json.loads(text)
        elif path.endswith(".toml"):
            value = tomllib.loads(text)
        elif path.endswith((".yml", ".yaml")):
            value = [*yaml.load_all(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))]
        else:
            found = _ASSIGNED.findall(text) if _ENVIRONMENT.search(path) else None
            return frozenset((key,) for key in found) if found is not None else None
    except (ValueError, yaml.YAMLError, RecursionError):
        return None
    return frozenset(_keys(value, ()))


def _keys(value: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield (*above, str(key))
            yield from _keys(each, (*above, str(key)))
    elif isinstance(value, list):
        for each in value:
            yield from _keys(each, above)
