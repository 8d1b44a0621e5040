// One hop of a run: what was retrieved and how it was judged.
CREATE NODE TABLE Step (
  id STRING, caption STRING, ts STRING, number INT64, method STRING, answerable BOOL,
  triples STRING, evidence STRING, PRIMARY KEY (id)
)
