// Say what this store is and where its log stands now.
// params: store_id STRING NOT NULL, format INT64 NOT NULL, knowledge_base STRING NOT NULL, base_digest STRING NOT NULL, file_digest STRING NOT NULL, revision INT64 NOT NULL, seq INT64 NOT NULL, head STRING NOT NULL, state STRING NOT NULL, tail STRING NOT NULL
MATCH (s:Store {key: 'store'})
SET
  s.store_id = $store_id, s.format = $format, s.knowledge_base = $knowledge_base,
  s.base_digest = $base_digest, s.file_digest = $file_digest, s.revision = $revision, s.seq = $seq,
  s.head = $head, s.state = $state, s.tail = $tail
