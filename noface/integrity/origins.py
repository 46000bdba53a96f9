"""Where the names come from that a file of tests uses: the product, the tests themselves, or outside the tree. Pure.

Imports are read as text (Python, JavaScript, Go, Rust); in languages that find a class by its file's name, so is it
here. What leads nowhere is left open, so that nothing is said of it.
"""

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

from noface.integrity.judges import Part, part_of
from noface.integrity.strength import Body, bodies
from noface.integrity.tampering import is_code
from noface.integrity.uses import uses_code, word_of

SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
_BY_NAME = (".java", ".kt", ".cs", ".rb", ".php", ".swift", ".scala")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_FROM = re.compile(r"^from[ \t]++([.\w]++)[ \t]++import[ \t]++(?:\(([^()]{0,4000}+)\)|([^\n(]{1,2000}+))", re.MULTILINE)
_IMPORT = re.compile(r"^import[ \t]++([\w., ]{1,400}+)", re.MULTILINE)
_OF_SCRIPT = re.compile(r"""^import\b((?:[^'"`;\n]|\n(?!import\b)){1,4000}+)["']([^'"\n]{1,300}+)["']""", re.MULTILINE)
_REQUIRED = re.compile(
    r"^(?:(?:const|let|var)[ \t]++)?+([\w$]{1,100}+|\{[^{}]{0,2000}+\})[ \t]*+=[ \t]*+(?:await[ \t]++)?+"
    r"""(?:require|import)\([ \t]*+["']([^'"\n]{1,300}+)["'][ \t]*+\)(?:\.(\w{1,100}+))?+""",
    re.MULTILINE,
)
_DYNAMIC = re.compile(r"""\b(?:import|require)\([ \t]*+['"]([^'"\n]{1,300}+)['"][ \t]*+\)""")
_OF_GO = re.compile(r'^(?:import[ \t]++)?+(?:([\w.]{1,100}+)[ \t]++)?+"([^"\s]{1,300}+)"$', re.MULTILINE)
_OF_RUST = re.compile(
    r"^(?:pub[ \t]++)?+use[ \t]++(?:::)?+(\w{1,100}+)((?:[^;\n]|\n(?!use\b|pub\b)){0,4000}+);", re.MULTILINE
)
_MOD = re.compile(r"^(?:pub[ \t]++)?+mod[ \t]++(\w{1,100}+)[ \t]*+;", re.MULTILINE)
_PACKAGE = re.compile(r"^package[ \t]++(\w{1,100}+)", re.MULTILINE)
_NAMED = re.compile(r"""^[ \t{]{0,20}+"?name"?[ \t]{0,9}+[:=][ \t]{0,9}+["']([^"'\n]{1,200}+)["']""", re.MULTILINE)
_MODULE = re.compile(r"^module[ \t]++([^\s]{1,300}+)", re.MULTILINE)
_DEFINES = re.compile(
    r"(?:(?:export|default|pub|abstract|public|static|final|declare|data|async)[ \t]++){0,4}+"
    r"(?:class|struct|enum|trait|interface|type|const|let|var|macro_rules!|object|module|def|function)[ \t]++([\w$]++)"
    r"|([\w$]{1,200}+)(?:[ \t]*+:[^=\n]{1,200}+)?+[ \t]*+:?=(?!=)"
)
_ASSERTION = re.compile(r"\b(?:def|void|fun|func|function)[ \t]++(assert\w*+|failUnless\w*+)")
_IN_GO = re.compile(r"^(?:func|type|var|const)[ \t]++([A-Za-z_]\w*+)(?=[\[( =])", re.MULTILINE)
_MANIFESTS_MAX = 50
_CALLER = re.compile(r"(?:await[ \t]++)?+([\w$]++)(?:\.\w++)*+\(.*=>")
_PACKAGE_OF_PYTHON = re.compile(r"(?:src/|lib/|python/)?+(\w++)/__init__\.py")
_IMPORTS = re.compile(r"(?:from|import)\b")
_VERSION = re.compile(r"v\d+")


