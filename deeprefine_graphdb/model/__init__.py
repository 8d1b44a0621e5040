"""Pydantic models shared by all layers; what a store returns is what ``--json`` prints and a test compares."""
