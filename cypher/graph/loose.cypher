// Give a dangling link, hyperedge or header field by its key.
// params: key STRING NOT NULL
// columns: key STRING, kind STRING, members STRING[], raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
MATCH (l:Loose {key: $key})
RETURN
  l.key AS key, l.kind AS kind, l.members AS members, l.raw AS raw, l.added_by AS added_by,
  l.changed_by AS changed_by, l.retired_by AS retired_by, l.retired_as AS retired_as,
  l.successor AS successor, l.seq AS seq
