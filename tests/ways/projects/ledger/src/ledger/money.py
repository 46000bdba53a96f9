"""Amounts, as whole cents."""


def parse_cents(text: str) -> int:
    """Read "12.30" or "-3" as cents. Raises ValueError."""
    sign = -1 if text.startswith("-") else 1
    whole, _, part = text.lstrip("-").partition(".")
    if len(part) > 2:
        raise ValueError(f"{text}: more than two places")
    return sign * (int(whole) * 100 + int(part.ljust(2, "0")))


def show_cents(cents: int) -> str:
    """Write cents as "12.30"."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"
