// The one row that says what this store is and where its log stands.
CREATE NODE TABLE Store (
  key STRING, store_id STRING, format INT64, knowledge_base STRING, base_digest STRING,
  file_digest STRING, revision INT64, seq INT64, head STRING, state STRING, tail STRING,
  PRIMARY KEY (key)
)
