"""Where a graph lives: the store protocol and its engines."""
