// A run of the refinement loop for one question.
CREATE NODE TABLE Trace (
  id STRING, caption STRING, ts STRING, query_id STRING, mode STRING, driver STRING, outcome STRING,
  early_exit BOOL, hops INT64, answerable BOOL, abduction STRING, body STRING, PRIMARY KEY (id)
)
