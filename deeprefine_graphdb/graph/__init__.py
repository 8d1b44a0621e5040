"""Planning on a graph view: resolve, apply, invert, derive, render."""
