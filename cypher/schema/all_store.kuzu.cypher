// Give every row of Store, to carry it into a new generation.
// columns: key STRING, store_id STRING, format INT64, knowledge_base STRING, base_digest STRING, file_digest STRING, revision INT64, seq INT64, head STRING, state STRING, tail STRING
MATCH (n:Store)
RETURN
  n.key AS key, n.store_id AS store_id, n.format AS format, n.knowledge_base AS knowledge_base,
  n.base_digest AS base_digest, n.file_digest AS file_digest, n.revision AS revision, n.seq AS seq,
  n.head AS head, n.state AS state, n.tail AS tail