S = TypeVar("S")
V = TypeVar("V")
Ts = TypeVarTuple("Ts")


class OriginKind(Enum):
    """What a name belongs to."""

    PRODUCT = 1
    TESTS = 2
    OUTSIDE = 3


@dataclass(frozen=True, slots=True)
class NameOrigin:
    """Where a name comes from: the file, "" if that is not known, and its name there, "" for the whole file."""

    kind: OriginKind
    path: str = ""
    name: str = ""


_bodies = lru_cache(maxsize=1024)(bodies)
OUTSIDE = NameOrigin(OriginKind.OUTSIDE)


def words(lines: Iterable[str]) -> frozenset[str]:
    """Return the names in lines of code."""
    return frozenset(_WORD.findall("\n".join(lines)))


def remembered(method: Callable[[S, *Ts], V]) -> Callable[[S, *Ts], V]:
    """Have an object ask a method of its own once for the same arguments."""
    name = f"_{method.__name__}_known"

    @wraps(method)
    def asked(self: S, /, *args: *Ts) -> V:
        known = vars(self).setdefault(name, {})
        if args not in known:
            known[args] = method(self, *args)
        result: V = known[args]
        return result

    return asked


class Side:
    """A tree, main's or the change's: its paths and how a file of it is read.

    `new` are the files that the change adds, `others` the code it touches. A new file that nothing of that uses is no
    part of the product, whatever it is called.
    """

    def __init__(
        self, paths: frozenset[str], read: Callable[[str], str], new: Collection[str] = (), others: Collection[str] = ()
    ) -> None:
        self.paths, self.read, self.new, self.others = paths, read, new, others
        self._names: dict[str, dict[str, NameOrigin]] = {}

    @remembered
    def bodies(self, path: str) -> dict[tuple[str, ...], Body]:
        """Return the bodies of a file."""
        return _bodies(path, self.read(path)) if path in self.paths else {}

    @remembered
    def kind(self, path: str) -> OriginKind:
        """Tell what a file of code belongs to."""
        if part_of(path) is Part.TEST:
            return OriginKind.TESTS
        users = (other for other in self.others if other in self.paths and part_of(other) is not Part.TEST)
        used = path not in self.new or any(uses_code(each, self.read(each), path) for each in users)
        return OriginKind.PRODUCT if used else OriginKind.TESTS

    def names(self, path: str) -> dict[str, NameOrigin]:
        """Return the names that each body of a file has: what is imported, and what stands there; of fixtures, too."""
        if path not in self._names:
            self._names[path] = {}  # files import each other
            rest = "\n".join(line for _, line in self._rest(path))
            named = dict(self._beside(path, rest))
            named |= dict(self.imported(path, rest))
            named |= {name: NameOrigin(OriginKind.TESTS, path, name) for name in self._defined(path)}
            self._names[path] = named
        return self._names[path]

    @remembered
    def fixtures(self, path: str) -> dict[str, NameOrigin]:
        """Return what a test of Python may be given by its name: functions of its file and of the conftests above."""
        own = {name: NameOrigin(OriginKind.TESTS, path, name) for name in self._defined(path)}
        return {**dict(self._beside(path, "")), **own} if path.endswith(".py") else {}

    @remembered
    def words(self, path: str) -> frozenset[str]:
        """Return all names in a file."""
        return words((self.read(path),))

    @remembered
    def assertions(self, path: str) -> frozenset[str]:
        """Return which functions of a file are called as an assertion is."""
        return frozenset(_ASSERTION.findall(self.read(path)))

    def around(self, body: Body) -> list[str]:
        """Return the lines of what is no test in the class that a body stands in, its head, and what calls tests."""
        here = self.bodies(body.path)
        place = next((key[1] for key, each in here.items() if each is body), "")
        inside = (each for key, each in here.items() if place and key[1] == place and not each.test)
        callers = [match[1] for _, line in self._rest(body.path) if (match := _CALLER.match(line))]
        return [place, *callers, *(line for each in inside for line in (*each.head, *each.lines))]

    @remembered
    def made_of(self, origin: NameOrigin) -> frozenset[str]:
        """Return the words of what makes a thing of the tests: its function, class or values; of a module all."""
        texts, name = list[str](), origin.name
        for key, body in self.bodies(origin.path).items():
            if not body.name:
                own = name in self._defined(origin.path)
                texts += [line for line in _about(body.written, name) if not (own and _IMPORTS.match(line))]
            elif not name or name in (body.name, *_WORD.findall(key[1])):
                texts += [key[1], *body.head, *body.lines]
        return words(texts)

    @remembered
    def reach(self, path: str, terms: frozenset[str]) -> bool:
        """True if words of a file lead to the product, by themselves or by what they mean in the tests."""
        seen, left = set[NameOrigin](), [(path, terms)]
        while left:
            names, here = self.names(left[-1][0]), left.pop()[1]
            origins = {names[word] for word in here if word in names}
            if any(origin.kind is OriginKind.PRODUCT for origin in origins):
                return True
            more = {origin for origin in origins if origin.kind is OriginKind.TESTS and origin.path} - seen
            seen |= more
            left += [(origin.path, self.made_of(origin)) for origin in more]
        return False

    def imported(self, path: str, text: str) -> Iterator[tuple[str, NameOrigin]]:
        """Yield the names that lines of a file import, each line beginning at its first letter."""
        if path.endswith((".py", ".pyi")):
            yield from self._in_python(path, text)
        elif path.endswith(SCRIPTS):
            yield from self._in_script(path, text)
        elif path.endswith(".go"):
            for alias, module in _OF_GO.findall(text):
                parts = [part for part in module.split("/") if not _VERSION.fullmatch(part)] or [module]
                yield alias or parts[-1].removeprefix("go-"), self._in_module(module)
        elif path.endswith(".rs"):
            declared = {*_MOD.findall(text)}
            for first, rest in _OF_RUST.findall(text):
                origin = self._in_crate(path, first, declared)
                for name in (first, *_WORD.findall(rest)):
                    yield name, NameOrigin(origin.kind, origin.path, "" if name == first else name)

    def _in_python(self, path: str, text: str) -> Iterator[tuple[str, NameOrigin]]:
        for module, several, one in _FROM.findall(text):
            for each in (several or one.partition("#")[0]).split(","):
                name, _, alias = each.strip().partition(" as ")
                if name == "*":
                    origin = self._resolved(path, f"from {module} import __all__", (module,))
                    yield from self._all_of(origin)
                elif name.isidentifier():
                    origin = self._resolved(path, f"from {module} import {name}", (module, name))
                    inner = "" if origin.path and word_of(origin.path) == name != module.rpartition(".")[2] else name
                    yield alias.strip() or name, NameOrigin(origin.kind, origin.path, inner)
        for several in _IMPORT.findall(text):
            for each in several.split(","):
                name, _, alias = each.strip().partition(" as ")
                if name:
                    yield alias.strip() or name.partition(".")[0], self._resolved(path, f"import {name}", (name,))

    def _in_script(self, path: str, text: str) -> Iterator[tuple[str, NameOrigin]]:
        imports = [(names, module, "") for names, module in _OF_SCRIPT.findall(text)]
        for names, module, member in (*imports, *_REQUIRED.findall(text)):
            origin = self._specified(path, module)
            outer, _, inner = names.strip().removesuffix("from").removeprefix("type ").partition("{")
            for name in _WORD.findall(outer):
                yield name, NameOrigin(origin.kind, origin.path, member)
            for each in inner.rstrip("} \n").split(","):
                parts = [
                    part
                    for part in re.split(r"(?<!\s)\s++as\s++|(?<!\s)\s*+:\s*+", each.strip().removeprefix("type "))
                    if part
                ]
                if parts:
                    yield parts[-1], NameOrigin(origin.kind, origin.path, "" if parts[0] == "default" else parts[0])

    def _specified(self, path: str, module: str) -> NameOrigin:
        origin = self._resolved(path, f"import '{module}'", (module,))
        if origin.path:
            return origin
        own = self._packages("package.json")
        if any(each == module or module.startswith(f"{each}/") for each in own):
            return NameOrigin(OriginKind.PRODUCT)
        if not module.startswith("."):
            return OUTSIDE
        there = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
        if there in self.paths and not is_code(there):
            return OUTSIDE  # data
        return NameOrigin(OriginKind.TESTS if part_of(f"{there}.js") is Part.TEST else OriginKind.PRODUCT)

    def _in_module(self, module: str) -> NameOrigin:
        """Return where a package of Go stands that is imported: only such of the tree's own modules do so."""
        for own, manifest in self._packages("go.mod").items():
            if module == own or module.startswith(f"{own}/"):
                folder = posixpath.normpath(posixpath.join(posixpath.dirname(manifest), module[len(own) + 1 :] or "."))
                folder = "" if folder == "." else folder
                files = [each for each in self.paths if each.endswith(".go") and posixpath.dirname(each) == folder]
                new = bool(files) and all(each in self.new for each in files)
                return NameOrigin(self.kind(files[0]) if new else OriginKind.PRODUCT, folder)
        return OUTSIDE

    def _in_crate(self, path: str, first: str, declared: Collection[str]) -> NameOrigin:
        folder = posixpath.dirname(path)
        if first in declared:
            beside = (f"{folder}/{first}.rs", f"{folder}/{first}/mod.rs")
            return NameOrigin(OriginKind.TESTS, next((each for each in beside if each in self.paths), ""))
        for own, manifest in self._packages("Cargo.toml").items():
            if own.replace("-", "_") == first:
                lib = posixpath.join(posixpath.dirname(manifest), "src/lib.rs")
                return NameOrigin(OriginKind.PRODUCT, lib if lib in self.paths else "")
        return OUTSIDE if first not in ("crate", "super", "self") else NameOrigin(self.kind(path))

    @remembered
    def _packages(self, manifest: str) -> dict[str, str]:
        """Return the names by which packages of the tree are imported, with the manifests that say so."""
        files = [path for path in self.paths if posixpath.basename(path) == manifest and "node_modules" not in path]
        named = _MODULE if manifest == "go.mod" else _NAMED
        shortest = sorted(files, key=len)[:_MANIFESTS_MAX]
        return {name: path for path in shortest for name in named.findall(self.read(path))[:3]}

    def _resolved(self, path: str, statement: str, terms: Iterable[str]) -> NameOrigin:
        """Return which file of the tree an import leads to: the innermost of those that it runs."""
        folder = posixpath.dirname(path)
        near = (path, folder, posixpath.dirname(folder))  # `from . import x`
        parts = {*re.split(r"[./]", ".".join(terms)), *map(posixpath.basename, near), "test", "tests"}
        targets = [t for part in parts for t in self._by_word().get(part, ()) if uses_code(path, statement, t)]
        best = max(targets, key=lambda each: (_depth(each), -len(each)), default="")
        return NameOrigin(self.kind(best), best) if best else OUTSIDE

    @remembered
    def _by_word(self) -> Mapping[str, list[str]]:
        """Return the files of code by the word that stands in each text that uses them."""
        result: dict[str, list[str]] = defaultdict(list)
        for each in filter(is_code, self.paths):
            result[word_of(each)].append(each)
        return result

    def _all_of(self, origin: NameOrigin) -> Iterator[tuple[str, NameOrigin]]:
        if origin.path:
            inside = {**self.names(origin.path), **dict.fromkeys(self._defined(origin.path), origin)}
            yield from ((name, NameOrigin(origin.kind, origin.path, name)) for name in inside)

    def _beside(self, path: str, text: str) -> Iterator[tuple[str, NameOrigin]]:
        """Yield the names that a file has without importing them."""
        folder, suffix = posixpath.split(path)[0], posixpath.splitext(path)[1]
        if suffix == ".py":
            # A test that starts the product as a program says its name in a string.
            packages = filter(None, (_PACKAGE_OF_PYTHON.fullmatch(each) for each in self.paths if "/__init" in each))
            yield from (
                (m[1], NameOrigin(OriginKind.PRODUCT, m[0])) for m in packages if self.kind(m[0]) is OriginKind.PRODUCT
            )
            above = folder.split("/") if folder else []
            for count in range(len(above) + 1):
                conftest = posixpath.join(*above[:count], "conftest.py")
                if conftest in self.paths and conftest != path:
                    yield from (
                        (name, NameOrigin(OriginKind.TESTS, conftest, name)) for name in self._defined(conftest)
                    )
        elif suffix in SCRIPTS:  # what functions import when they are called is told by the file's name in them
            for module in _DYNAMIC.findall(self.read(path)):
                origin, stem = self._specified(path, module), posixpath.basename(module).partition(".")[0]
                if stem.isidentifier() and origin.kind is OriginKind.PRODUCT:
                    yield stem, origin
        elif suffix == ".go" and not "".join(_PACKAGE.findall(text)[:1]).endswith("_test"):
            yield from self._package(folder).items()
        elif suffix == ".rs":
            yield from ((own.replace("-", "_"), NameOrigin(OriginKind.PRODUCT)) for own in self._packages("Cargo.toml"))
        elif suffix in _BY_NAME:
            yield from self._classes(suffix).items()

    @remembered
    def _package(self, folder: str) -> dict[str, NameOrigin]:
        """Return what the files of a folder, one package of Go, define."""
        here = sorted(each for each in self.paths if each.endswith(".go") and posixpath.dirname(each) == folder)
        here.sort(key=lambda each: each.endswith("_test.go"), reverse=True)  # two of one name do not build
        return {
            name: NameOrigin(OriginKind.TESTS if each.endswith("_test.go") else OriginKind.PRODUCT, each, name)
            for each in here
            for name in _IN_GO.findall(self.read(each))
        }

    @remembered
    def _classes(self, suffix: str) -> dict[str, NameOrigin]:
        files = [each for each in self.paths if each.endswith(suffix)]
        files.sort(key=lambda each: (part_of(each) is Part.TEST, each))
        stems = (posixpath.basename(each).removesuffix(suffix).split("_") for each in files)
        names = ("".join(part[:1].upper() + part[1:] for part in stem) for stem in stems)
        return {name: NameOrigin(self.kind(each), each) for name, each in zip(names, files, strict=True)}

    def _rest(self, path: str) -> tuple[tuple[int, str], ...]:
        return next((body.written for body in self.bodies(path).values() if not body.name), ())

    def _defined(self, path: str) -> frozenset[str]:
        """Return what stands in a file by a name of its own; methods are not known by name alone."""
        nested = path.endswith(SCRIPTS)
        functions = {
            body.name
            for key, body in self.bodies(path).items()
            if body.name and not body.test and (nested or not key[1]) and not body.head[-1].startswith("func (")
        }
        inner = path.endswith((*_BY_NAME, *SCRIPTS))
        lines = (
            line
            for depth, line in self._rest(path)
            if (depth == 0 or (inner and line[-1:] != ",")) and "require(" not in line and "import(" not in line
        )
        matches = (_DEFINES.match(line) for line in lines)
        return frozenset((*functions, *(each[1] or each[2] for each in matches if each)))


def _depth(path: str) -> int:
    stem = path.rpartition(".")[0].removesuffix("/__init__").removesuffix("/index")
    return stem.count("/")


def _about(written: tuple[tuple[int, str], ...], name: str) -> Iterator[str]:
    """Yield the lines that name something, each with what stands deeper below it."""
    above: int | None = None
    for depth, line in written:
        if above is None or depth <= above:
            above = depth if not name or name in _WORD.findall(line) else None
        if above is not None:
            yield line
