"""Letters to customers."""

from shop.bus import subscribe

OUTBOX = []


@subscribe("order.paid")
def send_confirmation(order, receipt):
    """Write to the customer that an order is paid."""
    OUTBOX.append(f"Dear {order.customer}, order {order.number} is paid, receipt {receipt}.")
