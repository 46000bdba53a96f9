"""What main has and the change drops by the way: functions, classes, routes, settings, a file's last part. Pure.

What the issue names, what moved or has another name now, and what lost its callers as well, is work. What nothing
calls is seen by no gate.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from noface.integrity.asked_for import speak, words_of
from noface.integrity.judges import MANIFESTS, Part, is_hidden, part_of
from noface.integrity.rubbish import is_generated
from noface.integrity.tampering import is_code
from noface.integrity.unasked.definitions import Definition, definitions, keys_of, telling
from noface.integrity.unasked.finding import Changed, Ground, Unasked

_NO_CALL = re.compile(r"\W*(?:pub\s+)?(?:import|from|exports?|use|include|require\w*|module|__all__)\b|.*\brequire\(")
_REVERTS = re.compile(r"\brevert", re.IGNORECASE)
_EXAMPLES = re.compile(r"(^|/)(examples?|samples?|demos?|docs?|benchmarks?)/")
_HEAD_MIN = 5
_TAIL_MIN = 10
_TAIL_PART = 0.25
_NEW_PART = 0.25
_KEPT_PART = 0.1
_LINES_MAX = 10


@dataclass(frozen=True)
class _File:
    """The texts of a file before and after; a file of another kind says nothing of itself."""

    path: str
    old: str
    new: str
    both: bool

    @cached_property
    def gained(self) -> Counter[str]:
        return Counter(telling(self.new.split("\n"))) - Counter(telling(self.old.split("\n")))

    @property
    def may_lose(self) -> bool:
        return self.both and part_of(self.path) in (Part.PRODUCT, Part.SOFT) and not _EXAMPLES.search(self.path)


def gone(files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    """Yield what main has and the change drops."""
    words = words_of(ground.issue)
    if speak(words, "goes") or any(map(_REVERTS.search, words)):
        return
    texts = [
        _File(file.path, _text(file.old), _text(file.new), file.old is not None and file.new is not None)
        for file in files
        if file.new_mode[:3] != "120" and not is_generated(file.path)
    ]
    text = "\n".join(words).casefold()
    gained = sum((file.gained for file in texts), Counter[str]())
    for file in filter(lambda each: each.may_lose, texts):
        if file.path.rpartition("/")[2] not in MANIFESTS and not is_hidden(file.path):
            yield from _keys(file, texts, text)
        if tail := _tail(file, gained):
            yield Unasked("cut-off", file.path, (tail[0], tail[-1]))
        elif is_code(file.path) and (lost := _definitions(file, texts, gained, text)):
            yield Unasked("gone", file.path, tuple(one.head for one in lost[:_LINES_MAX]))


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _definitions(file: _File, texts: Sequence[_File], gained: Collection[str], issue: str) -> list[Definition]:
    """Return the definitions that a file loses silently, none if it loses one whose callers change as well."""
    before, after = definitions(file.path, file.old), definitions(file.path, file.new)
    if before is None or after is None:
        return []
    there = {name for each in texts if is_code(each.path) for name in definitions(each.path, each.new) or ()}
    lost = [one for one in before.values() if one.name not in there and not _word(one.name).search(file.new)]
    own = Counter(line for one in lost for line in (one.head, *one.body))
    if any(_mentions(one.name, each, own if each is file else Counter()) for one in lost for each in texts):
        return []
    kept = Counter(telling(file.new.split("\n"))) - (Counter(telling(file.old.split("\n"))) - own)
    silent = [one for one in lost if one.name.casefold() not in issue and not one.name.startswith("__")]
    return [one for one in silent if not _stands_in(one.body, {*gained, *kept})]


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _mentions(name: str, file: _File, own: Counter[str]) -> bool:
    """True if a line outside what goes calls or tells of a name; lists of imports and exports do not."""
    word = _word(name)
    lines = Counter(line for text in {file.old, file.new} if name in text for line in telling(text.split("\n")))
    return any(
        word.search(line) and not _NO_CALL.match(line) and not re.fullmatch(rf"\W*{re.escape(name)}\W*", line)
        for line in lines - own
    )


def _stands_in(lines: Sequence[str], gained: Collection[str]) -> bool:
    return bool(lines) and 2 * sum(line in gained for line in lines) >= len(lines)


def _tail(file: _File, gained: Counter[str]) -> tuple[str, ...]:
    """Return the last lines of a file of which nothing is left, if next to nothing takes their place."""
    old, new = telling(file.old.split("\n")), telling(file.new.split("\n"))
    kept = {*new}
    at = next((n for n in range(len(old), 0, -1) if old[n - 1] in kept), 0)
    tail = old[at:]
    if len(tail) < max(_TAIL_MIN, _TAIL_PART * len(old)) or sum(line in gained for line in tail) > _KEPT_PART * len(
        tail
    ):
        return ()
    if at < _HEAD_MIN:
        return ()
    last = max((n for n, line in enumerate(new) if at and line == old[at - 1]), default=-1)
    return tail if len(new) - last - 1 <= _NEW_PART * len(tail) else ()


def _keys(file: _File, texts: Sequence[_File], issue: str) -> Iterator[Unasked]:
    before, after = keys_of(file.path, file.old), keys_of(file.path, file.new)
    lost = sorted((before or frozenset()) - after) if before and after is not None else []
    top = [key for key in lost if key[:-1] not in lost]
    silent = [
        key
        for key in top
        if key[-1].casefold() not in issue
        and not any(_word(key[-1]).search(each.new) for each in texts)
        and not any(_word(key[-1]).search(each.old) for each in texts if each is not file)
    ]
    if silent and len(silent) == len(top):
        yield Unasked("keys", file.path, tuple(".".join(key) for key in silent[:_LINES_MAX]))
