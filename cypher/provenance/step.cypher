// Record one hop of a trace.
// params: owner STRING, id STRING, caption STRING, ts STRING, number INT64, method STRING, answerable BOOL, triples STRING, evidence STRING
MATCH (o:Trace {id: $owner})
CREATE (o)-[:HAS_STEP]->(:Step {
  id: $id, caption: $caption, ts: $ts, number: $number, method: $method, answerable: $answerable,
  triples: $triples, evidence: $evidence
})
