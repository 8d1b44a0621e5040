// Add an entity.
// params: id STRING NOT NULL, label STRING NOT NULL, norm_label STRING, file_type STRING, source_file STRING, source_location STRING, community STRING, origin STRING, raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
CREATE (:Entity {
  id: $id, label: $label, norm_label: $norm_label, file_type: $file_type, source_file: $source_file,
  source_location: $source_location, community: $community, origin: $origin, raw: $raw,
  added_by: $added_by, changed_by: $changed_by, retired_by: $retired_by, retired_as: $retired_as,
  successor: $successor, seq: $seq
})
