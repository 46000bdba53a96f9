"""What main has and the change drops by the way: definitions, exports, settings, a file's last part. Pure.

What the issue names, what moved or has another name now, and what lost its callers as well, is work. What nothing
calls is seen by no gate.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from posixpath import basename, dirname

from noface.integrity.asked_for import meanings, words_of
from noface.integrity.judges import Part, is_hidden, part_of
from noface.integrity.rubbish import is_generated
from noface.integrity.tampering import is_code
from noface.integrity.unasked.definitions import (
    IMPORTS,
    Text,
    defines,
    definitions,
    exported,
    keys_of,
    telling,
    texts_of,
)
from noface.integrity.unasked.finding import Changed, Ground, Unasked
from noface.model.attempt import ABSENT, REGULAR

_REVERTS = re.compile(r"\brevert", re.IGNORECASE)
_SETTINGS = re.compile(
    r"(?i)(^|/)(\.?env[\w.]*|[\w.-]+\.env|(?=[\w-]*(settings|config|application))[\w.-]*\.\w+|app\.\w+)$|(^|/)(config|settings|conf|deploy\w*|k8s|kubernetes|manifests|charts)/"
)
_EXAMPLES = re.compile(r"(?:^|(?<!com)(?<!org)(?<!net)(?<!\bio)/)(examples?|samples?|demos?|docs?|benchmarks?)/")
_FOLDER_CHARS_MIN = _EXPORT_CHARS_MIN = 4
_RUST_TYPE = re.compile(r"[iu](?:\d+|size)|f\d\d|bool|char|str")
_HEAD_MIN = 5
_SECTION_MIN = 3
_DOCUMENTS = (".md", ".mdx", ".adoc", ".markdown", *(f".{number}" for number in range(1, 9)))  # a page of man
_HEADING = re.compile(r"(?:#{2,6}|={2,6}|\.SH) \S")
_TAIL_MIN = 10
_TAIL_PART = 0.45
_NEW_PART = 0.25
_KEPT_PART = 0.1


def gone(files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    """Yield what main has and the change drops."""
    words = words_of(ground.issue)
    if ground.removes or any(map(_REVERTS.search, words)):
        return
    texts, issue = texts_of(files), "\n".join((*words, *ground.issue.accept)).casefold()
    for name in sorted({part for file in files for part in (file.path, basename(file.path))}, key=len, reverse=True):
        issue = issue.replace(name.casefold(), " ")  # who names a file does not name what it holds
    yield from (Unasked("deleted", path, ()) for path in _deleted(files, texts, issue))
    gained = sum((text.gained for text in texts), Counter[str]())
    for text in texts:
        path = text.path
        if not (text.product or basename(path).startswith(".env")):
            continue
        if text.both and _same_definitions(text) and (tail := _tail(text, gained)):
            yield Unasked("cut-off", path, (tail[0], tail[-1]))
            continue
        if text.both and path.endswith(_DOCUMENTS) and (heads := _sections(text, gained, issue)):
            yield Unasked("sections", path, tuple(heads))
        if _EXAMPLES.search(path):
            continue
        if not text.both:
            if text.old and (heads := _definitions(text, texts, gained, issue)):
                yield Unasked("gone", path, tuple(heads))
            continue
        if _is_read(path, ground) and (keys := _keys(text, texts, issue)):
            yield Unasked("keys", path, tuple(keys))
        if defines(path) and (heads := _definitions(text, texts, gained, issue)):
            yield Unasked("gone", path, tuple(heads))
        elif is_code(path) and (names := _exports(text, texts, issue)):
            yield Unasked("exports", path, tuple(names))


def _deleted(files: Sequence[Changed], texts: Sequence[Text], issue: str) -> Iterator[str]:
    """Yield the files that are gone, but for what moved, and what other files spoke of that change as well."""
    added = [file for file in files if file.old_mode == ABSENT]
    kept, stems = {file.new for file in files}, {_stem(file.path) for file in added}
    beside = {dirname(file.path) for file in added}
    for file in files:
        moved = file.old in kept or _stem(file.path) in stems or dirname(file.path) in beside - {""}
        was = file.old_mode in REGULAR and file.new_mode == ABSENT
        if not was or moved or is_generated(file.path) or part_of(file.path) in (Part.TEST, Part.CONFIG, Part.MANIFEST):
            continue
        folders = [part.casefold() for part in file.path.split("/")[:-1] if len(part) >= _FOLDER_CHARS_MIN]
        word = _word(basename(file.path).partition(".")[0])
        users = (line for text in texts if text.path != file.path for line in (*text.lost, *text.gained))
        if not any(name in issue for name in (_stem(file.path), *folders)) and not any(map(word.search, users)):
            yield file.path


def _stem(path: str) -> str:
    return basename(path).partition(".")[0].strip("_").casefold()


def _definitions(text: Text, texts: Sequence[Text], gained: Collection[str], issue: str) -> list[str]:
    before, after = definitions(text.path, text.old), definitions(text.path, text.new)
    if before is None or after is None:
        return []
    there = {name for each in texts if defines(each.path) for name in definitions(each.path, each.new) or ()}
    lost = [one for one in before.values() if one.name not in there and not _word(one.name).search(text.new)]
    if not text.both and not 0 < len(lost) < len(before):
        return []
    own = Counter(line for one in lost for line in (one.head, *one.body))
    if any(_mentions(one.name, each, own if each is text else Counter()) for one in lost for each in texts):
        return []
    kept = {*gained, *(Counter(telling(text.new.split("\n"))) - (Counter(telling(text.old.split("\n"))) - own))}
    derived = " ".join(line for line in text.gained if "derive(" in line).casefold()  # `Default`, in place of its impl
    silent = [
        one
        for one in lost
        if one.name.casefold() not in issue and not one.name.startswith("__") and one.name.casefold() not in derived
    ]
    return [one.head for one in silent if 2 * sum(line in kept for line in one.body) < max(len(one.body), 1)]


def _sections(text: Text, gained: Counter[str], issue: str) -> list[str]:
    """Return the headings of a document that are gone with all that stood below, of which nothing is elsewhere."""
    heads, body = dict[str, list[str]](), list[str]()
    for line in text.old.split("\n"):
        if _HEADING.match(line):
            body = heads[line] = []
        else:
            body.append(line)
    now = {*telling(text.new.split("\n")), *gained}
    said = meanings((issue,))
    return [
        head
        for head, lines in heads.items()
        if head.strip() not in now
        and len(told := telling(lines)) >= _SECTION_MIN
        and not any(line in now for line in told)
        and not meanings((head,)) & said
    ]


def _same_definitions(text: Text) -> bool:
    """True if what a file of code defined is all there: that is told by its names."""
    before, after = (definitions(text.path, each) or {} for each in (text.old, text.new))
    return all(after.get(name) == one for name, one in before.items())


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def _mentions(name: str, text: Text, own: Counter[str]) -> bool:
    """True if lines outside what goes call or tell of a name as they did not before; lists of imports are no calls."""
    word = _word(name)
    was, now = (
        any(
            word.search(line) and not IMPORTS.match(line) and not re.fullmatch(rf"\W*{re.escape(name)}\W*", line)
            for line in lines
        )
        for lines in (text.lost - own, text.gained)
    )
    return was != now


def _exports(text: Text, texts: Sequence[Text], issue: str) -> list[str]:
    lost = exported(text.path, text.old) - exported(text.path, text.new)
    before, others = definitions(text.path, text.old) or {}, [each for each in texts if each is not text]
    return [
        name
        for name in sorted(lost)
        if len(name) >= _EXPORT_CHARS_MIN
        and not _RUST_TYPE.fullmatch(name)
        and (_word(name).search(text.new) or name not in before)
        and name.casefold() not in issue
        and not any(_word(name).search(line) for each in others for line in (*each.lost, *each.gained))
    ]


def _tail(text: Text, gained: Counter[str]) -> tuple[str, ...]:
    """Return the last lines of a file of which nothing is left, if next to nothing takes their place."""
    old, new = telling(text.old.split("\n")), telling(text.new.split("\n"))
    kept = {*new}
    at = next((n for n in range(len(old), 0, -1) if old[n - 1] in kept), 0)
    tail = old[at:]
    moved = sum(line in gained for line in tail) > _KEPT_PART * len(tail)
    if at < _HEAD_MIN or moved or len(tail) < max(_TAIL_MIN, _TAIL_PART * len(old)):
        return ()
    last = max(n for n, line in enumerate(new) if line == old[at - 1])
    return tail if len(new) - last - 1 <= _NEW_PART * len(tail) else ()


def _is_read(path: str, ground: Ground) -> bool:
    """True if the product reads a file of settings: code names it, or it is called as one; tools read the others."""
    if _SETTINGS.search(path):
        return True
    return not is_hidden(path) and any(map(is_code, ground.holding((basename(path),))))


def _keys(text: Text, texts: Sequence[Text], issue: str) -> list[str]:
    before, after = keys_of(text.path, text.old), keys_of(text.path, text.new)
    lost = (before or frozenset()) - after if before and after is not None else frozenset()
    top = sorted(key for key in lost if key[:-1] not in lost)
    others = [each for each in texts if each is not text]
    spoken = any(
        any(part and part in issue for part in (key[-1].casefold(), *re.split(r"[_.-]", key[-1].casefold())))
        or _word(key[-1]).search(text.new)
        or any(_word(key[-1]).search(each.old + each.new) for each in others)
        for key in top
    )
    return [] if spoken else [".".join(key) for key in top]
