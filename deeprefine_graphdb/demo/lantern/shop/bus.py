"""The event bus: modules say what happened, others listen, neither imports the other."""

from collections import defaultdict

_listeners = defaultdict(list)


def subscribe(event):
    """Register the decorated function for an event."""

    def register(function):
        _listeners[event].append(function)
        return function

    return register


def publish(event, **facts):
    """Call every listener of an event, in the order of registration."""
    for listener in _listeners[event]:
        listener(**facts)
