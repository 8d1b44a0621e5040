// Give every LLMCall row.
// columns: id STRING, caption STRING, ts STRING, stage STRING, model STRING, prompt_digest STRING, tokens_in INT64, tokens_out INT64, seconds DOUBLE, retries INT64, error STRING
MATCH (n:LLMCall)
RETURN n.id AS id, n.caption AS caption, n.ts AS ts, n.stage AS stage, n.model AS model,
  n.prompt_digest AS prompt_digest, n.tokens_in AS tokens_in, n.tokens_out AS tokens_out,
  n.seconds AS seconds, n.retries AS retries, n.error AS error
