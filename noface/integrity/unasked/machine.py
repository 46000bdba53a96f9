"""What of a machine stays in the work: its folders and names, addresses of registries, edits of generated files."""

import re
from collections.abc import Iterator, Sequence
from posixpath import basename, commonprefix

from noface.data import pattern
from noface.integrity.asked_for import names_file
from noface.integrity.rubbish import is_generated
from noface.integrity.tampering import is_test_file
from noface.integrity.unasked.finding import Changed, Ground, Unasked

_HEAD_BYTES = 1_500
_ADDRESS = re.compile(rb"(?<![\w+.-])[\w+.-]{1,20}://[^\s\"'<>)\]},;#]+")
_PROGRAM = re.compile(
    r"(?i)\b(?:by|with|using|via|run|python3?|node|bash|sh|ruby|make)\s+[`'\"(]?(?:[\w.-]+/)*([\w.-]{3,100})(?<!\.)"
)
_NAME = re.compile(r"(?<![\w.-])[\w.-]{3,100}(?<!\.)")


def machine(files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    """Yield lock files with addresses that only this machine reaches, and edits of what says that it is generated."""
    yield from _named(files, ground)
    for file in files:
        if file.old is None or not file.new or file.old == file.new:
            continue
        if is_generated(file.path) or pattern("unasked", "locks", "paths").search(file.path):
            yield from _registry(file, file.old, file.new, ground)
        elif not is_test_file(file.path) and not names_file(ground.issue, file.path):
            yield from _by_hand(file, file.old[:_HEAD_BYTES], files, ground)


def _named(files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    """Yield the files with new lines that name the machine, if no line did there before, and none was moved."""
    names = [name.encode("utf-8", "surrogateescape") for name in ground.machine if name not in ground.issue.body]
    before = {line for file in files for line in (file.old or b"").split(b"\n")}
    named = re.compile(rb"(?:" + b"|".join(map(re.escape, names)) + rb")(?![\w.-])")
    for file in files:
        if names and named.search(file.new or b"") and not named.search(file.old or b""):
            lines = [line for line in (file.new or b"").split(b"\n") if named.search(line) and line not in before]
            if lines:
                texts = (line.strip().decode("utf-8", "replace") for line in lines[:3])
                yield Unasked("machine", file.path, tuple(texts))


def _registry(file: Changed, old: bytes, new: bytes, ground: Ground) -> Iterator[Unasked]:
    before, now = set(_ADDRESS.findall(old)), dict.fromkeys(_ADDRESS.findall(new))
    private = [each for each in now if each not in before and _host(each)]
    hosts = tuple({_host(each) for each in private})
    if not private or ground.holding(hosts):
        return
    ends: dict[bytes, bytes] = {}
    for here in private:
        for there in before - now.keys():
            end = commonprefix((here[::-1], there[::-1]))[::-1]
            if b"/" in end[1:] and end != here:
                ends[here.removesuffix(end)] = there.removesuffix(end)
    mended = new
    for here, there in ends.items():
        mended = mended.replace(here, there)
    right = {} if any(host.encode() in mended for host in hosts) else {file.path: ("", mended)}
    yield Unasked("registry", file.path, tuple(each.decode("utf-8", "replace") for each in private[:3]), right)


def _host(address: bytes) -> str:
    found = pattern("unasked", "locks", "private").match(address.decode("utf-8", "replace"))
    return found["host"] if found else ""


def _by_hand(file: Changed, head: bytes, files: Sequence[Changed], ground: Ground) -> Iterator[Unasked]:
    says = next((line for line in head.decode("utf-8", "replace").splitlines() if _says_made(line)), "")
    others = [each.path for each in files if each is not file and not is_test_file(each.path)]
    text = head.decode("utf-8", "replace")
    programs = set(_PROGRAM.findall(text))  # which writes it, and is not what it is written from
    named = {name for name in _NAME.findall(text) if name != basename(file.path) and "." in name} - programs
    sources = [path for path in ground.on_main if basename(path) in named]
    if says and not (set(sources) & set(others) if sources else others):
        yield Unasked("by-hand", file.path, (says.strip(), *sources[:3]))


def _says_made(line: str) -> bool:
    return bool(pattern("unasked", "made", "says", re.IGNORECASE).search(line))
