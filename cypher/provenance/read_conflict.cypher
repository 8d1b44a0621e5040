// Give every Conflict row.
// columns: id STRING, caption STRING, ts STRING, effect_id STRING, kind STRING, detail STRING, resolved STRING
MATCH (n:Conflict)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.effect_id AS effect_id, n.kind AS kind,
  n.detail AS detail, n.resolved AS resolved
