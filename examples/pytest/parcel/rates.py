"""Postage by weight."""

STEPS = ((50, 100), (500, 180), (2000, 320))


def postage_cents(grams: int) -> int:
    """Return the postage; a step's limit belongs to it. Raise ValueError above."""
    for limit, cents in STEPS:
        if grams < limit:
            return cents
    raise ValueError(f"no rate for {grams} g")
