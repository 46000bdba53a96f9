"""Makes what a worker, a log or a file name says fit to be quoted within a sentence: data, never a line of its own."""

_READ_FACTOR = 20
CUT = "…"


def one_line(text: str, chars_max: int) -> str:
    """Return text on one printable line of at most `chars_max` characters, with a mark where it was cut.

    Double quotes become single ones, so that a quotation around it ends where its writer ended it.
    """
    start = text[: chars_max * _READ_FACTOR]
    printable = "".join(char if char.isprintable() else " " for char in start)
    flat = " ".join(printable.replace('"', "'").split())
    if len(flat) <= chars_max and len(start) == len(text):
        return flat
    return flat[: chars_max - 1].rstrip() + CUT


def some(names: tuple[str, ...], most: int, chars_max: int = 100) -> str:
    """Return the first `most` names in a row, and how many more there are."""
    said = ", ".join(one_line(name, chars_max) for name in names[:most])
    return said if len(names) <= most else f"{said} and {len(names) - most} more"
