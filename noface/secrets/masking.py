"""Takes secrets out of text and bytes: `***NAME***` stands for the value of the variable NAME (I12).

A value is found as it is and as JSON, XML or a URL would write it; of a value of several lines each long line counts
by itself, since logs cut texts into lines. Where a text cannot hold it by chance it is also found in base64, in
hexadecimal, backwards, and (but for files of many megabytes) broken into pieces over lines. Values are searched for
before shapes, so that a key whose variable is known is called by its name.

In files values are overwritten where they stand, so what stands for one there has its length: `***NAME---***`, or
`***NA***` for a short one. In texts that becomes `***NAME***` again: who reads a log late must not see another text.
"""

import html
import json
import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise

from noface.secrets.forms import WordFilter, Wrapped, encoded
from noface.secrets.rules import VALUE_CHARS_MIN
from noface.secrets.shapes import without_keys

_LINE_CHARS_MIN = 24
_MARKED_CHARS_MAX = 60
_TELLING_CHARS_MIN = 12
_CORE_CHARS_MIN = 6
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_AS_IT_IS = re.compile(r"[A-Za-z0-9._~-]+")
_NAME = re.compile(r"[A-Za-z0-9_]+")
_MARK_CHARS = len("******")
NO_SECRETS: Mapping[str, str] = {}


