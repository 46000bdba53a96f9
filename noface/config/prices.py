"""What tokens cost, by model name: the list prices of the presets' models, for agents that tell no cost.

ESTIMATES, in US dollars per million tokens, as of 21 November 2026: the providers' public list prices as the price
list of LiteLLM 1.106.2 has them, compared with genai-prices 0.2.3 (which alone lists gpt-6.1-terra). Discounts,
surcharges for long contexts and subscriptions are not in them. `usd_per_mtok_in` and `usd_per_mtok_out` of
`[models.NAME]` rule where they are set.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from noface.config.sections import Model


class ListPrice(NamedTuple):
    """US dollars for a million tokens: read and written."""

    usd_per_mtok_in: float
    usd_per_mtok_out: float


LIST_PRICES: Mapping[str, ListPrice] = {
    "claude-haiku-4-5": ListPrice(1.0, 5.0),
    "claude-sonnet-4-5": ListPrice(3.0, 15.0),
    "claude-opus-4-5": ListPrice(5.0, 25.0),
    "gpt-6-luna": ListPrice(0.1, 0.5),
    "gpt-6.1-terra": ListPrice(1.0, 5.0),
    "gpt-6.1-sol": ListPrice(2.0, 10.0),
    "gpt-6-astra": ListPrice(10.0, 50.0),
    "gemini-3.5-flash": ListPrice(1.5, 9.0),
    "gemini-2.5-pro": ListPrice(1.25, 10.0),
}


def price_of(model: "Model") -> ListPrice | None:
    """Return a model's price: what noface.toml says, else the list's; None where nobody knows it."""
    if model.usd_per_mtok_in is not None and model.usd_per_mtok_out is not None:
        return ListPrice(model.usd_per_mtok_in, model.usd_per_mtok_out)
    # "anthropic/claude-opus-4-5" is the same model by another way.
    return LIST_PRICES.get(model.model) or LIST_PRICES.get(model.model.rpartition("/")[2])
