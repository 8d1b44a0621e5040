// Give the entities that once had a label of this normal form.
// params: norm STRING NOT NULL
// columns: norm STRING, ids STRING[]
MATCH (a:Alias {norm: $norm})
RETURN a.norm AS norm, a.ids AS ids
