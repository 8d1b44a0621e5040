// Fill the empty table Snapshot of a new generation.
// params: rows TABLE NOT NULL
COPY Snapshot (
  id, caption, ts, kind, file_digest, base_digest, revision, nodes, links, manifest, active
) FROM $rows
