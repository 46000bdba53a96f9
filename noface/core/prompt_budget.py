"""Fits a prompt into its limit: in which order what is cut, and how far, before the next thing is.

Each part keeps a share of the room that the fixed parts leave. The parts are cut in their order, each down to its
share before the next one is touched; since the shares make at most the whole, that always suffices. Where not even
the marks of the cuts find room, whole parts go, in the same order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from noface.core.prompt_cut import Cut, Long, shorten, stub
from noface.core.prompt_text import size

_ROUNDS_MAX = 8
_SLACK = 8
_UNUSED = 50
"""The part of the limit that may be left unused before it is tried to show more."""
_ROW_BYTES = 60
"""What a row takes beside its text: markup and words of the template."""
_UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True)
class Item:
    """One text of a part; `name` is what a person is told was cut."""

    name: str
    text: Long


@dataclass(frozen=True, slots=True)
class Part:
    """Texts of one sort. `share` is what it keeps, in hundredths of the room.

    `rows`: its items are short; each stays or goes as it is, the first ones stay longest. `bytes_max`
    holds even where there is room for more.
    """

    key: str
    name: str
    share: int
    items: tuple[Item, ...]
    rows: bool = False
    bytes_max: int = _UNLIMITED

    @property
    def need(self) -> int:
        """How many bytes it may take beyond what it takes at least."""
        return min(self.bytes_max, sum(_need(item, rows=self.rows) for item in self.items))


@dataclass(frozen=True, slots=True)
class Kept:
    """What is shown of a part; `left_out` counts its rows that are not."""

    texts: tuple[str, ...] = ()
    left_out: int = 0
    cuts: tuple[str, ...] = ()


Shown = Mapping[str, Kept]
"""What is shown of each part, by its key."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The prompt's text, and what was cut from it, in sentences for a person."""

    text: str
    cuts: tuple[str, ...]


def fit(parts: Sequence[Part], draw: Callable[[Shown], str], bytes_max: int) -> Fitted:
    """Return the prompt that `draw` makes, in at most `bytes_max` bytes if its fixed parts leave room for that.

    `parts` stand in the order in which they are cut. `draw` is called a bounded number of times.
    """
    shown: dict[str, Kept] = _cut_all(parts, _UNLIMITED)
    text = draw(shown)
    if size(text) <= bytes_max:
        return Fitted(text, _cuts(parts, shown))
    kept, least = list(parts), _cut_all(parts, 0)
    bare = draw(least)
    for part in parts:
        if size(bare) <= bytes_max:
            break
        kept.remove(part)
        least = {**least, part.key: Kept(cuts=(f"{part.name}: all of it left out",))}
        bare = draw(least)
    fitted = _filled(kept, draw, least, bytes_max, bytes_max - size(bare))
    if fitted is not None:
        return Fitted(fitted[0], _cuts(parts, fitted[1]))
    too_long = size(bare) > bytes_max
    more = (f"even so it is {size(bare)} bytes long; the limit is {bytes_max}",) if too_long else ()
    return Fitted(bare, _cuts(parts, least) + more)


def _filled(
    parts: Sequence[Part], draw: Callable[[Shown], str], least: Shown, bytes_max: int, room: int
) -> tuple[str, Shown] | None:
    """Return the longest text found that fits, with what it shows; None where nothing more than `least` does.

    What a part takes in the prompt is the template's business: it may show a text twice, or not at all. So the room
    is corrected by what came of it, a bounded number of times.
    """
    best: tuple[str, Shown] | None = None
    fits, too_much = 0, _UNLIMITED
    for _ in range(_ROUNDS_MAX):
        if not fits < room < too_much:
            break
        shown = {**least, **_cut_all(parts, room)}
        text = draw(shown)
        over = size(text) - bytes_max
        if over > 0:
            too_much = room
            room = max(room * room // (room + over) - _SLACK, (fits + room) // 2)
        else:
            best, fits = (text, shown), room
            if -over <= bytes_max // _UNUSED:
                break
            room = min(room - over, (room + too_much) // 2)
    return best


def whole(parts: Sequence[Part]) -> Shown:
    """Return the parts with nothing cut that need not be."""
    return _cut_all(parts, _UNLIMITED)


def allot(needs: Sequence[int], shares: Sequence[int], room: int) -> list[int]:
    """Divide `room` among parts that need so much: each is cut to its share (hundredths) before the next one is."""
    given = list(needs)
    excess = sum(needs) - room
    for index, share in enumerate(shares):
        if excess <= 0:
            break
        gone = min(excess, max(0, given[index] - room * share // 100))
        given[index] -= gone
        excess -= gone
    return given


def level(needs: Sequence[int], room: int) -> list[int]:
    """Divide `room` so that small needs are met in full and the large ones get the same."""
    given = [0] * len(needs)
    left = room
    order = sorted(range(len(needs)), key=lambda index: needs[index])
    for place, index in enumerate(order):
        given[index] = min(needs[index], left // (len(order) - place))
        left -= given[index]
    return given


def _cut_all(parts: Sequence[Part], room: int) -> dict[str, Kept]:
    given = allot([part.need for part in parts], [part.share for part in parts], room)
    return {
        part.key: _rows(part, extra) if part.rows else _texts(part, extra)
        for part, extra in zip(parts, given, strict=True)
    }


def _rows(part: Part, extra: int) -> Kept:
    texts: list[str] = []
    for item in part.items:
        extra -= _need(item, rows=True)
        if extra < 0:
            break
        texts.append(item.text.head)
    total, left_out = len(part.items), len(part.items) - len(texts)
    return Kept(tuple(texts), left_out, (f"{part.name}: {left_out} of {total} left out",) if left_out else ())


def _texts(part: Part, extra: int) -> Kept:
    given = level([_need(item, rows=False) for item in part.items], extra)
    made = [shorten(item.text, size(stub(item.text).text) + more) for item, more in zip(part.items, given, strict=True)]
    cuts = [_said(item, cut) for item, cut in zip(part.items, made, strict=True) if cut.left_out]
    return Kept(tuple(cut.text for cut in made), cuts=tuple(cuts))


def _need(item: Item, *, rows: bool) -> int:
    if rows:
        return item.text.bytes + _ROW_BYTES
    return max(0, item.text.bytes - size(stub(item.text).text))


def _said(item: Item, cut: Cut) -> str:
    return f"{item.name}: {cut.left_out} of {item.text.chars} characters left out"


def _cuts(parts: Sequence[Part], shown: Shown) -> tuple[str, ...]:
    return tuple(said for part in parts for said in shown[part.key].cuts)
