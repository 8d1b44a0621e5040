// Record a review of a proposal.
// params: owner STRING NOT NULL, id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, proposal_id STRING NOT NULL, reviewer STRING NOT NULL, decision STRING NOT NULL, labels STRING NOT NULL, reasons STRING NOT NULL, body STRING NOT NULL
MATCH (o:Proposal {id: $owner})
CREATE (o)<-[:OF]-(:Review {
  id: $id, caption: $caption, ts: $ts, proposal_id: $proposal_id, reviewer: $reviewer,
  decision: $decision, labels: $labels, reasons: $reasons, body: $body
})
