"""What the product replaces of what all programs share, and its own modules that it declares as untyped. Pure."""

import ast
import re
import sys
from collections.abc import Collection, Iterator, Sequence

from noface.data import pattern, table
from noface.integrity.asked_for import words_of
from noface.integrity.form import python_tree
from noface.integrity.judges import Part, part_of
from noface.integrity.tampering import is_code
from noface.integrity.unasked.definitions import language_of
from noface.integrity.unasked.finding import Changed, Ground, Unasked

_LINES_MAX = 10
_LINE_CHARS_MAX = 400
_ABOVE = ("src", "lib", "python", "app", "packages")
_PLACE = re.compile(r"(?:sys\.modules|__builtins__)\['([\w.]+)'\]$")
_STOPS = frozenset({"logging.disable", "sys.settrace", "sys.setprofile"})
_SILENCES = frozenset({"warnings.simplefilter", "warnings.filterwarnings"})
_SETS = frozenset({"setattr", "delattr"})


def measures(files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    """Yield what the product replaces for all that run beside it, and declares as untyped though it is its own."""
    known = {line.strip() for file in files for line in (file.old or b"").decode("utf-8", "replace").split("\n")}
    own, loosened = _own(ground.on_main, files), pattern("unasked", "measures", "loosened", re.MULTILINE)
    said = set(re.findall(r"(?<![\w$.])[\w$]++(?:\.[\w$]++)++", "\n".join(words_of(ground.issue))))
    for file in files:
        if file.new is not None and pattern("unasked", "measures", "checkers").search(file.path):
            lines = [line.strip() for line in file.new.decode("utf-8", "replace").split("\n") if loosened.search(line)]
            if lines := [line for line in lines if line not in known]:
                yield Unasked("untyped", file.path, tuple(lines[:_LINES_MAX]))
        if file.new is None or not is_code(file.path) or part_of(file.path) not in (Part.PRODUCT, Part.SOFT):
            continue
        new = file.new.decode("utf-8", "replace")
        language = language_of(file.path)
        found = _of_python(new, own) if language == "python" else _by_lines(new, language)
        named = (line for line in found if not any(name in line for name in said))
        if lines := [line for line in named if line.strip() not in known]:
            yield Unasked("measures", file.path, tuple(lines[:_LINES_MAX]))
        declared = _untyped(new, own) if language == "javascript" else ()
        if lines := [line for line in declared if line.strip() not in known]:
            yield Unasked("untyped", file.path, tuple(lines[:_LINES_MAX]))


def _own(on_main: Collection[str], files: Sequence[Changed]) -> frozenset[str]:
    """Return the names by which a project's own modules begin: of its folders and files at the top, or in `src`."""
    parts = [path.split("/") for path in (*on_main, *(file.path for file in files))]
    first = {part[0] for part in parts} | {part[1] for part in parts if part[0] in _ABOVE and len(part) > 1}
    return frozenset(name.partition(".")[0] for name in first if name not in _ABOVE)


def _by_lines(text: str, language: str) -> Iterator[str]:
    for line in text.split("\n") if language in table("unasked")["measures"] else ():
        if pattern("unasked", "measures", language).search(line[:_LINE_CHARS_MAX]):
            yield line[:_LINE_CHARS_MAX].strip()


def _untyped(text: str, own: frozenset[str]) -> Iterator[str]:
    for line in text.split("\n"):
        if match := pattern("unasked", "measures", "untyped").search(line[:_LINE_CHARS_MAX]):
            name = match[1].lstrip("@~#/.").partition("/")[0]
            if match[1] == "*" or match[1].startswith((".", "~/", "@/", "#")) or name in own:
                yield line.strip()


def _of_python(text: str, own: frozenset[str]) -> Iterator[str]:
    tree, lines, foreign, things = python_tree(text), text.split("\n"), set[str](), set[str]()
    nodes = [*ast.walk(tree)] if tree is not None else []
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias for alias in node.names if alias.name.partition(".")[0] not in own]
            foreign.update(alias.asname or alias.name.partition(".")[0] for alias in names)
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] not in own:
            names_of = {alias.asname or alias.name for alias in node.names}
            things.update(filter(str.islower, names_of))
            foreign.update(names_of)
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    within = {each for function in functions for each in ast.walk(function)}
    for node in nodes:
        shared = foreign - things if node in within else foreign  # a session, a request: what a function works with
        if isinstance(node, ast.stmt) and (_replaces(node, shared, own) or _within_own(node)):
            yield lines[node.lineno - 1].strip()


def _within_own(node: ast.stmt) -> bool:
    """True if it puts something else in the place of a library that another module has imported: `shop.cart.time`."""
    targets = [each for each in node.targets if isinstance(each, ast.Attribute)] if isinstance(node, ast.Assign) else []
    names = [each.attr for each in targets if _root(each) not in ("self", "cls")]
    return any(name in sys.stdlib_module_names and not name.startswith("_") for name in names)


def _replaces(node: ast.stmt, foreign: Collection[str], own: Collection[str]) -> bool:
    if isinstance(node, ast.Assign):
        return any(
            (isinstance(target, ast.Attribute) and _root(target) in foreign and not name.startswith("sys.std"))
            or ((match := _PLACE.match(name)) is not None and match[1].partition(".")[0] not in own)
            for target in node.targets
            for name in [ast.unparse(target)]
        )
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        name, arguments = ast.unparse(node.value.func), [ast.unparse(each) for each in node.value.args]
        sets = name in _SETS and bool(node.value.args) and _root(node.value.args[0]) in foreign
        return sets or name in _STOPS or (name in _SILENCES and arguments == ["'ignore'"] and not node.value.keywords)
    return False


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
