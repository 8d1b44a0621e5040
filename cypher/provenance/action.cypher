// Record one proposed action.
// params: owner STRING, id STRING, caption STRING, ts STRING, proposal_id STRING, number INT64, kind STRING, subject STRING, relation STRING, object STRING, reference STRING, label STRING, executable BOOL
MATCH (o:Proposal {id: $owner})
CREATE (o)-[:CONTAINS]->(:Action {
  id: $id, caption: $caption, ts: $ts, proposal_id: $proposal_id, number: $number, kind: $kind,
  subject: $subject, relation: $relation, object: $object, reference: $reference, label: $label,
  executable: $executable
})
