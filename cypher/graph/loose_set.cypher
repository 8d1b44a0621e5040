// Write the whole state of a loose part that is there.
// params: key STRING NOT NULL, kind STRING NOT NULL, members STRING[] NOT NULL, raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
MATCH (l:Loose {key: $key})
SET
  l.kind = $kind, l.members = $members, l.raw = $raw, l.added_by = $added_by,
  l.changed_by = $changed_by, l.retired_by = $retired_by, l.retired_as = $retired_as,
  l.successor = $successor, l.seq = $seq
