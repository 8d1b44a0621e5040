// Make a write durable.
COMMIT
