// Record one proposed action.
// params: owner STRING NOT NULL, id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, proposal_id STRING NOT NULL, number INT64 NOT NULL, kind STRING NOT NULL, subject STRING NOT NULL, relation STRING NOT NULL, object STRING NOT NULL, reference STRING NOT NULL, label STRING, executable BOOL NOT NULL
MATCH (o:Proposal {id: $owner})
CREATE (o)-[:CONTAINS]->(:Action {
  id: $id, caption: $caption, ts: $ts, proposal_id: $proposal_id, number: $number, kind: $kind,
  subject: $subject, relation: $relation, object: $object, reference: $reference, label: $label,
  executable: $executable
})
