// A proposal that was applied, in one transaction.
CREATE NODE TABLE Refinement (
  id STRING, caption STRING, ts STRING, proposal_id STRING, query_id STRING, by STRING,
  revision INT64, footprint STRING, note STRING, flags STRING, PRIMARY KEY (id)
)
