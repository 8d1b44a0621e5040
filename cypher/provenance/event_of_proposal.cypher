// Record what happened to a proposal.
// params: owner STRING NOT NULL, id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, kind STRING NOT NULL, of STRING NOT NULL, by STRING NOT NULL, note STRING NOT NULL
MATCH (o:Proposal {id: $owner})
CREATE (o)<-[:OF]-(:Event {
  id: $id, caption: $caption, ts: $ts, kind: $kind, of: $of, by: $by, note: $note
})
