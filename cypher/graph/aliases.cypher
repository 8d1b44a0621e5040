// Give every former name.
// columns: norm STRING, ids STRING[]
MATCH (a:Alias)
RETURN a.norm AS norm, a.ids AS ids
ORDER BY norm
