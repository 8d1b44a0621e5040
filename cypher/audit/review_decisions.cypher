// What reviews said of each proposal, what was decided, and which refinements came of it.
// columns: proposal STRING, question STRING, reviewers STRING[], labels STRING[], decisions STRING[], refinements STRING[], ts STRING
MATCH (p:Proposal)
OPTIONAL MATCH (p)<-[:OF]-(v:Review)
WITH p, collect(v.reviewer) AS reviewers, collect(v.labels) AS labels
OPTIONAL MATCH (p)<-[:OF]-(d:Event)
WITH p, reviewers, labels, collect(d.caption) AS decisions
OPTIONAL MATCH (m:Refinement)
WHERE m.proposal_id = p.id
WITH p, reviewers, labels, decisions, collect(m.id) AS refinements
OPTIONAL MATCH (q:Query)
WHERE q.id = p.query_id
RETURN
  p.id AS proposal, q.question AS question, coalesce(reviewers, []) AS reviewers,
  coalesce(labels, []) AS labels, coalesce(decisions, []) AS decisions,
  coalesce(refinements, []) AS refinements, p.ts AS ts
ORDER BY ts, proposal
