"""The budgets of speed and memory, measured on a real graph beside the peer: ``python -m benchmarks``."""
