// Give a write up.
ROLLBACK
