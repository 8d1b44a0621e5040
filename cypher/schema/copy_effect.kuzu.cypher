// Fill the empty table Effect of a new generation.
// params: rows TABLE NOT NULL
COPY Effect (
  id, caption, ts, action_id, refinement_id, outcome, note, witness, before, after, bound, changes
) FROM $rows
