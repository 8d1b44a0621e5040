// Record a sync or an export.
// params: id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, kind STRING NOT NULL, file_digest STRING NOT NULL, base_digest STRING NOT NULL, revision INT64 NOT NULL, nodes INT64 NOT NULL, links INT64 NOT NULL, manifest STRING NOT NULL, active STRING NOT NULL
CREATE (:Snapshot {
  id: $id, caption: $caption, ts: $ts, kind: $kind, file_digest: $file_digest,
  base_digest: $base_digest, revision: $revision, nodes: $nodes, links: $links, manifest: $manifest,
  active: $active
})
