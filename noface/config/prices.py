"""What prices.toml says that tokens cost on a day. Pure: the day is given."""

from datetime import date
from typing import Any

from noface.data import table

ListPrice = tuple[float, float]
"""US dollars for a million tokens: read and written."""


def list_price(agent: str, model: str, day: date) -> ListPrice | None:
    prices = table("prices")
    name = prices["aliases"].get(agent, {}).get(model, model)
    # "anthropic/claude-opus-4-5" is the same model by another way.
    return price_on(prices["models"].get(name) or prices["models"].get(name.rpartition("/")[2]) or (), day)


def price_on(entry: Any, day: date) -> ListPrice | None:
    periods = [entry] if isinstance(entry, dict) else entry
    price = next((one for one in periods if one.get("from", date.min) <= day <= one.get("until", date.max)), None)
    return (price["in"], price["out"]) if price is not None else None


def prices_as_of() -> date:
    day: date = table("prices")["as_of"]
    return day
