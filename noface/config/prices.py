"""What prices.toml says that tokens cost on a day, and how old its prices are. Pure: the day is given."""

from datetime import date, timedelta
from typing import Any

from noface.data import table

_MONTH_DAYS = 30


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


def age_of_prices(day: date) -> str:
    days = max((day - prices_as_of()).days, 0)
    months = days // _MONTH_DAYS
    old = f"{months} months" if months > 1 else "1 day" if days == 1 else f"{days} days"
    return f"of {prices_as_of()}, {old} old"


def prices_are_old(day: date) -> bool:
    return day - prices_as_of() > timedelta(days=table("prices")["old_after_days"])
