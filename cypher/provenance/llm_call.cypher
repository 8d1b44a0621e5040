// Record one request to a model below its trace.
// params: owner STRING, id STRING, caption STRING, ts STRING, stage STRING, model STRING, prompt_digest STRING, tokens_in INT64, tokens_out INT64, seconds DOUBLE, retries INT64, error STRING
MATCH (o:Trace {id: $owner})
CREATE (o)-[:CALLED]->(:LLMCall {
  id: $id, caption: $caption, ts: $ts, stage: $stage, model: $model, prompt_digest: $prompt_digest,
  tokens_in: $tokens_in, tokens_out: $tokens_out, seconds: $seconds, retries: $retries,
  error: $error
})
