// Give what this store is and where its log stands.
// columns: store_id STRING, format INT64, knowledge_base STRING, base_digest STRING, file_digest STRING, revision INT64, seq INT64, head STRING, state STRING, tail STRING
MATCH (s:Store {key: 'store'})
RETURN
  s.store_id AS store_id, s.format AS format, s.knowledge_base AS knowledge_base,
  s.base_digest AS base_digest, s.file_digest AS file_digest, s.revision AS revision, s.seq AS seq,
  s.head AS head, s.state AS state, s.tail AS tail
