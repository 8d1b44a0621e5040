"""The refinement loop as a state machine, and its drivers."""
