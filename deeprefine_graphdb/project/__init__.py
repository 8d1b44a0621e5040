"""A knowledge base on disk and the jobs that are done on it."""
