// Record what happened to a proposal.
// params: owner STRING, id STRING, caption STRING, ts STRING, kind STRING, of STRING, by STRING, note STRING
MATCH (o:Proposal {id: $owner})
CREATE (o)<-[:OF]-(:Event {
  id: $id, caption: $caption, ts: $ts, kind: $kind, of: $of, by: $by, note: $note
})
