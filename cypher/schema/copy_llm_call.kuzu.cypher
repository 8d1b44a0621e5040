// Fill the empty table LLMCall of a new generation.
// params: rows TABLE NOT NULL
COPY LLMCall (
  id, caption, ts, stage, model, prompt_digest, tokens_in, tokens_out, seconds, retries, error
) FROM $rows
