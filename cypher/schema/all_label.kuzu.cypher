// Give every row of Label, to carry it into a new generation.
// columns: norm STRING, ids STRING[], labels STRING[], files STRING[]
MATCH (n:Label)
RETURN
  n.norm AS norm, n.ids AS ids, n.labels AS labels, n.files AS files
