// Give every row of Alias, to carry it into a new generation.
// columns: norm STRING, ids STRING[]
MATCH (n:Alias)
RETURN
  n.norm AS norm, n.ids AS ids
