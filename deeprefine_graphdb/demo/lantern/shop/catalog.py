"""What the shop sells."""

PRICES = {"storm lantern": 4900, "paper lantern": 900, "wick": 150}


def price_of(item):
    """Give the price of an item in cents."""
    return PRICES[item]
