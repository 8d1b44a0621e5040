// A decision on a proposal and what it rests on.
CREATE NODE TABLE Review (
  id STRING, caption STRING, ts STRING, proposal_id STRING, reviewer STRING, decision STRING,
  labels STRING, reasons STRING, body STRING, PRIMARY KEY (id)
)
