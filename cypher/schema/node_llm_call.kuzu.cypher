// One request to a language model.
CREATE NODE TABLE LLMCall (
  id STRING, caption STRING, ts STRING, stage STRING, model STRING, prompt_digest STRING,
  tokens_in INT64, tokens_out INT64, seconds DOUBLE, retries INT64, error STRING, PRIMARY KEY (id)
)
