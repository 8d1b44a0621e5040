// One action of a proposal.
CREATE NODE TABLE Action (
  id STRING, caption STRING, ts STRING, proposal_id STRING, number INT64, kind STRING,
  subject STRING, relation STRING, object STRING, reference STRING, label STRING, executable BOOL,
  PRIMARY KEY (id)
)
