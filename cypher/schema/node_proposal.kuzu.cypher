// A proposed refinement, before anyone has decided on it.
CREATE NODE TABLE Proposal (
  id STRING, caption STRING, ts STRING, query_id STRING, trace_id STRING, digest STRING,
  source STRING, text STRING, actions INT64, footprint STRING, PRIMARY KEY (id)
)
