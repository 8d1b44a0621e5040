// The runs for a question.
CREATE REL TABLE HAS_TRACE (
  FROM Query TO Trace
)
