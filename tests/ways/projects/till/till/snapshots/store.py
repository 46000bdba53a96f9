"""What was bought, as it was at that time."""


def remembered(prices):
    """Keep prices as they are now."""
    return tuple(prices)
