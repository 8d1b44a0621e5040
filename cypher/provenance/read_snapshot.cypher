// Give every Snapshot row.
// columns: id STRING, caption STRING, ts STRING, kind STRING, file_digest STRING, base_digest STRING, revision INT64, nodes INT64, links INT64, manifest STRING, active STRING
MATCH (n:Snapshot)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.kind AS kind, n.file_digest AS file_digest,
  n.base_digest AS base_digest, n.revision AS revision, n.nodes AS nodes, n.links AS links,
  n.manifest AS manifest, n.active AS active
