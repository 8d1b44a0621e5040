// Say which live entities have labels of one normal form.
// params: norm STRING NOT NULL, ids STRING[] NOT NULL, labels STRING[] NOT NULL, files STRING[] NOT NULL
MERGE (l:Label {norm: $norm})
SET l.ids = $ids, l.labels = $labels, l.files = $files
