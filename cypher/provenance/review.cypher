// Record a review of a proposal.
// params: owner STRING, id STRING, caption STRING, ts STRING, proposal_id STRING, reviewer STRING, decision STRING, labels STRING, reasons STRING, body STRING
MATCH (o:Proposal {id: $owner})
CREATE (o)<-[:OF]-(:Review {
  id: $id, caption: $caption, ts: $ts, proposal_id: $proposal_id, reviewer: $reviewer,
  decision: $decision, labels: $labels, reasons: $reasons, body: $body
})
