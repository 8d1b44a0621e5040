// Record a sync or an export.
// params: id STRING, caption STRING, ts STRING, kind STRING, file_digest STRING, base_digest STRING, revision INT64, nodes INT64, links INT64, manifest STRING, active STRING
CREATE (:Snapshot {
  id: $id, caption: $caption, ts: $ts, kind: $kind, file_digest: $file_digest,
  base_digest: $base_digest, revision: $revision, nodes: $nodes, links: $links, manifest: $manifest,
  active: $active
})
