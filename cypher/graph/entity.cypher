// Give an entity by its id, live or retired.
// params: id STRING NOT NULL
// columns: id STRING, label STRING, norm_label STRING, file_type STRING, source_file STRING, source_location STRING, community STRING, origin STRING, raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
MATCH (e:Entity {id: $id})
RETURN
  e.id AS id, e.label AS label, e.norm_label AS norm_label, e.file_type AS file_type,
  e.source_file AS source_file, e.source_location AS source_location, e.community AS community,
  e.origin AS origin, e.raw AS raw, e.added_by AS added_by, e.changed_by AS changed_by,
  e.retired_by AS retired_by, e.retired_as AS retired_as, e.successor AS successor, e.seq AS seq
