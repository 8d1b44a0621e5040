// Leave the write-ahead log as it is when the database closes.
CALL force_checkpoint_on_close = false
