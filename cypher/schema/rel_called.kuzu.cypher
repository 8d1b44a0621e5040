// The model requests of a run.
CREATE REL TABLE CALLED (
  FROM Trace TO LLMCall
)
