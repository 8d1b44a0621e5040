"""Orders, from the cart to the event that starts everything else."""

from dataclasses import dataclass

from shop.bus import publish
from shop.catalog import price_of


@dataclass
class Order:
    """What a customer wants, and what it costs in cents."""

    number: int
    customer: str
    items: list
    total: int


def cart_total(items):
    """Add up a cart."""
    return sum(price_of(item) for item in items)


def place_order(number, customer, items):
    """Accept an order.

    Publishes order.placed; charge_customer() in billing.py and reserve_stock() in stock.py listen to it.
    """
    order = Order(number, customer, items, cart_total(items))
    publish("order.placed", order=order)
    return order
