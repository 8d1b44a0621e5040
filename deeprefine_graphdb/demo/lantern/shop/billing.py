"""Money."""

from shop.bus import publish, subscribe


class Psp:
    """The PaymentProvider: whoever takes the money for us. Psp is what the first contract called it."""

    def charge(self, customer, cents):
        """Take money and give a receipt number."""
        return f"{customer}-{cents}"


@subscribe("order.placed")
def charge_customer(order):
    """Charge an order and publish order.paid, which send_confirmation() in mail.py listens to."""
    receipt = Psp().charge(order.customer, order.total)
    publish("order.paid", order=order, receipt=receipt)
