// Give every row of Loose, to carry it into a new generation.
// columns: key STRING, kind STRING, members STRING[], raw STRING, added_by STRING, changed_by STRING, retired_by STRING, retired_as STRING, successor STRING, seq INT64
MATCH (n:Loose)
RETURN
  n.key AS key, n.kind AS kind, n.members AS members, n.raw AS raw, n.added_by AS added_by,
  n.changed_by AS changed_by, n.retired_by AS retired_by, n.retired_as AS retired_as,
  n.successor AS successor, n.seq AS seq
