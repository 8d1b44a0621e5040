// Give the live entities whose label has this normal form.
// params: norm STRING NOT NULL
// columns: norm STRING, ids STRING[], labels STRING[], files STRING[]
MATCH (l:Label {norm: $norm})
RETURN l.norm AS norm, l.ids AS ids, l.labels AS labels, l.files AS files
