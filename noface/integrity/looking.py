"""Finds the tests that keep what they assert and look at the product no longer (law 11). Pure.

A test may take what it tests from a copy beside it, replace it or compare it with itself, and take what it asserts with
from a file of its own. While main's version still passes nothing of that shows, and the next change may break the
product unseen. So the names of each body of main are followed to where they come from, before and after.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping

from noface.integrity.origins import OUTSIDE, SCRIPTS, NameOrigin, OriginKind, Side, remembered, words
from noface.integrity.strength import Body, Loss, counterparts
from noface.integrity.tampering import is_test_file

_FILES_MAX = 100
_SHOWN_MAX = 3
_MEMBER = re.compile(r"\b([A-Za-z_$][\w$]*+)(?:\.|::)([A-Za-z_$][\w$]*+)")
_ASSERTS = re.compile(r"assert|expect|should|chai|tap|test|it|pytest|unittest|TestCase")
_OF_UNITTEST = re.compile(
    r"assert(?:(?:Not)?(?:Equals?|AlmostEquals?|In|Is|IsInstance|Regex|IsNone)|True|False|Raises|RaisesRegex|Greater|Less"
    r"|GreaterEqual|LessEqual|CountEqual|(?:List|Dict|Set|Tuple|Sequence|MultiLine)Equal|Logs|Warns)|failUnless\w*"
)
_PATCHES = re.compile(
    r"""(?:\bsetattr|\bpatch\.object|\bmock\.method|\bstub|\breplace|\bspyOn)\(\s*([\w.$]{1,200})\s*,\s*["'](\w{1,100})["']"""
    r"""|(?:\bsetattr|\bpatch)\(\s*["']([\w.]{1,200})\.(\w{1,100})["']"""
    r"""|^([A-Za-z_$][\w$]{0,100})\.(\w{1,100})\s*=(?![=>])"""
)
_CALLED = re.compile(r"\b(\w+)\s?\(")
_DOUBLED = re.compile(r"""\b(?:jest|vi|mock)\.(?:mock|doMock|module)\(\s*['"]([^'"\n]{1,300})['"]""")
_CALLS_THROUGH = re.compile(
    r"[Aa]ctual|importOriginal|wraps\s*=|\bspy\(|callThrough|\bspyOn\([^()\n]{0,200}+\)[ \t]*+;?+$"
)
_BEFORE_EACH = re.compile(r"autouse|\bset_?[uU]p\w*|\bbefore\w*\b|TestMain")
_SET = re.compile(r"^(?:(?:const|let|var|final|auto)[ \t]++)?+(\w++)[ \t]*+:?=(?!=)(.++)$")
_COMPARES = re.compile(
    r"^(?:assert[ \t]++([^=]{1,400}+)==(?!=)(.++)|[\w.]{0,100}(?:[eE]quals?|assert_eq!|expect)\((.++))$"
)
_ASKED = re.compile(r"\)\.to(?:Be|(?:Strict)?Equal)\(")


def looked_at_less(main: Side, now: Side, files: tuple[str, ...]) -> tuple[Loss, ...]:
    """Return which bodies of main in these files look at less of the product than on main, one loss a body.

    What a conftest gives to tests is looked at in all files below its folder.
    """
    folders = tuple(path.removesuffix("conftest.py") for path in files if posixpath.basename(path) == "conftest.py")
    below = (path for path in sorted(main.paths & now.paths) if path.startswith(folders) and path.endswith(".py"))
    files = tuple(dict.fromkeys((*files, *filter(is_test_file, below if folders else ()))))[:_FILES_MAX]
    before, after = ({key: body for path in files for key, body in side.bodies(path).items()} for side in (main, now))
    shared, others = ({key: body for key, body in side.items() if not body.test} for side in (before, after))
    instead = counterparts(before, after)
    look, losses = _Comparison(main, now), []
    for key, body in before.items():
        other = after.get(key) or instead.get(key)
        if other is not None and (body != other or shared != others):
            how = next(look.losses(body, other), "")
            losses += [Loss(body.path, body.name, how)] if how else []
    return tuple(losses)


class _Comparison:
    def __init__(self, main: Side, now: Side) -> None:
        self.main, self.now = main, now

    def losses(self, body: Body, other: Body) -> Iterator[str]:
        """Say in what a body of main looks at less now."""
        alone = body.path.endswith(SCRIPTS) and len(self.main.bodies(body.path)) == 1
        script = alone and not body.name and bool(body.asserts)
        if not (script or body.test or "fixture" in " ".join(body.head)):
            return
        before, after = _scope(self.main, body), _scope(self.now, other)
        was = _used(body, before)
        if body.test or script:
            yield from self._taken_elsewhere(was, other, after)
            yield from self._asserting_elsewhere(body, other, before, after)
            yield from self._replaced(was, body, other, after)
            yield from _compared_with_itself(was, body, other)
        if body.name != other.name and 2 * len(other.lines) < len(body.lines):
            return  # hardly the same test
        named = was or [name for name in words(_text(body)) if before.get(name, OUTSIDE).kind is OriginKind.TESTS]
        if named and not _arrives(self.now, other, after) and self._had(was, body, before):
            yield f"uses nothing of the product any more ({', '.join(sorted(named)[:_SHOWN_MAX])} before)"

    def _had(self, was: Mapping[str, NameOrigin], body: Body, before: Mapping[str, NameOrigin]) -> bool:
        """True if a body of main uses what the product still has, or something of the tests that uses it."""
        return any(map(self._still_there, was.values())) if was else _arrives(self.main, body, before)

    def _taken_elsewhere(
        self, was: Mapping[str, NameOrigin], other: Body, after: Mapping[str, NameOrigin]
    ) -> Iterator[str]:
        named, uses = words(_text(other)) - {"_"}, _used(other, after)
        for name, origin in sorted(was.items()):
            there = after.get(name, OUTSIDE)
            if name not in named or there.kind is not OriginKind.TESTS or name in uses or not self._still_there(origin):
                continue
            made_of = self.now.made_of(there) if there.path else _set_by(other, name)
            if made_of and not self.now.reach(there.path or other.path, made_of - {name if not there.path else ""}):
                yield f"takes `{name}` from {_place(there, other)}, not from {origin.path or 'the product'}"

    def _still_there(self, origin: NameOrigin) -> bool:
        """True if the product still has what had a name; what is renamed or moved has to come from elsewhere."""
        if origin.path not in self.main.paths:
            return not origin.path or any(path.startswith(f"{origin.path}/") for path in self.now.paths)
        if origin.path not in self.now.paths:
            return False
        was, now = (side.words(origin.path) for side in (self.main, self.now))
        return origin.name in now or origin.name not in was

    def _asserting_elsewhere(
        self, body: Body, other: Body, before: Mapping[str, NameOrigin], after: Mapping[str, NameOrigin]
    ) -> Iterator[str]:
        shared = words(_text(body)) & words(_text(other))
        for name in sorted(filter(_ASSERTS.fullmatch, shared)):
            there = after.get(name, OUTSIDE)
            if name in ("test", "it") and not other.path.endswith(SCRIPTS):
                continue
            inside = (
                there.path
                and there.kind is not OriginKind.OUTSIDE
                and before.get(name, OUTSIDE).kind is OriginKind.OUTSIDE
            )
            if inside and self.now.names(there.path).get(there.name, there).kind is not OriginKind.OUTSIDE:
                yield f"takes `{name}` from {_place(there, other)}, not from outside"
        for name in sorted(filter(_OF_UNITTEST.fullmatch, shared)):
            if (path := _defining(self.now, other, name)) and not _defining(self.main, body, name):
                yield f"takes `{name}` from {path}, not from its runner"

    def _replaced(
        self, was: Mapping[str, NameOrigin], body: Body, other: Body, after: Mapping[str, NameOrigin]
    ) -> Iterator[str]:
        """Say what a body tests of the product and replaces, or has replaced before each test of its file."""
        new = frozenset(other.lines) - frozenset(body.lines)
        given = words(other.head)
        files = (other.path, *(origin.path for origin in self.now.fixtures(other.path).values()))
        for path in dict.fromkeys(files):
            for shared, lines in self._shared_in(path):
                if not shared.name or shared.name in given or _BEFORE_EACH.search(" ".join(shared.head)):
                    new |= lines
        called = frozenset(name for line in body.lines for name in _CALLED.findall(line))
        already = {each for line in body.lines for each in _PATCHES.findall(line)}
        for line in sorted(line for line in new if not _CALLS_THROUGH.search(line)):
            for each in {*_PATCHES.findall(line)} - already:
                outer, member = next((a, b) for a, b in zip(each[::2], each[1::2], strict=True) if b)
                ours = after.get(outer.partition(".")[0], OUTSIDE).kind is OriginKind.PRODUCT or self._is_module(outer)
                if member in was and member in called and ours:
                    yield f"replaces `{outer}.{member}`, which it tests"
            for module in _DOUBLED.findall(line) if other.path.endswith(SCRIPTS) else ():
                target = dict(self.now.imported(other.path, f"import x from '{module}'"))["x"]
                tested = sorted(name for name, origin in was.items() if origin.path == target.path)
                if tested and target.kind is OriginKind.PRODUCT and target.path:
                    yield f"replaces {target.path}, from which it tests `{tested[0]}`"

    @remembered
    def _shared_in(self, path: str) -> list[tuple[Body, frozenset[str]]]:
        """Return what is no test in a file, with the lines that are new in it."""
        was = self.main.bodies(path)
        pairs = ((body, was.get(key)) for key, body in self.now.bodies(path).items() if not body.test)
        new = ((body, frozenset(body.lines) - frozenset(old.lines if old else ())) for body, old in pairs)
        return [(body, lines) for body, lines in new if lines]

    def _is_module(self, dotted: str) -> bool:
        stem = f"/{dotted.replace('.', '/')}"
        paths = (path for path in self.now.paths if f"/{path}".endswith((f"{stem}.py", f"{stem}/__init__.py")))
        return any(self.now.kind(path) is OriginKind.PRODUCT for path in paths)


def _text(body: Body) -> tuple[str, ...]:
    return (*body.head, *body.lines)


def _place(origin: NameOrigin, body: Body) -> str:
    return origin.path if origin.path not in ("", body.path) else "the tests themselves"


def _scope(side: Side, body: Body) -> dict[str, NameOrigin]:
    """Return where the names of a body come from: its file, its fixtures, what it imports and what it makes itself."""
    scope = dict(side.names(body.path))
    if not body.name:
        return scope
    if body.path.endswith(".py"):
        fixtures, given = side.fixtures(body.path), words(body.head[-1:]) - {body.name}
        scope |= {name: fixtures[name] for name in given if name in fixtures}
    scope |= dict(side.imported(body.path, "\n".join(line for _, line in body.written)))
    own = (match for line in body.lines if (match := _MAKES.match(line)))
    scope |= {name: NameOrigin(OriginKind.TESTS, "", name) for match in own if (name := match[1] or match[2]) in scope}
    return scope


_MAKES = re.compile(
    r"(?:(?:const|let|var)\s++)?+(?:mut\s++)?+([\w$]++)\s*+:?=\s*+(?:async\s*+)?+"
    r"(?:lambda\b|func(?:tion)?\b|\w++\s*+=>|\([^()\n]{0,400}+\)\s*+=>|(?:move\s*+)?+\||(?:jest|vi|mock)\.fn|sinon\.)"
    r"|(?:async\s++)?+(?:def|function|fn)\s++([\w$]++)"
)
"""What makes a function within a test; other values may well have a name of the product's."""


def _set_by(body: Body, name: str) -> frozenset[str]:
    """Return the words of the lines by which a body makes what it calls by a name."""
    lines = (line for line in body.lines if (match := _MAKES.match(line)) and name in (match[1], match[2]))
    return words(lines)


def _used(body: Body, scope: Mapping[str, NameOrigin]) -> dict[str, NameOrigin]:
    """Return what a body uses of the product by name, members of its modules as well."""
    text = _text(body)
    result = {word: scope[word] for word in words(text) if scope.get(word, OUTSIDE).kind is OriginKind.PRODUCT}
    for outer, member in (each for line in text for each in _MEMBER.findall(line)):
        if outer in result and not result[outer].name:
            result.setdefault(member, NameOrigin(OriginKind.PRODUCT, result[outer].path, member))
    return result


def _arrives(side: Side, body: Body, scope: Mapping[str, NameOrigin]) -> bool:
    """True if a body uses the product, by itself or by something of the tests that does."""
    names_used = words((*_text(body), *side.around(body)))
    origins = [scope[word] for word in names_used if word in scope]
    return any(origin.kind is OriginKind.PRODUCT for origin in origins) or any(
        side.reach(origin.path or body.path, side.made_of(origin))
        for origin in origins
        if origin.kind is OriginKind.TESTS
    )


def _defining(side: Side, body: Body, name: str) -> str:
    """Return the file that defines a method which a body uses, its own or one that it imports; "" for none."""
    origins = side.names(body.path).values()
    files = dict.fromkeys((body.path, *(origin.path for origin in origins if origin.kind is OriginKind.TESTS)))
    return next((path for path in files if path in side.paths and name in side.assertions(path)), "")


def _compared_with_itself(was: Mapping[str, NameOrigin], body: Body, other: Body) -> Iterator[str]:
    """Say that a body expects what the product itself says."""
    sets = {match[1]: match[2].rstrip(";") for line in other.lines if (match := _SET.match(line))}
    for line in other.lines:
        match = _COMPARES.match(line.rstrip(";")) if line not in body.lines else None
        sides = [each.strip() for each in match.groups() if each] if match else []
        if len(sides) == 1:
            asked = _ASKED.split(sides[0].removesuffix(")"))
            sides = asked if len(asked) > 1 else _split(asked[0])
        one, *others = ("".join(sets.get(side.strip(), side).split()) for side in sides or ("",))
        if others == [one] and "(" in one and words((one,)) & was.keys():
            yield f"compares with itself what it tests: `{line}`"


def _split(text: str) -> list[str]:
    """Return what stands before and after the comma of two arguments."""
    depth = 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            return [text[:at], text[at + 1 :]]
    return []
