"""The log as graph nodes, audit queries and verification."""
