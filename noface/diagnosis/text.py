"""A gate's output as bounded, clean lines: head, tail, and windows around words that failures are announced with."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from noface.data import Patterns, table
from noface.model.taxonomy import FailureKind

_TEXT = Patterns("text")

BUDGET = 320_000
HEAD = 60_000
TAIL = 110_000
LINE_MAX = 2_000
LINE_TAIL = 300
WINDOW_BEFORE = 700
WINDOW_AFTER = 1_500
WINDOWS_EACH_SIDE = 2
HITS_MAX = 300

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Log:
    """Clean lines of stdout, then from number `err` of stderr."""

    lines: tuple[str, ...]
    err: int
    text: str
    starts: tuple[int, ...]

    def line_at(self, offset: int) -> int:
        return max(0, bisect_right(self.starts, offset) - 1)

    def lines_with(self, literal: str) -> Iterator[int]:
        """Line numbers that hold `literal`: the first HITS_MAX of them and, if there are more, the last."""
        seen = -1
        offset = self.text.find(literal)
        hits = 0
        while offset >= 0:
            number = self.line_at(offset)
            yield number
            seen, hits = number, hits + 1
            if number + 1 >= len(self.starts):
                return
            if hits >= HITS_MAX:
                break
            offset = self.text.find(literal, self.starts[number + 1])
        else:
            return
        late: list[int] = []
        end = len(self.text)
        while len(late) < HITS_MAX:
            offset = self.text.rfind(literal, 0, end)
            number = self.line_at(offset) if offset >= 0 else -1
            if number <= seen:
                break
            late.append(number)
            end = self.starts[number]
        yield from reversed(late)

    def get(self, number: int) -> str:
        return self.lines[number] if 0 <= number < len(self.lines) else ""

    def stream_end(self, number: int) -> int:
        return self.err if number < self.err else len(self.lines)

    def stream_start(self, number: int) -> int:
        return 0 if number < self.err else self.err


def digest(text: str) -> str:
    """Return at most BUDGET characters of `text`."""
    if len(text) <= BUDGET:
        return text
    low, high = HEAD, len(text) - TAIL
    spans: list[tuple[int, int]] = []
    for beacon in table("patterns")["words"]["beacons"]:
        spans.extend(_windows(text, beacon, low, high))
    spans.sort()
    pieces = [text[:low]]
    at, left = low, BUDGET - HEAD - TAIL
    for start, end in spans:
        begin, finish = max(start, at), min(end, high)
        if begin >= finish or finish - begin > left:
            continue
        pieces.append(text[begin:finish])
        left -= finish - begin
        at = finish
    pieces.append(text[high:])
    return "\n".join(pieces)


def _windows(text: str, beacon: str, low: int, high: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start, end = low, high
    for _ in range(WINDOWS_EACH_SIDE):
        first, last = text.find(beacon, start, end), text.rfind(beacon, start, end)
        if first < 0:
            break
        spans += [_window(text, first, low, high), _window(text, last, low, high)]
        start, end = spans[-2][1], spans[-1][0]
    return spans


def _window(text: str, hit: int, low: int, high: int) -> tuple[int, int]:
    start, end = max(low, hit - WINDOW_BEFORE), min(high, hit + WINDOW_AFTER)
    newline = text.find("\n", start, hit)
    return (newline + 1 if newline >= 0 else start), end


def strip_codes(text: str) -> str:
    if "\x1b" in text or "\x9b" in text:
        text = _TEXT["ansi"].sub("", text)
    return _CONTROL.sub("", text)


def _lines(text: str) -> list[str]:
    short = digest(text)
    # A bar of progress writes over itself with returns: each state of it is a line.
    clean = strip_codes(short.replace("\r\n", "\n").replace("\r", "\n"))
    lines = [
        (line if len(line) <= LINE_MAX else f"{line[: LINE_MAX - LINE_TAIL]} … {line[-LINE_TAIL:]}").rstrip()
        for line in clean.split("\n")
    ]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def read_log(stdout: str, stderr: str) -> Log:
    """Return the two streams of a gate as one bounded, clean Log."""
    out, err = _lines(stdout), _lines(stderr)
    lines = (*out, *err)
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return Log(lines, len(out), "\n".join(lines), tuple(starts))


_VARYING = Patterns("varying")
_SIGNED_MAX = 600


def normalise(line: str) -> str:
    text = line[:_SIGNED_MAX]
    for name, entry in table("patterns")["varying"].items():
        text = _VARYING[name].sub(entry["put"], text)
    return text.strip()


def signature_of(kind: FailureKind, key_line: str, failing: tuple[str, ...]) -> str:
    tests = sorted({normalise(name) for name in failing})
    # In order of their names: runners that shuffle name the same tests in another order each time.
    body = "\n".join([kind.value, normalise(key_line), *tests])
    return blake2b(body.encode("utf-8", "replace"), digest_size=8).hexdigest()
