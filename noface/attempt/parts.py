"""Tells what files of main are to the gates, by who uses them there; a name is a first guess (law 11)."""

import posixpath
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from noface.attempt.protected_files import Reached
from noface.git.plumbing import Plumbing
from noface.integrity.judges import (
    Part,
    builds,
    is_compiled,
    is_hidden,
    part_of,
    sources,
    steers_by_name,
    with_main_judging,
)
from noface.integrity.tampering import asserts, begins_test, has_functions, is_code
from noface.integrity.uses import names_file, names_folder, names_module, stem_of, uses_code, word_of

_TEXT_BYTES_MAX = 512 * 1024
_USERS_MAX = 200
_DEPTH_MAX = 6
_DEFINED = re.compile(r"\b(?:def|function|func|fn|fun|sub)\s+(?:\([^)\n]{0,80}\)\s*)?(\w+)")
_WORD = re.compile(r"\w+")
_SETTINGS = (Part.CONFIG, Part.MANIFEST)


@dataclass(slots=True)
class Parts:
    """What the files of the commit `main` are; one that it has not is known by its name, or by its users in `tree`.

    `reached` is what the gates call, `listed` what the ids of main's tests name.
    """

    plumbing: Plumbing
    main: str
    reached: Reached
    listed: Collection[str] = ()
    tree: str = ""
    _known: dict[str, Part] = field(default_factory=dict)
    _users: dict[str, frozenset[str] | None] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)
    _stems: dict[str, str] | None = None

    def __call__(self, path: str) -> Part:
        if path not in self._known:
            self._known[path] = self._looked_up(path)
        return self._known[path]

    def _looked_up(self, path: str) -> Part:
        named = part_of(path, self.reached.files)
        if named is Part.MANIFEST or is_hidden(path):
            return named
        if path not in self.plumbing.whole(self.main).paths:
            return Part.PRODUCT if self._new_in_product(path) else named
        if not is_code(path):
            return Part.TEST if path in self.listed else named
        # Of what a runner names, examples in docstrings and tests beside functions that somebody uses are the product.
        if path in self.listed and (named is Part.TEST or (begins_test(self._text(path)) and not self._users_of(path))):
            return Part.TEST
        if named in (Part.TEST, Part.CONFIG):
            users = [] if path in self.reached.files else [u for u in self._users_of(path) or () if self._is_product(u)]
            by_product = any(uses_code(user, self._text(user), path, surely=True) for user in users)
            return Part.PRODUCT if by_product else named
        return Part.CONFIG if named is Part.PRODUCT and self._starts(path) else named

    def by_use(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return which of these files of the product may judge it, since only judges use them: expected data, helpers.

        What itself uses the rest of the change is left out: main's version may not fit that.
        """
        changed = {path for path in paths if self(path) in (Part.PRODUCT, Part.SOFT)}
        code = {path for path in changed if is_code(path)}
        helpers = {path for path in code if self._only_judges(path, _DEPTH_MAX)}
        if helpers == code:  # modules that nothing but tests imports as yet are like that as well
            helpers = {path for path in helpers if self._judges_itself(path)}
        rest = code - helpers
        alone = {path for path in changed if path in helpers or self._is_expected(path)}
        alone -= {path for path in alone if any(path in (self._users_of(each) or ()) for each in rest)}
        return tuple(sorted(alone)) if alone != changed else ()

    def _judges_itself(self, path: str) -> bool:
        """True if code looks like a part of its judges: it asserts, holds only data, or lies beside them."""
        text, users = self._text(path), self._users_of(path) or ()
        folder = posixpath.dirname(path)
        beside = all(user in self.reached.started and posixpath.dirname(user) == folder for user in users)
        data = not has_functions(text) and not any(map(self._is_product, users))  # no header of the product's
        own = set(_DEFINED.findall(text))  # `check_amount` of the product is no assertion for its name
        lines = (line for line in text.splitlines() if own.isdisjoint(_WORD.findall(line)))
        return beside or data or asserts("\n".join(lines))

    def _is_expected(self, path: str) -> bool:
        """True if data are read for a gate's own use: code or settings name them or their folder, and no product."""
        program = "." not in posixpath.basename(path) or is_code(path) or sources((path,), ()) or builds(path)
        on_main = path in self.plumbing.whole(self.main).paths
        if program or not on_main or self(path) not in (Part.PRODUCT, Part.SOFT):
            return False
        words = (posixpath.basename(path), *(part for part in posixpath.dirname(path).split("/") if part))
        users = self._code_with(words) or ()
        naming = {user for user in users if user != path and names_file(self._judging_text(user), path)}
        naming |= {u for u in users if part_of(u) not in _SETTINGS and names_folder(self._text(u), path)}
        return bool(naming) and not any(self._is_product(user) for user in naming)

    def _new_in_product(self, path: str) -> bool:
        """True if the product of the change surely uses a new file, which no tool looks for by itself."""
        if not self.tree or part_of(path) is Part.PRODUCT or steers_by_name(path):
            return False
        words = (word_of(path) if is_code(path) else posixpath.basename(path),)
        on_main = self.plumbing.whole(self.main).paths
        users = [
            user
            for user in self.plumbing.files_with(self.tree, words)
            if is_code(user) and (self(user) if user in on_main else part_of(user)) is Part.PRODUCT
        ]
        texts = self.plumbing.texts(self.tree, tuple(users[:_USERS_MAX]), _TEXT_BYTES_MAX)
        return any(uses_code(user, text, path, surely=True) for user, text in texts.items())

    def _is_product(self, path: str) -> bool:
        return part_of(path, self.reached.files) is Part.PRODUCT and path not in self.reached.started

    def _starts(self, path: str) -> bool:
        """True if a gate begins with a file that judges the project: it uses some, and nothing uses or declares it."""
        if path not in self.reached.started or any(self._is_product(user) for user in self._users_of(path) or ()):
            return False
        tree = self.plumbing.whole(self.main).paths
        for each in (each for each in tree if part_of(each) is Part.MANIFEST):
            describing = with_main_judging(each, "{}" if each.endswith(".json") else "", self._text(each))
            if names_module(describing or "", path):
                return False
        product = (other for other in tree if is_code(other) and other != path and self._is_product(other))
        text = self._text(path)
        if is_compiled(path) and not asserts(text):  # a build names it, and does not run it
            return False
        return any(uses_code(path, text, other) or names_file(text, other) for other in product)

    def _only_judges(self, path: str, depth: int) -> bool:
        users = self._users_of(path)
        opens = stem_of(path) == posixpath.dirname(path) and not asserts(self._text(path))  # a package of the product
        if not users or depth == 0 or opens:
            return False
        return all(self(user) is not Part.PRODUCT or self._only_judges(user, depth - 1) for user in users)

    def _users_of(self, path: str) -> frozenset[str] | None:
        if path not in self._users:
            files = self._code_with((word_of(path),))
            self._users[path] = None if files is None else frozenset(f for f in files if self._uses(f, path))
        return self._users[path]

    def _uses(self, user: str, path: str) -> bool:
        if is_code(user) or builds(user):
            return uses_code(user, self._text(user), path)
        return names_module(self._judging_text(user), path)

    def _judging_text(self, user: str) -> str:
        text = self._text(user)
        if part_of(user) is Part.MANIFEST:
            return with_main_judging(user, text, "{}" if user.endswith(".json") else "") or ""
        return text

    def _code_with(self, words: tuple[str, ...]) -> tuple[str, ...] | None:
        named = self.plumbing.files_with(self.main, words)
        files = tuple(path for path in named if is_code(path) or builds(path) or part_of(path) in _SETTINGS)
        return files if len(files) <= _USERS_MAX else None

    def stands_for(self, path: str) -> str:
        """Return main's code in whose place a new file may be found, since both have one name; "" if there is none."""
        stem = stem_of(path)
        if self._stems is None:
            self._stems = {stem_of(each): each for each in self.plumbing.whole(self.main).paths if is_code(each)}
        stands = self._stems.get(stem, "")
        return stands if stands != path else ""

    def _text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = self.plumbing.texts(self.main, (path,), _TEXT_BYTES_MAX).get(path, "")
        return self._texts[path]
