// One sync or export.
CREATE NODE TABLE Snapshot (
  id STRING, caption STRING, ts STRING, kind STRING, file_digest STRING, base_digest STRING,
  revision INT64, nodes INT64, links INT64, manifest STRING, active STRING, PRIMARY KEY (id)
)
