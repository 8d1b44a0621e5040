// Say which entities a former name may stand for.
// params: norm STRING NOT NULL, ids STRING[] NOT NULL
MERGE (a:Alias {norm: $norm})
SET a.ids = $ids
