// Add a dangling link, hyperedge or header field.
// params: key STRING NOT NULL, kind STRING NOT NULL, members STRING[] NOT NULL, raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
CREATE (:Loose {
  key: $key, kind: $kind, members: $members, raw: $raw, added_by: $added_by,
  changed_by: $changed_by, retired_by: $retired_by, retired_as: $retired_as, successor: $successor,
  seq: $seq
})