class Masker:
    """Knows the secrets of a run, values with the names of their variables, and takes them out.

    Without any, only keys of known shapes are taken out.
    """

    def __init__(self, secrets: Mapping[str, str] = NO_SECRETS) -> None:
        telling = {value: name for value, name in secrets.items() if _is_telling(value)}
        self.names, self._telling = frozenset(secrets.values()), frozenset(telling.values())
        written = _forms(secrets)
        hidden = {form: name for value, name in telling.items() for form in encoded(value)}
        forms = dict(sorted((hidden | written).items(), key=lambda item: (-len(item[0]), item[0])))
        in_bytes = {form.encode("utf-8", "surrogateescape"): name for form, name in forms.items()}
        self._byte_names = in_bytes
        self._encoded = WordFilter(form.encode("utf-8", "surrogateescape") for form in hidden if form not in written)
        self._wrapped = Wrapped({form: name for form, name in in_bytes.items() if name in self._telling})
        self._telling_pattern = _any_of([form for form, name in forms.items() if name in self._telling])
        self._byte_pattern = _any_of_bytes(list(in_bytes))
        self._in_place = {form: _of_length(name, len(form)).encode() for form, name in in_bytes.items()}
        self._cores = _cores(written)
        self._marks = {form: f"***{name}***" for form, name in forms.items()} | _restored(in_bytes)
        self._pattern = _any_of(sorted(self._marks, key=len, reverse=True))
        self.longest_bytes = max(map(len, in_bytes), default=0)

    def __bool__(self) -> bool:
        """True if any value is known."""
        return bool(self._marks)

    def text(self, text: str, keep: Iterable[str] = ()) -> str:
        """Return text without the known values, and without what has the shape of a key: for prompts and reports.

        `keep` are paths that stay what they are, whatever they hold: a limit must name the files that are there.
        """
        return without_keys(self._joined(self.values(text, keep)))

    def values(self, text: str, keep: Iterable[str] = ()) -> str:
        """Return text without the known values, but for those in the paths of `keep`."""
        if not any(form in text for form in self._marks):
            return text
        kept = {path: path for path in keep if self._pattern.search(path)}
        if not kept:
            return self._pattern.sub(lambda match: self._marks[match[0]], text)
        known = self._marks | kept
        pattern = _any_of(sorted(known, key=len, reverse=True))
        return pattern.sub(lambda match: known[match[0]], text)

    def path(self, path: str, own: Collection[str] = ()) -> str:
        """Return a file's path without the known values, but for short and plain ones, which a project may bear.

        What it bears for certain is in `own`: values, as they are written in it.
        """
        return self._telling_pattern.sub(lambda match: match[0] if match[0] in own else self._marks[match[0]], path)

    def holds(self, data: bytes) -> bool:
        """True if a known value stands in `data`."""
        if not any(core in data for core in self._cores) and not self._encoded.may_hold(data):
            return False
        return any(form in data for form in self._byte_names)

    def pieces_in_place(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return what to write over `data` to take out values in several pieces, as `in_place` does for whole ones."""
        pieces = []
        for name, match in self._wrapped.find(data):
            spans = self._wrapped.pieces(match)
            mark = _of_length(name, sum(end - start for start, end in spans)).encode()
            pieces += [(start, mark[at : at + 1]) for at, (start, _) in enumerate(spans)]
        return pieces

    def in_place(self, data: bytes) -> list[tuple[int, bytes]]:
        """Return what to write over `data` to take the known values out: offsets, and texts as long as the values."""
        if not self.holds(data):
            return []
        places = []
        left = bytearray(data)
        for form, mark in self._in_place.items():  # the longest first: another value may be a part of it
            start = left.find(form)
            while start >= 0:
                left[start : start + len(form)] = mark
                places.append((start, mark))
                start = left.find(form, start + len(form))
        return places

    def added(self, patch: bytes, paths: Iterable[str] = ()) -> frozenset[str]:
        """Return the values that a patch adds, as they are written in its lines, its new files' names, and `paths`.

        Short and plain ones (`app_test`) are left out: they may stand there for something else.
        """
        more = [path.encode("utf-8", "surrogateescape") for path in paths]
        if not self.holds(b"\n".join([patch, *more])):
            return frozenset()
        lines = patch.split(b"\n")
        # An empty or binary new file has no line with "+": its name stands only in the head of its part.
        made = [line for line, after in pairwise(lines) if after.startswith(b"new file ") and line[:5] == b"diff "]
        return self._telling_in(b"\n".join([*more, *made, *(line for line in lines if line[:1] == b"+")]))

    def telling(self, data: bytes) -> frozenset[str]:
        """Return the values that stand in `data`, as they are written there, but for short and plain ones."""
        return self._telling_in(data) if self.holds(data) else frozenset()

    def in_pieces(self, data: bytes) -> frozenset[str]:
        """Return the names of the values that stand in `data` in several pieces."""
        return frozenset(name for name, _ in self._wrapped.find(data))

    def names_of(self, forms: Iterable[str]) -> frozenset[str]:
        """Return the variables whose values are written as `forms`."""
        return frozenset(map(self._name_of, forms))

    def removed(self, patch: bytes) -> frozenset[str]:
        """Return the values that a patch removes, in every way in which they may be written."""
        if not self.holds(patch):
            return frozenset()
        gone = self._telling_in(b"\n".join(line for line in patch.split(b"\n") if line[:1] == b"-"))
        names = set(map(self._name_of, gone))
        return frozenset(_text(form) for form, name in self._byte_names.items() if name in names)

    def patch(self, patch: bytes, mark: str, own: Collection[str] = ()) -> bytes:
        """Return a patch without the known values. Of those that it adds `mark` says so, with the variable as {type}.

        Some are only taken out: those that `added` does not count, and those that the project has held before: the
        patch removes them, too, or they are in `own`.
        """
        return self._without_pieces(self._without_values(patch, mark, own), mark)

    def content(self, data: bytes, mark: str) -> bytes:
        """Return a file's contents with `mark` for each known value; what is no text keeps its length."""
        if b"\0" not in data:
            data = self._byte_pattern.sub(lambda match: mark.format(type=self._byte_names[match[0]]).encode(), data)
        left = bytearray(data)
        for start, put in (*self.in_place(data), *self.pieces_in_place(data)):
            left[start : start + len(put)] = put
        return bytes(left)

    def _without_values(self, patch: bytes, mark: str, own: Collection[str]) -> bytes:
        if not self.holds(patch):
            return patch
        telling = set(map(self._name_of, self.added(patch) - self.removed(patch) - set(own)))
        new = {name: mark.format(type=name[:_MARKED_CHARS_MAX]) for name in telling}
        known = {name: f"***{name}***" for name in self.names}

        def masked(match: "re.Match[bytes]") -> bytes:
            name = self._byte_names[match[0]]
            return (new.get(name) or known[name]).encode()

        return self._byte_pattern.sub(masked, patch)

    def _without_pieces(self, patch: bytes, mark: str) -> bytes:
        """Take the values out of a patch that are broken into pieces; those that it only moves are not marked."""
        pieces = list(self._wrapped.find(patch))
        if not pieces:
            return patch
        lines = patch.split(b"\n")
        added, removed = (
            {name for name, _ in self._wrapped.find(b"\n".join(line[1:] for line in lines if line[:1] == sign))}
            for sign in (b"+", b"-")
        )
        new = {name: mark.format(type=name[:_MARKED_CHARS_MAX]).encode() for name in added - removed}
        left = bytearray(patch)
        # From the end: what is taken out moves all that stands behind it.
        for name, match in sorted(pieces, key=lambda each: -each[1].start()):
            spans = self._wrapped.pieces(match)
            for start, end in reversed(spans[1:]):
                del left[start:end]
            left[spans[0][0] : spans[0][1]] = new.get(name) or f"***{name}***".encode()
        return bytes(left)

    def _joined(self, text: str) -> str:
        """Return text without the values that stand in it in several pieces."""
        try:
            data = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:  # JSON may name halves of characters that stand for no byte; no file takes them
            data = text.encode("utf-8", "replace")
            text = data.decode("utf-8")
        marks = self.pieces_in_place(data)
        if not marks:
            return text
        left = bytearray(data)
        for start, mark in marks:
            left[start : start + 1] = mark
        return left.decode("utf-8", "surrogateescape")

    def _name_of(self, form: str) -> str:
        return self._byte_names[form.encode("utf-8", "surrogateescape")]

    def _telling_in(self, data: bytes) -> frozenset[str]:
        forms = (form for form, name in self._byte_names.items() if name in self._telling and form in data)
        return frozenset(map(_text, forms))


def _text(form: bytes) -> str:
    return form.decode("utf-8", "surrogateescape")


def _forms(secrets: Mapping[str, str]) -> dict[str, str]:
    """Return the ways in which the values may be written, and the names they stand for; the longest come first."""
    forms: dict[str, str] = {}
    for secret, name in secrets.items():
        lines = [line.strip() for line in secret.splitlines()]
        long = [line for line in lines if len(line) >= _LINE_CHARS_MIN and " " not in line] if len(lines) > 1 else []
        for value in (secret, *long):
            for form in _written(value):
                if len(form) >= VALUE_CHARS_MIN:
                    forms.setdefault(form, name)
    return dict(sorted(forms.items(), key=lambda item: (-len(item[0]), item[0])))


def _is_telling(value: str) -> bool:
    """True if a value is none that a text may hold by chance."""
    return len(value) >= _TELLING_CHARS_MIN and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _written(value: str) -> tuple[str, ...]:
    once = json.dumps(value)[1:-1]
    plain = json.dumps(value, ensure_ascii=False)[1:-1]
    twice = json.dumps(once)[1:-1], json.dumps(plain, ensure_ascii=False)[1:-1]
    element = html.escape(value, quote=False)
    return (value, once, plain, *twice, element, element.replace('"', "&quot;"), html.escape(value), _percent(value))


def _percent(value: str) -> str:
    data = value.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in data)


