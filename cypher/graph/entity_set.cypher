// Write the whole state of an entity that is there.
// params: id STRING NOT NULL, label STRING NOT NULL, norm_label STRING, file_type STRING, source_file STRING, source_location STRING, community STRING, origin STRING, raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
MATCH (e:Entity {id: $id})
SET
  e.label = $label, e.norm_label = $norm_label, e.file_type = $file_type,
  e.source_file = $source_file, e.source_location = $source_location, e.community = $community,
  e.origin = $origin, e.raw = $raw, e.added_by = $added_by, e.changed_by = $changed_by,
  e.retired_by = $retired_by, e.retired_as = $retired_as, e.successor = $successor, e.seq = $seq
