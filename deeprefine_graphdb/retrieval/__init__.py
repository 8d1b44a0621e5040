"""Finding the edges a question is about."""
