"""Prices in cents."""

from till.snapshots.store import remembered
from till.texts import shown


def total(prices, discount=0):
    """Add prices up, less a discount in percent."""
    return sum(prices) * (100 - discount) // 100


def receipt(prices, discount=0):
    """Write a receipt."""
    return shown("receipt.txt", total=total(prices, discount), count=len(remembered(prices)))
