// Give every Event row.
// columns: id STRING, caption STRING, ts STRING, kind STRING, of STRING, by STRING, note STRING
MATCH (n:Event)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.kind AS kind, n.of AS of, n.by AS by,
  n.note AS note
