// The hops of a run.
CREATE REL TABLE HAS_STEP (
  FROM Trace TO Step
)
