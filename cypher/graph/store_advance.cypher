// Say where the graph and the log of the store stand now; what else it says stays.
// params: revision INT64 NOT NULL, seq INT64 NOT NULL, head STRING NOT NULL, tail STRING NOT NULL
MATCH (s:Store {key: 'store'})
SET s.revision = $revision, s.seq = $seq, s.head = $head, s.tail = $tail
