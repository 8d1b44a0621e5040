"""Graph-database-backed refinement of LLM-made knowledge graphs."""

__version__ = "0.1.0"
