"""Reading spans."""


def parse(text: str) -> list[tuple[int, int]]:
    """Give the spans of a text such as "1-4,7" in their order. Raises ValueError."""
    spans = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        low, high = int(first), int(last or first)
        if high < low:
            raise ValueError(f"{part.strip()} ends before it begins")
        spans.append((low, high))
    return spans
