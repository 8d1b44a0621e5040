// Record what happened to a refinement.
// params: owner STRING NOT NULL, id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, kind STRING NOT NULL, of STRING NOT NULL, by STRING NOT NULL, note STRING NOT NULL
MATCH (o:Refinement {id: $owner})
CREATE (o)<-[:OF]-(:Event {
  id: $id, caption: $caption, ts: $ts, kind: $kind, of: $of, by: $by, note: $note
})
