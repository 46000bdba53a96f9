"""Statements, a line a booking."""

from ledger.money import parse_cents, show_cents


def statement(bookings: list[tuple[str, str]]) -> str:
    """Write bookings of (text, amount) and their sum."""
    lines = [f"{text:<12}{show_cents(parse_cents(amount)):>10}" for text, amount in bookings]
    total = sum(parse_cents(amount) for _, amount in bookings)
    lines.append(f"{'Sum':<12}{show_cents(total):>10}")
    return "\n".join(lines) + "\n"
