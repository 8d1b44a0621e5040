"""The shelves."""

from shop.bus import subscribe

SHELF = {"storm lantern": 12, "paper lantern": 40, "wick": 300}


@subscribe("order.placed")
def reserve_stock(order):
    """Take the items of an order from the shelf."""
    for item in order.items:
        SHELF[item] -= 1


def total():
    """Count everything on the shelves."""
    return sum(SHELF.values())
