"""File formats of graphify knowledge bases, read and written byte for byte.

Knows no database and no model: graph.json in and out, and nothing that a store needs to be there.
"""
