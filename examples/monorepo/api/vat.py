"""Prices with tax, by the rates of the contract."""

import json
from pathlib import Path

CONTRACT = Path(__file__).parent.parent / "contract" / "vat.json"


def with_tax(cents: int, kind: str) -> int:
    """Return the price with tax, in cents, rounded half up."""
    percent = json.loads(CONTRACT.read_text())[kind]
    return cents * (100 + percent) // 100
