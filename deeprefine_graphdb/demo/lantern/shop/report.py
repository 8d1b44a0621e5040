"""Numbers for the owner."""

from shop.orders import cart_total
from shop.stock import total


def daily_report(orders):
    """Give the day's turnover and what is left on the shelves."""
    turnover = sum(cart_total(order.items) for order in orders)
    return {"turnover": turnover, "left": total()}