def _any_of(forms: list[str]) -> "re.Pattern[str]":
    return re.compile("|".join(map(re.escape, forms)) if forms else r"(?!)")


def _any_of_bytes(forms: list[bytes]) -> "re.Pattern[bytes]":
    return re.compile(b"|".join(map(re.escape, forms)) if forms else rb"(?!)")


def _cores(forms: Iterable[str]) -> tuple[bytes, ...]:
    """Return texts of which one stands wherever a form does: looking for those few first is faster.

    Whatever is written otherwise in JSON, XML or URLs, letters and digits are not, so most forms of a value share one.
    """
    cores = set()
    for form in forms:
        longest = max(_AS_IT_IS.findall(form), key=len, default="")
        cores.add((longest if len(longest) >= _CORE_CHARS_MIN else form).encode("utf-8", "surrogateescape"))
    return tuple(core for core in cores if not any(other in core for other in cores if other != core))


def _of_length(name: str, length: int) -> str:
    """Return what stands for a value of `length` bytes in its place, without what JSON or a shell would take amiss."""
    room = length - _MARK_CHARS
    return f"***{(name if _NAME.fullmatch(name) else '')[:room].ljust(room, '-')}***"


def _restored(encoded: Mapping[bytes, str]) -> dict[str, str]:
    """Return the whole marks for those that stand in files, if these tell the variable."""
    variables: dict[str, set[str]] = {}
    for form, name in encoded.items():
        variables.setdefault(_of_length(name, len(form)), set()).add(f"***{name}***")
    whole = {f"***{name}***" for name in encoded.values()}
    return {mark: next(iter(marks)) for mark, marks in variables.items() if len(marks) == 1 and mark not in whole}
