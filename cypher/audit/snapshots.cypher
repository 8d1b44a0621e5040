// When graph.json was read and written, and what it was then.
// columns: ts STRING, kind STRING, revision INT64, nodes INT64, links INT64, differs STRING, active STRING, file_digest STRING, base_digest STRING
MATCH (s:Snapshot)
RETURN
  s.ts AS ts, s.kind AS kind, s.revision AS revision, s.nodes AS nodes, s.links AS links,
  s.manifest AS differs, s.active AS active, s.file_digest AS file_digest, s.base_digest AS base_digest
ORDER BY ts, revision
