// Fill the empty table Store of a new generation.
// params: rows TABLE NOT NULL
COPY Store (
  key, store_id, format, knowledge_base, base_digest, file_digest, revision, seq, head, state, tail
) FROM $rows
