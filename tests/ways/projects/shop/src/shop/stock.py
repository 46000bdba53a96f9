"""What is in stock."""

STOCK = {"tea": ("Green tea", 12), "mug": ("Mug", 0)}


def label(code: str) -> str | None:
    """Give the name of an article, None where there is none of that code."""
    found = STOCK.get(code)
    return found[0] if found else None


def in_stock(code: str) -> bool:
    """Say whether an article can be sent."""
    return code in STOCK and STOCK[code][1] > 0
