// Record one hop of a trace.
// params: owner STRING NOT NULL, id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, number INT64 NOT NULL, method STRING NOT NULL, answerable BOOL, triples STRING NOT NULL, evidence STRING NOT NULL
MATCH (o:Trace {id: $owner})
CREATE (o)-[:HAS_STEP]->(:Step {
  id: $id, caption: $caption, ts: $ts, number: $number, method: $method, answerable: $answerable,
  triples: $triples, evidence: $evidence
})
