// Write what became of an action on the present base.
// params: id STRING NOT NULL, outcome STRING NOT NULL, note STRING NOT NULL, witness STRING, before STRING NOT NULL, after STRING NOT NULL, bound STRING NOT NULL, changes STRING NOT NULL
MATCH (e:Effect {id: $id})
SET
  e.outcome = $outcome, e.note = $note, e.witness = $witness, e.before = $before, e.after = $after,
  e.bound = $bound, e.changes = $changes
