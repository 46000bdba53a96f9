"""Bookings and statements."""

from ledger.money import parse_cents, show_cents
from ledger.statement import statement

__all__ = ["parse_cents", "show_cents", "statement"]
