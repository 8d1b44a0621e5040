// Record one request to a model below its trace.
// params: owner STRING NOT NULL, id STRING NOT NULL, caption STRING NOT NULL, ts STRING NOT NULL, stage STRING NOT NULL, model STRING NOT NULL, prompt_digest STRING NOT NULL, tokens_in INT64 NOT NULL, tokens_out INT64 NOT NULL, seconds DOUBLE NOT NULL, retries INT64 NOT NULL, error STRING NOT NULL
MATCH (o:Trace {id: $owner})
CREATE (o)-[:CALLED]->(:LLMCall {
  id: $id, caption: $caption, ts: $ts, stage: $stage, model: $model, prompt_digest: $prompt_digest,
  tokens_in: $tokens_in, tokens_out: $tokens_out, seconds: $seconds, retries: $retries,
  error: $error
})
