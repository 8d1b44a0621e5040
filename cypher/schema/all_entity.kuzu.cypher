// Give every row of Entity, to carry it into a new generation.
// columns: id STRING, label STRING, norm_label STRING, file_type STRING, source_file STRING, source_location STRING, community STRING, origin STRING, raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
MATCH (n:Entity)
RETURN
  n.id AS id, n.label AS label, n.norm_label AS norm_label, n.file_type AS file_type,
  n.source_file AS source_file, n.source_location AS source_location, n.community AS community,
  n.origin AS origin, n.raw AS raw, n.added_by AS added_by, n.changed_by AS changed_by,
  n.retired_by AS retired_by, n.retired_as AS retired_as, n.successor AS successor, n.seq AS seq
