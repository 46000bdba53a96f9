"""Cuts long texts for prompts: both ends stay, the middle goes, and a mark says how much of it is gone."""

from dataclasses import dataclass

from noface.core.prompt_text import clean, size

_MARK = "\n[… {left_out} characters left out …]\n"
_ENDS_MIN = 40
_SNAP = 4


@dataclass(frozen=True, slots=True)
class Long:
    """A clean text. Where it was too long to be looked at whole, `gone` characters are missing before `tail`."""

    head: str
    tail: str = ""
    gone: int = 0

    @property
    def chars(self) -> int:
        """How many characters the whole text has."""
        return len(self.head) + self.gone + len(self.tail)

    @property
    def bytes(self) -> int:
        """How many bytes it is where nothing more is cut."""
        return size(_joined(self, self.gone) if self.gone else self.head)


@dataclass(frozen=True, slots=True)
class Cut:
    """What a text became: `text` holds the mark where `left_out` characters are gone."""

    text: str
    left_out: int = 0


def long_text(text: str, chars_max: int) -> Long:
    """Return a text ready to be cut; no more than `chars_max` characters of it are read."""
    if len(text) <= chars_max:
        return Long(clean(text).rstrip("\n"))
    half = chars_max // 2
    return Long(clean(text[:half]), clean(text[len(text) - half :]).rstrip("\n"), len(text) - 2 * half)


def cut(text: str, chars_max: int) -> str:
    """Return text with its middle left out where it is longer than `chars_max`, with a mark that says so."""
    if len(text) <= chars_max:
        return text
    half = chars_max // 2
    return text[:half] + _MARK.format(left_out=len(text) - 2 * half) + text[len(text) - half :]


def stub(text: Long) -> Cut:
    """Return as little of a text as there can be: the mark alone, or the text itself where it is no longer."""
    least = Cut(_MARK.format(left_out=text.chars).strip("\n"), text.chars)
    return Cut(text.head) if not text.gone and size(text.head) <= size(least.text) else least


def shorten(text: Long, bytes_max: int) -> Cut:
    """Return a text in at most `bytes_max` bytes, or its stub where that is longer."""
    if not text.gone and size(text.head) <= bytes_max:
        return Cut(text.head)
    room = bytes_max - size(_MARK.format(left_out=text.chars))
    if room < _ENDS_MIN:
        return stub(text)
    head = _start(text.head, room // 2)
    tail = _end(text.tail if text.gone else text.head, room - size(head))
    left_out = text.chars - len(head) - len(tail)
    return Cut(_joined(Long(head, tail), left_out), left_out)


def _joined(text: Long, left_out: int) -> str:
    mark = _MARK.format(left_out=left_out)
    before = text.head + mark if text.head else mark[1:]
    return before + text.tail if text.tail else before[:-1]


def _start(text: str, bytes_max: int) -> str:
    """Return the first bytes of a text, up to the end of a line where that costs less than a quarter of them."""
    kept = text[:bytes_max].encode("utf-8", "replace")[:bytes_max].decode("utf-8", "ignore")
    if len(kept) == len(text):
        return kept
    newline = kept.rfind("\n")
    return kept[:newline] if newline > len(kept) - len(kept) // _SNAP else kept


def _end(text: str, bytes_max: int) -> str:
    kept = text[max(0, len(text) - bytes_max) :].encode("utf-8", "replace")[-bytes_max:].decode("utf-8", "ignore")
    if len(kept) == len(text):
        return kept
    newline = kept.find("\n")
    return kept[newline + 1 :] if 0 <= newline < len(kept) // _SNAP else kept
