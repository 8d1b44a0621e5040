// Move a new generation from its log into its file; never run on a generation that is in use.
CHECKPOINT
